"""Composing: models, data, languages and methods become cells, here or on a cluster."""
