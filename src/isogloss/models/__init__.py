"""Models: one file per family, what kind a model is, and the engine between methods and families."""
