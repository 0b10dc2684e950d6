"""From scores to estimates: measures, comparisons, structure, controls."""
