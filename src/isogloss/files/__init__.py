"""Files and tables: rows with line numbers in, items out, and back."""
