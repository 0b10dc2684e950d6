"""Results as text: tables and sentences for a terminal, and the same tables as CSV, LaTeX, Markdown or HTML."""
