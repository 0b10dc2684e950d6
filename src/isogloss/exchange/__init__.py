"""Other tools' formats: their files become runs, and runs become their files."""
