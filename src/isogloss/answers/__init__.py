"""Answers of chat models: what they are, how they are read, and the rows that metrics take."""
