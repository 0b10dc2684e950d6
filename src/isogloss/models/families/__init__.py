"""Model families: one file each; a family answers the questions that methods ask."""
