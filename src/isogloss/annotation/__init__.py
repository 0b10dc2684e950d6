"""What people say about items: labels as one long table, readers of published layouts, and agreement."""
