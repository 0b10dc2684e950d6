"""Parallel texts, word lists and pairs: read, split into groups, made into items."""
