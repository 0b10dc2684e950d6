"""From scores to estimates: measures, comparisons, claims, structure, controls."""
