"""Metrics: one file each, from scored candidates to a number."""
