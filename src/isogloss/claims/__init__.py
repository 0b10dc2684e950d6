"""Claims about scores: their language, the tests they need, the verdicts, and the gate that fails a build."""
