"""Results for papers: tables by model and language, and the results block of a model card."""
