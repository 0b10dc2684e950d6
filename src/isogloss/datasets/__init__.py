"""Readers: one file per data set family, each turning a file into items."""
