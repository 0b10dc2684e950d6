"""The street side on paper: measures as tables one can read, paste or load."""
