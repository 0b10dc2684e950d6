"""Simulations of confidence sequences and of the scan over groups, and what stopping early saves on published scores.

    python -m benchmarks.change simulate
    python -m benchmarks.change savings DATA SCORES...

DATA is StereoSet or GEST, one file or several with commas between them; SCORES are files of predictions, or GEST's score files.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import polars as pl

import isogloss as ig
from isogloss.analysis.groups import check_rows
from isogloss.analysis.item_values import UNIT, values_by_item, with_unit
from isogloss.exchange.runs import read_scores
from isogloss.metrics import number_clusters
from isogloss.scores import KEY
from isogloss.stats.resampling import Array, student_quantile
from isogloss.stats.scans import scan_clusters
from isogloss.stats.sequences import ClusterSampling, log_capital, sequence_interval

LIMIT = math.log(2 / 0.05)
CASES = {  # clusters, items in each at least and at most, how alike items of a cluster are
    "79 clusters of 10 to 40 items": (79, 10, 40, 0.10),
    "400 clusters of 1 to 8 items": (400, 1, 8, 0.20),
    "1,500 single items": (1500, 1, 1, 0.0),
}


def draw_clusters(rng: np.random.Generator, case: tuple[int, int, int, float], *, mean: float) -> Array:
    """Each cluster's wins and items; `alike` is the correlation within a cluster."""
    count, least, most, alike = case
    sizes = rng.integers(least, most + 1, size=count)
    strength = (1 - alike) / alike if alike else math.inf
    own = rng.beta(mean * strength, (1 - mean) * strength, size=count) if alike else np.full(count, mean)
    return np.column_stack([rng.binomial(sizes, own), sizes]).astype(np.float64)


def misses(totals: Array, truth: float, sampling: ClusterSampling) -> bool:
    """Whether the sequence excludes the truth at any look."""
    mirrored = np.column_stack([totals[:, 1] - totals[:, 0], totals[:, 1]])
    sides = ((totals, truth), (mirrored, 1 - truth))
    return any(log_capital(rows, mean, sampling=sampling).max() >= LIMIT for rows, mean in sides)


def usual_interval(totals: Array) -> tuple[float, float]:
    """The interval of a fixed number of clusters by Student's distribution."""
    count, (value, size) = len(totals), totals.sum(0)
    residuals = totals[:, 0] - value / size * totals[:, 1]
    error = math.sqrt((residuals**2).sum() * count / (count - 1)) / size
    reach = student_quantile(0.975, count - 1) * error
    return value / size - reach, value / size + reach


def simulate_sequences(repeats: int) -> list[dict[str, object]]:
    """Error under continuous looking, of sequences and of usual intervals looked at 20 times, and their widths."""
    rows: list[dict[str, object]] = []
    for name, case in CASES.items():
        for mean in (0.5, 0.65):
            wrong = {"benchmark": 0, "population": 0, "usual": 0}
            ratios = []
            for seed in range(repeats):
                rng = np.random.default_rng([seed, case[0]])
                totals = draw_clusters(rng, case, mean=mean)
                exact = float(totals[:, 0].sum() / totals[:, 1].sum())
                wrong["benchmark"] += misses(totals, exact, ClusterSampling(case[2], case[0]))
                wrong["population"] += misses(totals, mean, ClusterSampling(case[2]))
                looks = np.linspace(10, case[0], 20).astype(int)
                usual = [usual_interval(totals[:look]) for look in looks]
                wrong["usual"] += any(not low <= mean <= high for low, high in usual)
                if seed < 50:
                    low, high = sequence_interval(totals, sampling=ClusterSampling(case[2]))
                    ratios.append((high - low) / (usual[-1][1] - usual[-1][0]))
            shares = {f"{key} %": round(100 * count / repeats, 2) for key, count in wrong.items()}
            rows.append({"case": name, "mean": mean, **shares, "width": round(float(np.median(ratios)), 2)})
    return rows


def simulate_scan(repeats: int) -> list[dict[str, object]]:
    """How often a scan over ten groups calls any group changed, or equivalent, wrongly.

    Standard errors are about 1 point, and the margin is 5 points, so that a true change of 5 lies on the margin.
    """
    rows: list[dict[str, object]] = []
    for name, count, correlation in (("200 clusters", 200, 0.3), ("40 clusters", 40, 0.3), ("12 clusters", 12, 0.3)):
        for truth in (0.0, 5.0):
            wrong = {"changed": 0, "equivalent": 0, "outside": 0}
            for seed in range(repeats):
                rng = np.random.default_rng([seed, count])
                sizes = rng.integers(1, 6, size=(count, 10)).astype(np.float64)
                common = rng.normal(size=(count, 1)) * math.sqrt(correlation)
                noise = rng.normal(size=(count, 10)) * math.sqrt(1 - correlation)
                flips = np.clip(np.round(sizes * 0.4 * (common + noise)), -sizes, sizes)
                moves = flips / scan_clusters(flips, sizes, resamples=1).errors.mean() + truth * sizes
                scan = scan_clusters(moves, sizes, resamples=400, seed=seed)
                near, reach = scan.near * scan.errors, scan.reach * scan.errors
                wrong["changed"] += truth == 0.0 and bool((scan.p <= 0.05).any())
                wrong["equivalent"] += truth == 5.0 and bool((np.abs(scan.values) + near < 5.0).any())
                wrong["outside"] += bool((np.abs(scan.values - truth) > reach).any())
            shares = {f"false {key} %": round(100 * value / repeats, 2) for key, value in wrong.items()}
            rows.append({"case": f"10 groups, {name}", "true change": truth, **shares})
    return rows


def savings(data: str, files: list[str], *, orders: int = 5) -> list[dict[str, object]]:
    """The median share of the items that decide a question, over random orders, for clusters and for single items."""
    rows: list[dict[str, object]] = []
    for file in files:
        path = Path(file)
        layout = "gest" if "template" in path.name else "stereoset-predictions"
        language = "en" if layout == "gest" else path.name.split(".")[0].rsplit("_", 1)[-1]
        items = ig.read(data.split(","), language=language if len(language) == 2 else "en")
        table = with_unit(check_rows(read_scores(path, items, layout=layout)[0]), KEY)
        values = values_by_item(table, "ss", mode="corrected").join(
            table.select(UNIT, "cluster").unique(UNIT), on=UNIT, how="left", maintain_order="left"
        )
        for unit, column in (("cluster", "cluster"), ("item", UNIT)):
            index, names = number_clusters(values[column])
            wins = np.bincount(index, weights=values["value"].to_numpy() / 100)
            totals = np.column_stack([wins, np.bincount(index)]).astype(np.float64)
            exact = 100 * float(wins.sum() / totals[:, 1].sum())
            found = [first_looks(totals[np.random.default_rng(seed).permutation(len(names))]) for seed in range(orders)]
            row: dict[str, object] = {
                "scores": path.name.split(".json")[0].split(".txt")[0],
                "SS": round(exact, 1),
                "unit": unit,
            }
            for rule in ("ss!=50", "ss±3", "ss±2"):
                row[rule] = round(100 * float(np.median([look[rule] for look in found])), 0)
            row["wrong"] = sum(look["wrong"] for look in found)
            rows.append(row)
    return rows


def first_looks(totals: Array, *, looks: int = 25) -> dict[str, float]:
    """The share of items after which each rule stops, in one order; `wrong` if an interval missed the whole's mean."""
    size, exact = totals[:, 1].sum(), float(totals[:, 0].sum() / totals[:, 1].sum())
    done = {"ss!=50": 1.0, "ss±3": 1.0, "ss±2": 1.0, "wrong": 0.0}
    for look in np.unique(np.linspace(1, len(totals), looks).astype(int))[::-1]:
        seen = totals[:look]
        share = float(seen[:, 1].sum() / size)
        rest = float(size - seen[:, 1].sum())
        low, high = sequence_interval(seen, sampling=ClusterSampling(totals[:, 1].max(), len(totals), rest))
        done["wrong"] = max(done["wrong"], float(not low - 1e-9 <= exact <= high + 1e-9))
        if not low <= 0.5 <= high:
            done["ss!=50"] = share
        for name, half in (("ss±3", 0.03), ("ss±2", 0.02)):
            if (high - low) / 2 <= half:
                done[name] = share
    return done


def main() -> None:
    """Print the tables."""
    pl.Config.set_tbl_rows(100)
    pl.Config.set_fmt_str_lengths(80)
    pl.Config.set_tbl_width_chars(160)
    pl.Config.set_tbl_cols(20)
    if sys.argv[1] == "simulate":
        repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
        for simulation in (simulate_scan, simulate_sequences):
            print(pl.DataFrame(simulation(repeats)), flush=True)
    else:
        print(pl.DataFrame(savings(sys.argv[2], sys.argv[3:])))


if __name__ == "__main__":
    main()
