"""Two tables of scores are the same: every row, and every number up to the rounding of the processor."""

from __future__ import annotations

import polars as pl
from polars.testing import assert_frame_equal


def assert_same_scores(one: pl.DataFrame, other: pl.DataFrame) -> None:
    """Assert that two scorings gave the same rows; the last bits may differ with the batch and the memory."""
    assert_frame_equal(one, other, rel_tol=1e-5, abs_tol=1e-5)
