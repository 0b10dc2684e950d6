"""Isogloss measures where a language model's stereotypes change, and says how sure it is.

Data flows one way, and every result can be saved and loaded again:

* `Items` are questions to a model, each with candidates such as a stereotype and an anti-stereotype; `read` reads them.
* `Scored` is a long table with one row per item and candidate; `score` and `ask` make it with models, `load` reads it back.
* `Study` holds scores, the runs on disk that they come from and what failed; `run` makes it from a study file.
* `Measures`, `Comparisons`, `Changes` and `GateResult` are numbers with intervals and verdicts with reasons; `measure`,
  `compare`, `change` and `gate` make them.
* `table`, `figure` and `report` show a study, scores, or folders of runs.

    import isogloss as ig

    items = ig.read("demo", language=["en", "de"])
    scored = ig.score(items, model="smollm2", out="runs/mine")
    print(ig.measure(scored, metrics="ss"))
    ig.report("runs/mine", "report.html")

Names are imported when they are first used, so that `import isogloss` takes no time.
"""

import lazy_loader

__version__ = "0.3.0"
__getattr__, _names, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
