"""The HTML report: its data, its charts, its panels and the document."""
