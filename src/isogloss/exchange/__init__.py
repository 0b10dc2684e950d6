"""Doors to other tools: their files become runs, and runs become their files."""
