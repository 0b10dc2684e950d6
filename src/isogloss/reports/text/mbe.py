"""MBE and its tests as text."""

from collections.abc import Sequence

from ...analysis.competence import UNMEASURED
from ...analysis.mbe_tests import DEPENDENT, MbeTest
from ..numbers import format_value


def mbe_as_text(found: Sequence[MbeTest]) -> str:
    """One block per group, and what must be said of the tests."""
    blocks = []
    for one in found:
        counted = ", ".join(f"{count:,} {group}" for group, count in one.sentences.items())
        blocks.append(
            f"{' · '.join(one.group.values())}\n"
            f"  MBE {format_value(one.value, (one.low, one.high))}   more than 50: '{one.preferred}' sentences are found more likely\n"
            f"  {counted} sentences; {one.ties:,} tied pairs; {one.mode}\n"
            f"  p {one.p_permutation:.4f} (permutation of labels)   p {one.p_mcnemar:.4g} (McNemar)   "
            f"Shf {one.shuffled:.2f} (paired at random)"
        )
    return "\n".join([*blocks, f"Note: {DEPENDENT}.", f"Note: {UNMEASURED}."])
