"""Results for people: text, paper tables, figures, and one HTML page."""
