"""The cases of the coverage matrix: which metrics and tests are simulated on which data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.long_tables import QUESTIONS
from benchmarks.populations import Case


@dataclass(frozen=True)
class Pair:
    """Two sides that are compared; `before` is how often 0.1.0 found a difference that is not there."""

    a: Case
    b: Case
    paired: bool
    before: float | None = None

    @property
    def title(self) -> str:
        """Both sides in a few words."""
        design = "paired" if self.paired else "unpaired"
        return f"{design}: {self.a.title} / {self.b.title}" if self.a != self.b else f"{design}: {self.a.title}, both"


C = Case
CLUSTERS = (5, 10, 20, 79)
OWN, FEW = (1, 1), (3, 7)
GRID = (
    *(C(spread=spread) for spread in (0.0, 0.3, 1.0, 2.0)),
    *(C(sizes=kind, spread=spread) for kind in ("skewed", "informative", "huge") for spread in (0.3, 1.0)),
    *(C(share=share) for share in (0.5, 0.53, 0.9, 0.97)),
    C(share=0.97, spread=1.0),
    C(ties=0.3),
    C(sizes=FEW, spread=1.0),
    C(sizes=FEW, share=0.97, spread=0.0),
    C(sizes=OWN),
)
"""Each row of the grid, for `GRID_METRICS` and every number of clusters."""
GRID_METRICS = ("ss", "icat", "ss_multiclass")
PAIR_CLUSTERS = (10, 20)

NOT_SIMULATED: dict[str, str] = {
    "contrast_choice": "a mean of answers in both orders, like ss_choice",
    "order_flips": "a share of pairs of answers",
    "position_bias": "a difference of shares over the orders of an item",
}
"""Metrics whose intervals have not been simulated yet, each with the reason."""

BEFORE = (
    (C("ss", share=0.5), 96.1),
    (C("ss", clusters=20, share=0.97, spread=1.0), 90.9),
    (C("ss", clusters=10, sizes=FEW, share=0.97, spread=0.0, ties=0.0), 80.2),
    (C("ss", clusters=20, sizes=FEW, share=0.99, spread=0.0, ties=0.0), 60.8),
    (C("ss", sizes="huge"), 93.7),
    (C("ss", clusters=40, sizes="skewed", spread=1.0), 93.2),
    *((C("ss", clusters=n, sizes="informative"), x) for n, x in ((10, 84.8), (20, 86.5), (79, 89.7))),
    (C("ss_multiclass", clusters=20, sizes="informative"), 94.5),
    (C("lms"), 95.5),
    (C("lms", clusters=20, sizes=FEW, related=0.995), 62.0),
    *((C("icat", share=s), x) for s, x in ((0.5, 67.5), (0.51, 97.4), (0.52, 97.6), (0.55, 95.2), (0.6, 94.4))),
    (C("icat", share=0.5, related=0.99), 31.3),
    (C("icat", share=0.5, related=0.99, spread=1.0), 10.5),
    (C("icat", clusters=10, share=0.5), 75.1),
    (C("icat", clusters=20, share=0.5), 72.2),
    (C("icat", clusters=20, share=0.97, spread=1.0), 90.8),
    (C("icat_macro", share=0.5), 95.5),
    (C("icat_macro", clusters=20, sizes=FEW, share=0.99, spread=0.0, ties=0.0), 61.1),
    (C("contrast", clusters=12, sizes=OWN), 93.4),
    (C("contrast", clusters=40, sizes=OWN, tails="skewed"), 92.3),
    (C("contrast_variance", clusters=12, sizes=OWN, ties=0.0), 83.9),
    (C("contrast_variance", clusters=40, sizes=OWN, ties=0.0), 91.3),
    (C("contrast_variance", clusters=40, sizes=OWN, ties=0.0, tails="skewed"), 70.1),
    (C("contrast_variance", clusters=150, sizes=OWN, ties=0.0, tails="skewed"), 83.0),
    (C("contrast_variance", clusters=20, sizes=(5, 5), ties=0.0, tails="skewed"), 81.0),
    (C("contrast_variance", clusters=20, sizes=(5, 5), ties=0.0, tails="heavy"), 72.0),
    (C("cb", clusters=12, spread=0.5), 86.0),
    (C("cb", clusters=40, spread=0.5), 87.0),
    (C("mbe", clusters=50, sizes=(50, 50)), 96.3),
    (C("mbe", clusters=50, sizes=(2, 2)), 76.5),
    (C("mbe", clusters=50, sizes=(5, 5)), 89.5),
    (C("mbe", clusters=200, sizes=(10, 10)), 90.7),
)
"""Cases whose coverage in 0.1.0 is known."""
CASES = (
    *(C(m, clusters=n) for m in ("lms", "ss_multiclass", "lms_multiclass", "icat_micro", "icat_macro") for n in (10, 20, 79)),
    C("contrast_variance", clusters=40, sizes=OWN, ties=0.0, tails="heavy"),
    *(C("contrast_variance", clusters=n, sizes=z, ties=0.0, tails="laplace") for n, z in ((40, OWN), (150, OWN), (20, (5, 5)), (79, FEW))),
    *(C("ss", clusters=n, sizes="split", spread=s) for n in (10, 20, 79) for s in (0.3, 1.0)),
    *(C("ss", clusters=n, sizes="informative", share=p, spread=1.0) for p in (0.2, 0.3, 0.4, 0.8) for n in (10, 20, 40, 79)),
    *(C("ss", clusters=n, sizes="huge", share=0.97, spread=1.0) for n in (10, 20, 79)),
    C("ss_multiclass", sizes="informative"),
    C("ss_multiclass", clusters=20, sizes="skewed", spread=1.0),
    C("icat_micro", share=0.5),
    *(C("icat_macro_corrected", share=p, spread=s) for p, s in ((0.5, 0.0), (0.5, 0.3), (0.5, 1.0), (0.6, 0.0), (0.6, 0.3))),
    C("icat_macro_corrected", clusters=20, share=0.5, spread=0.0),
    C("icat_macro_corrected", clusters=20, share=0.5),
    C("icat_macro_corrected", sizes=FEW, spread=1.0),
    *(C(m, clusters=n, sizes=OWN) for m in ("pair_score", "crows", "crows_stereo", "crows_antistereo", "contrast_share") for n in (20, 200)),
    *(C(m, clusters=n, sizes=OWN) for m in ("contrast", "contrast_other", "contrast_completion", "bias_l", "validity_gap") for n in (15, 60)),
    *(C(m, clusters=20, sizes=FEW) for m in ("agreement", "agreement_probability", "recognition", "recognition_probability",
                                             "answered_yes", "answered_no", "answered_none", "refused", "consistency")),
    *(C(m, clusters=n, sizes=FEW) for m in ("ss_choice", "sense_choice", "coverage_choice") for n in (20, 79)),
    C("recognition", clusters=20, sizes=FEW, share=0.97),
    C("agreement", clusters=79, sizes=FEW, spread=1.0),
    *(C(m, clusters=n, spread=0.5) for m in ("cb_relative", "cb_normalised", "top_share", "periphrasis", "distribution_difference",
                                                          "wording_flips", "wording_variance") for n in (12, 20, 40)),
    *(C("cb", clusters=n, spread=s) for n, s in ((20, 0.5), (79, 0.5), (20, 0.0), (20, 0.25), (20, 0.75), (40, 0.75))),
    *(C("cb", clusters=n, spread=0.5, tails=t) for t in ("gamma", "mixture", "student") for n in (12, 20, 40, 79)),
    *(C(m, clusters=n, sizes=(4, 4)) for m in ("gest", "gest_male", "gest_rate") for n in (160, 800)),
    *(C(m, clusters=n, sizes=FEW) for m in ("word_against_stance", "answer_spread") for n in (20, 79)),
    *(C(m, clusters=n, sizes=FEW, related=0.7) for m in QUESTIONS for n in (20, 79)),
    C("mbe", clusters=20, sizes=(20, 20)),
    C("shf", clusters=50, sizes=(30, 30)),
    C("mbe", clusters=50, sizes=(12, 12), share=0.8),
    *(C(m, clusters=12_000, sizes=(1, 4), share=p) for m, p in (("ss", 0.5), ("ss", 0.97), ("icat", 0.5), ("icat", 0.6))),
)  # fmt: skip
"""The other metrics, and linearised intervals (more than 10,000 clusters)."""

SS = C("ss", share=0.5)
FEW_CLUSTERS = C("ss", clusters=12, share=0.5)
SMALL_97 = C("ss", clusters=20, sizes=FEW, share=0.97, spread=0.0)
VARIANCE = C("contrast_variance", clusters=40, sizes=OWN, ties=0.0)
PAIRS = (
    Pair(SS, SS, paired=True, before=5.8),
    Pair(replace(SS, spread=0.0), replace(SS, spread=1.0), paired=True, before=5.8),
    Pair(FEW_CLUSTERS, FEW_CLUSTERS, paired=True, before=4.4),
    Pair(replace(FEW_CLUSTERS, spread=0.0), replace(FEW_CLUSTERS, spread=1.0), paired=True, before=3.8),
    Pair(replace(FEW_CLUSTERS, clusters=8), replace(FEW_CLUSTERS, clusters=8), paired=True, before=3.3),
    Pair(replace(SS, sizes="huge"), replace(SS, sizes="huge"), paired=True, before=5.0),
    Pair(replace(SS, sizes="informative", share=0.6), replace(SS, sizes="informative", share=0.6), paired=True),
    Pair(replace(SS, sizes=OWN, clusters=200), replace(SS, sizes=OWN, clusters=200), paired=True, before=3.5),
    Pair(replace(SS, ties=0.3), replace(SS, ties=0.3), paired=True),
    Pair(SMALL_97, SMALL_97, paired=True),
    Pair(C("lms", share=0.5), C("lms", share=0.65), paired=True, before=4.0),
    Pair(C("ss_multiclass", clusters=20), C("ss_multiclass", clusters=20), paired=True),
    *(
        Pair(C("icat", share=1 - s), C("icat", share=s), paired=True, before=x)
        for s, x in ((0.5, 5.5), (0.52, 25.8), (0.55, 24.7), (0.6, 9.9))
    ),
    Pair(C("icat_macro_corrected", clusters=40), C("icat_macro_corrected", clusters=40), paired=True),
    Pair(VARIANCE, VARIANCE, paired=True),
    Pair(C("pair_score", clusters=200, sizes=OWN), C("pair_score", clusters=200, sizes=OWN), paired=True),
    Pair(replace(SS, clusters=12_000, sizes=(1, 4)), replace(SS, clusters=12_000, sizes=(1, 4)), paired=True),
    Pair(SS, SS, paired=False, before=5.7),
    Pair(replace(SS, spread=0.0), replace(SS, spread=1.0), paired=False, before=6.5),
    Pair(replace(SS, spread=0.0), replace(FEW_CLUSTERS, spread=1.0), paired=False, before=30.6),
    Pair(replace(SS, spread=1.0), replace(FEW_CLUSTERS, spread=0.0), paired=False, before=0.1),
    Pair(SS, replace(FEW_CLUSTERS, spread=0.6), paired=False, before=13.4),
    Pair(SS, FEW_CLUSTERS, paired=False, before=5.4),
    Pair(SS, replace(SS, clusters=20, spread=1.0), paired=False, before=17.0),
    Pair(replace(SS, clusters=15, sizes=(5, 5), spread=0.5), replace(SS, clusters=60, sizes=(60, 60), spread=0.5), paired=False, before=19.6),
    Pair(replace(SS, clusters=60, sizes=(5, 5), spread=0.5), replace(SS, clusters=15, sizes=(60, 60), spread=0.5), paired=False, before=0.7),
    Pair(replace(SS, clusters=40, sizes=(60, 60), spread=0.5), replace(SS, clusters=40, sizes=(5, 5), spread=0.5), paired=False, before=7.8),
    Pair(FEW_CLUSTERS, FEW_CLUSTERS, paired=False, before=5.1),
    Pair(C("ss", share=0.97, spread=0.0), SMALL_97, paired=False),
    Pair(C("ss", share=0.9), C("ss", clusters=12, share=0.9), paired=False),
    Pair(C("ss", sizes="informative"), C("ss", clusters=20, sizes="informative"), paired=False),
    Pair(C("icat", share=0.4), C("icat", share=0.6), paired=False, before=7.4),
    Pair(C("icat", share=0.5), C("icat", clusters=12, share=0.5), paired=False),
    Pair(C("mbe", clusters=50, sizes=(50, 50)), C("mbe", clusters=50, sizes=(20, 20)), paired=False),
    Pair(C("agreement", clusters=20, sizes=FEW), C("agreement", clusters=20, sizes=FEW), paired=False),
    Pair(C("cb", clusters=20, spread=0.5), C("cb", clusters=20, spread=0.5), paired=False),
    Pair(replace(SS, clusters=12_000, sizes=(1, 4)), replace(SS, clusters=12_000, sizes=(1, 4)), paired=False),
)  # fmt: skip
LABELS = (
    (C("mbe", clusters=50, sizes=(50, 50), share=0.5), 4.5),
    (C("mbe", clusters=50, sizes=(5, 5), share=0.5), 6.8),
    (C("mbe", clusters=200, sizes=(10, 10), share=0.5), 7.0),
    (C("mbe", clusters=200, sizes=(20, 20), share=0.5, tails="wide"), 16.7),
    (C("mbe", clusters=20, sizes=(200, 200), share=0.5, tails="wide"), 0.0),
    (C("mbe", clusters=50, sizes=(50, 50), share=0.5, tails="wide"), None),
)
"""Lists of sentences whose MBE is 50, for the permutation test of labels, and how often 0.1.0 found it to be another."""
THRESHOLDS = (
    *(C("ss", clusters=n) for n in (10, 20, 79)),
    C("ss", clusters=10, sizes=FEW, share=0.97, spread=0.0),
    C("ss", clusters=20, sizes=FEW, share=0.99, spread=0.0),
    C("ss", clusters=20, share=0.97, spread=1.0),
    C("ss", sizes="informative"),
    C("lms", clusters=20, sizes=FEW, related=0.995),
    *(C("icat", share=p) for p in (0.5, 0.52, 0.6)),
    C("ss_multiclass", clusters=20),
    C("crows", clusters=40, sizes=OWN),
    C("contrast", clusters=40, sizes=OWN),
    C("contrast_variance", clusters=40, sizes=OWN, ties=0.0, tails="skewed"),
    C("cb", clusters=40, spread=0.5),
    C("mbe", clusters=50, sizes=(50, 50)),
)
"""Values that are compared with the truth, as claims compare them with a number."""
POWER = ((replace(FEW_CLUSTERS, sizes=(20, 33)), 68.8), (replace(SS, clusters=20), 72.8), (SS, 80.5))
"""For the power at the printed detectable difference, and that of 0.1.0."""
ROLES = (
    "lms",
    "lms_multiclass",
    "icat_micro",
    "icat_macro",
    "icat_macro_corrected",
    "ss_choice",
    "sense_choice",
    "coverage_choice",
)
ANSWERS = (
    "agreement",
    "agreement_probability",
    "recognition",
    "recognition_probability",
    "answered_yes",
    "answered_no",
    "answered_none",
    "refused",
    "consistency",
)
TEMPLATES = (
    "cb",
    "cb_relative",
    "cb_normalised",
    "top_share",
    "periphrasis",
    "distribution_difference",
    "wording_flips",
    "wording_variance",
)
TWO_SIDED = (
    "crows",
    "crows_stereo",
    "crows_antistereo",
    "contrast",
    "contrast_other",
    "contrast_completion",
    "contrast_share",
    "contrast_variance",
    "bias_l",
    "validity_gap",
)
ALL_PAIRS = tuple(
    Pair(case, case, paired=paired)
    for case in (
        *(C(m, clusters=20) for m in ROLES),
        *(C(m, clusters=40, sizes=OWN) for m in TWO_SIDED),
        *(C(m, clusters=20, sizes=FEW) for m in ANSWERS),
        *(C(m, clusters=20, spread=0.5) for m in TEMPLATES),
        C("mbe", clusters=40, sizes=(20, 20)),
        C("shf", clusters=40, sizes=(20, 20)),
    )
    for paired in (True, False)
)  # fmt: skip
"""Each of the other metrics compared with itself."""
LIKENESS = ((79, 27, 0.3), (12, 27, 0.3), (20, 27, 1.0), (12, 4, 0.3), (12, 27, 1.0), (40, 1, 0.0))
"""Clusters, items per cluster and spread of the clusters for kappa and the rank correlation of two languages."""
