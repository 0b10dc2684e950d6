"""Next-sentence heads: their data, their training, their test."""
