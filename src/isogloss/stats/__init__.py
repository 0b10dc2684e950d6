"""Statistics without opinions: arrays in, numbers out."""

RESAMPLES = 10_000
"""The default number of resamples everywhere, so that the same number has the same interval everywhere."""
