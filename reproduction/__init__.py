"""Published numbers from trained weights: what `make reproduce` runs."""
