"""Statistics without opinions: arrays in, numbers out."""
