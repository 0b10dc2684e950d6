"""Layouts of files with labels by people: one file each."""
