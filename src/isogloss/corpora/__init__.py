"""Texts in two languages: read, split into groups, made into pairs."""
