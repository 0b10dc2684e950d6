"""From scores to numbers one can trust: measures, comparisons, structure, controls with their twins, gates."""
