"""Figures for papers, one file each: the file's name is the figure's, and what is measured is measured elsewhere."""
