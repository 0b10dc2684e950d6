"""The architecture keeps its shape: who may import whom, how large things are, and that everything says what it is."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.code import short_modules

import isogloss
from isogloss import registry
from support import changed
from support.offenders import for_every

ROOT = Path(isogloss.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
NAMES = {str(path.relative_to(ROOT)): path for path in FILES}


each = for_every(name=NAMES)


CHAT_CORE = [
    "chat.answer_rows",
    "chat.answer_words",
    "chat.choice_readings",
    "chat.choice_records",
    "chat.prompt_words",
    "chat.question_words",
    "chat.readings",
    "chat.records",
    "chat.text_normalisation",
    "chat.verdicts",
]  # what metrics and languages read of it

# A package may import packages below it, and itself.
LAYERS = {
    "datasets": 1,
    "metrics": 1,
    "models": 1,
    "analysis": 2,
    "methods": 2,
    "chat": 2,
    **dict.fromkeys(CHAT_CORE, 0),
    "claims": 3,
    "exchange": 3,
    "reports": 4,
    "annotation": 5,
    "studies": 5,
    "corpora": 6,
    "nsp": 6,
    "translate": 6,
    "ray_cluster": 6,
    "library": 6,  # the module of the public functions that put several packages together
    "label_library": 7,  # the same for answers from elsewhere and what people say
    "cli": 8,
    "web": 8,
    **dict.fromkeys([f"{name}.commands" for name in ("corpora", "nsp", "translate", "web")], 9),  # by entry points
    "__init__": 10,
    "__main__": 10,
}
CORE = 0
CORE_PACKAGES = {
    "checks",
    "data",
    "files",
    "stats",
    "templates",
}  # packages of the core
EXCEPTIONS = {
    ("results", "reports.text.views"),  # every result can print itself
    ("results", "reports.text.table"),
    ("analysis.study", "claims.verdicts"),  # a study has its verdicts
}
SATELLITES = {"web", "nsp", "translate", "corpora", "ray_cluster"}  # they come by entry points, and may be left out
HEAVY = {"torch", "transformers", "tokenizers", "safetensors", "accelerate", "huggingface_hub", "gguf"}
HEAVY_PACKAGES = {"models", "nsp", "chat", "translate"}
MANY_OPTIONS = {  # functions of the library: every option has a default and goes by its name
    "analysis.changes.change",
    "analysis.comparisons.compare",
    "analysis.measures.measure",
    "analysis.rankings.rank_models",
    "files.sources.read",
    "label_library.bleeding",
    "label_library.correct",
    "library.figure",
    "label_library.import_answers",
    "label_library.label_agreement",
    "label_library.sheet",
    "library.gate",
    "library.plan",
    "library.report",
    "library.table",
    "library.ask",
    "library.probe",
    "library.run",
    "library.score",
    "studies.run.score_items",
    "studies.plan.plan_asking",
    "studies.plan.plan_evaluation",
}
OWED: set[str] = set()  # known to break the rule about arguments; the list may only shrink
SHADOWS: set[str] = set()
LIBRARY_BASES = {"Trainer", "TrainerCallback"}  # classes of transformers, which sets the signatures of their methods
BASES = {
    "Exception",
    "IsoglossError",
    "Protocol",
    "Sequence",
    "Struct",
    "BaseModel",
    "Module",
    "Generic",
    *LIBRARY_BASES,
}


@dataclass(frozen=True)
class Import:
    """One import: the module it names, and whether it runs when the file is loaded."""

    module: str
    at_once: bool


@functools.cache
def tree(name: str) -> ast.Module:
    return ast.parse(NAMES[name].read_text(encoding="utf-8"))


def dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {dotted(name) for name in NAMES}


def walk(node: ast.AST, at_once: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it runs when the file is loaded."""
    for child in ast.iter_child_nodes(node):
        typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        later = isinstance(child, ast.FunctionDef | ast.Lambda) or typing
        yield child, at_once
        yield from walk(child, at_once and not later)


@functools.cache
def imports(name: str) -> list[Import]:
    """What a file imports: ours without the package's name, others with a leading '+'."""
    found = []
    package = dotted(name).split(".") if name.endswith("__init__.py") else dotted(name).split(".")[:-1]
    package = [] if name == "__init__.py" else package
    for node, at_once in walk(tree(name)):
        if isinstance(node, ast.Import):
            found += [Import(f"+{alias.name}", at_once) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(Import(f"+{node.module}", at_once))
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            start = ".".join(part for part in base if part)
            inner = [f"{start}.{alias.name}".lstrip(".") for alias in node.names]
            found += [Import(one if one in MODULES else start, at_once) for one in inner]
    return [one for one in found if one.module]


def layer(module: str) -> int:
    """The layer of a module: that of the longest name in the table that it begins with."""
    parts = module.split(".")
    names = [".".join(parts[: size + 1]) for size in range(len(parts))]
    return next((LAYERS[name] for name in reversed(names) if name in LAYERS), CORE)


def functions(name: str) -> Iterator[tuple[ast.FunctionDef, ast.AST]]:
    """Every function of a file with what it stands in."""
    for parent in ast.walk(tree(name)):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.FunctionDef):
                yield child, parent


def length(function: ast.FunctionDef) -> int:
    """The lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return lines - ((first.end_lineno or 0) - first.lineno + 1 if is_text else 0)


def is_command(name: str, function: ast.FunctionDef) -> bool:
    defaults = [*function.args.defaults, *function.args.kw_defaults]
    text = " ".join(ast.unparse(default) for default in defaults if default)
    return (name.startswith("cli/") or name.endswith("/commands.py")) and ("typer." in text or "options." in text)


def body_length(name: str, function: ast.FunctionDef) -> int:
    """The lines of a function; of a command those below its options, each of which has a line of its own."""
    signature = function.body[0].lineno - function.lineno if is_command(name, function) else 0
    return length(function) - signature


# ---- a rule for many cases is one test


def test_a_rule_lists_every_case_that_breaks_it_and_takes_fixtures():
    @for_every(number=[1, 2, 3], letter="ab")
    def rule(number: int, letter: str, limit: int) -> None:
        assert number < limit, letter

    assert list(inspect.signature(rule).parameters) == ["limit"]
    rule(limit=4)
    with pytest.raises(ExceptionGroup, match=r"^4 of 6 cases break the rule: 2, a; 2, b; 3, a; 3, b") as caught:
        rule(limit=2)
    assert caught.value.exceptions[0].__notes__ == ["Case: 2, a"]


# ---- who may import whom


@each
def test_a_package_imports_only_lower_layers(name):
    here = dotted(name)
    package = here.split(".")[0]
    for one in imports(name):
        if one.module.startswith("+") or (here, one.module) in EXCEPTIONS or here in ("", "__init__", "__main__"):
            continue
        same = one.module.split(".")[0] == package or layer(here) == layer(one.module) == CORE
        assert same or layer(one.module) < layer(here), f"{here} imports {one.module}"


@each
def test_only_a_satellite_imports_itself(name):
    package = name.split("/")[0]
    for one in imports(name):
        satellite = one.module.split(".")[0]
        assert satellite not in SATELLITES or satellite == package, f"imports {one.module}"


def test_every_package_has_a_layer():
    packages = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages - CORE_PACKAGES == {
        package for package in LAYERS if not package.startswith("__") and "." not in package
    } - {"library", "label_library"}


@pytest.mark.parametrize("kind", registry.PLUGIN_PACKAGES)
def test_a_plug_in_never_imports_its_neighbours(kind):
    package = registry.PLUGIN_PACKAGES[kind]
    plugins = {f"{package}.{name}" for name in registry.names(kind)} & MODULES
    for plugin in plugins:
        used = {one.module for one in imports(plugin.replace(".", "/") + ".py")}
        assert not used & (plugins - {plugin}), plugin


@each
def test_heavy_libraries_are_used_in_their_packages_only(name):
    if name.split("/")[0] in HEAVY_PACKAGES:
        return
    used = {one.module.lstrip("+").split(".")[0] for one in imports(name) if one.module.startswith("+")}
    needed = {
        str(node.args[0].value).split(".")[0]
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "require" and isinstance(node.args[0], ast.Constant)
    }
    assert not (used | needed) & HEAVY


def test_there_is_no_import_cycle():
    graph = {dotted(name): {one.module for one in imports(name) if one.at_once} & MODULES for name in NAMES}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way, module])
        if module not in done:
            for other in graph[module] - {module}:
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_importing_the_package_loads_no_library():
    code = "import sys; before = set(sys.modules); import isogloss; print(sorted(set(sys.modules) - before))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    loaded = {module.split(".")[0] for module in ast.literal_eval(shown)}
    assert not loaded & {*HEAVY, "polars", "numpy", "scipy", "typer", "rich", "langcodes"}


# ---- what knows a metric by its name

ABOUT_A_METRIC = {  # modules that are about certain metrics; may only shrink
    "analysis.annotators": "the default of a function",
    "analysis.controls": "the scores that control items, labels and baselines are compared with",
    "analysis.mbe_tests": "the tests that were published with MBE",
    "analysis.published": "the metrics of the published table",
    "analysis.tradeoffs": "the two axes of a trade-off",
    "annotation.bleeding": "the default of a function",
    "claims.language": "homogeneous is said of ICAT macro only",
    "claims.verdicts": "ICAT macro and micro differ by arithmetic, so their order is no claim",
    "cli.labels": "the default of an option",
    "label_library": "the default of a function",
    "reports.chart_data": "the plane of LMS and SS",
    "reports.figures.answers": "the three shares of answers",
    "reports.figures.plane": "the plane of LMS and SS",
    "reports.page.panels.plane": "the plane of LMS and SS",
    "reports.text.views": "the tests that were published with MBE",
    "studies.robustness": "the value whose sign is looked at",
}


def test_only_modules_about_a_metric_know_its_name():
    others = {name for kind in registry.PLUGIN_PACKAGES if kind != "metric" for name in registry.names(kind)}
    verdicts = {"refused"}
    names = set(registry.names("metric")) - others - verdicts
    naming = {
        dotted(name)
        for name in NAMES
        if not name.startswith(("metrics/", "cli/examples.py"))
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    assert naming == set(ABOUT_A_METRIC)


@each
def test_studies_know_no_chat_and_no_method_by_name(name):
    if name.startswith("studies/"):
        assert not [one.module for one in imports(name) if one.module.split(".")[0] in ("chat", "cli", "exchange")]
        texts = {node.value for node in ast.walk(tree(name)) if isinstance(node, ast.Constant)}
        assert not texts & ({"endpoint", *registry.names("method")} - {"nsp"})  # which is a trainer's name there


# ---- sizes


@each
def test_no_file_is_longer_than_four_hundred_lines(name):
    assert len(NAMES[name].read_text(encoding="utf-8").splitlines()) <= (700 if name == "library.py" else 400)


@each
def test_no_function_is_longer_than_sixty_lines(name):
    assert {f.name: body_length(name, f) for f, _ in functions(name) if body_length(name, f) > 60} == {}


def test_most_functions_are_short():
    lengths = sorted(length(function) for name in NAMES for function, _ in functions(name))
    assert statistics.median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.95)] <= 35


def crowded(name: str) -> Iterator[str]:
    """The functions of a file that take more than two arguments by position, or more than five in all."""
    for function, parent in functions(name):
        error = isinstance(parent, ast.ClassDef) and any("E" in ast.unparse(base) for base in parent.bases)
        if is_command(name, function) or (error and function.name == "__init__"):
            continue
        if isinstance(parent, ast.ClassDef) and {ast.unparse(base) for base in parent.bases} & LIBRARY_BASES:
            continue
        own = [a.arg for a in [*function.args.posonlyargs, *function.args.args] if a.arg not in ("self", "cls")]
        called = f"{dotted(name)}.{function.name}"
        total = len(own) + len(function.args.kwonlyargs)
        if len(own) > 2 or (total > 5 and called not in MANY_OPTIONS):
            yield called


@each
def test_a_function_takes_two_arguments_by_position_and_five_in_all(name):
    assert set(crowded(name)) <= OWED


@each
def test_no_class_inherits_from_one_of_ours(name):
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ClassDef):
            bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
            assert bases <= BASES, node.name


# ---- words


@each
def test_modules_public_functions_and_classes_say_what_they_are(name):
    module = tree(name)
    assert ast.get_docstring(module), "the module has no docstring"
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


@each
def test_names_say_what_is_in_them(name):
    stem = dotted(name).split(".")[-1]
    assert not {stem, stem.rstrip("s")} & {"util", "helper", "common", "misc", "base"}
    public = {node.name for node in tree(name).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not [one for one in public if one.startswith("base_") or one.endswith("Manager")]
    assert name.startswith("cli/") or dotted(name) in SHADOWS or stem not in public, f"{stem} shadows its own module"


@each
def test_the_library_neither_prints_nor_asserts_and_always_names_the_encoding(name):
    for node in ast.walk(tree(name)):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}: raise an error instead"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")[-1]
            assert called != "print", f"line {node.lineno}"
            if called in ("read_text", "write_text"):
                assert "encoding" in {keyword.arg for keyword in node.keywords}, f"line {node.lineno}"


# ---- one word, one thing

BANNED = re.compile(
    r"(?<![a-z])(rooms?|houses?|streets?|doors?|ground floor|shel(?:f|ves|ved)|desks?|crews?|wish(?:es)?|tongues?|joints?|twins?)(?![a-z])"
)
SHORT_MODULES = 4  # may only shrink


def words_of(identifier: str) -> str:
    """An identifier as words: `_make_room` and `MakeRoom` give 'make room'."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", identifier).lower()


def identifiers(module: ast.Module) -> Iterator[str]:
    """Every name that a file gives to something."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


@each
def test_names_are_nouns_for_what_they_hold(name):
    assert not {"found", "made", "told", "said", "given", "heard"} & set(identifiers(tree(name)))


def docstrings(module: ast.Module) -> Iterator[str]:
    """Every docstring of a file."""
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""


@each
def test_names_and_docstrings_are_free_of_metaphors(name):
    texts = [words_of(dotted(name)), *map(words_of, identifiers(tree(name))), *map(str.lower, docstrings(tree(name)))]
    assert [text for text in texts if BANNED.search(text)] == []


def test_no_class_name_is_defined_twice():
    homes: dict[str, list[str]] = {}
    for name in NAMES:
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(dotted(name))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_plug_in_packages_need_no_list_of_exceptions():
    assert not hasattr(registry, "NOT_PLUGINS")
    for kind, package in registry.PLUGIN_PACKAGES.items():
        for name in registry.names(kind):
            if f"{package}.{name}" in MODULES:
                assert any(kind in names for names in [set(assigned(f"{package}.{name}"))]), f"{name} is no {kind}"


def assigned(module: str) -> Iterator[str]:
    """The names that a module assigns at its top."""
    for node in tree(module.replace(".", "/") + ".py").body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_few_modules_are_shorter_than_forty_lines():
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert len(short_modules(sizes)) <= SHORT_MODULES, short_modules(sizes)


def test_the_architecture_page_has_the_layers_as_they_are():
    page = (ROOT.parent.parent / "docs" / "dev" / "architecture.md").read_text(encoding="utf-8")
    written = {
        name: int(line[0]) for line in re.findall(r"^[1-9]  .*", page, re.MULTILINE) for name in line[1:].split()
    }
    assert written == {name: layer for name, layer in LAYERS.items() if "." not in name and name[:2] != "__"}
    first = re.search("^0  .*", page, re.MULTILINE)
    assert first
    assert set(first[0].partition("·")[2].split()) == CORE_PACKAGES - {"data"}


def test_the_functions_that_the_architecture_page_names_are_where_it_says():
    page = (ROOT.parent.parent / "docs" / "dev" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## From a command to the tensor and back")[2].partition("\n## ")[0]
    places = re.findall(r"`([\w/]+\.py): (\w+)`", section)
    assert len(places) >= 10
    assert [(name, called) for name, called in places if called not in {f.name for f, _ in functions(name)}] == []
    every = {f.name for name in NAMES for f, _ in functions(name)}
    alone = set(re.findall(r"`(_?[a-z]+(?:_[a-z]+)+)`", section)) - {"input_ids"}
    assert alone - every == set()


# ---- tests are named after the module that they test

ACROSS_MODULES = {  # files of tests about a promise that several modules keep
    "answer_phrases": "what chat models say, in every language",
    "bad_files": "every reader of files",
    "bert_archive": "the reader of TensorFlow archives in reproduction/",
    "consistency": "the same names and filters in every command and function",
    "docs": "the pages and their examples",
    "fast_paths": "the engine, the head and the families",
    "fault_tolerance": "full disks, broken files and killed processes",
    "fuzz": "every reader and every command",
    "identity": "runs, models and templates that could pass for each other",
    "independent_checks": "shipped sentences against other tools",
    "interoperability": "other tools, both ways",
    "layers": "the architecture",
    "notebooks": "the notebooks of the documentation",
    "page_browser": "the report in a browser",
    "pipeline": "from items to scores, with models that are open or named",
    "pair_methods": "all methods of sentences and pairs against slow references",
    "published": "every row of a table in the documentation",
    "published_claims": "published scores against other code",
    "published_comparisons": "published scores against other code",
    "published_models": "published models against published scores",
    "published_tables": "published scores against printed tables",
    "reproduction": "the package that makes the reproduction",
    "kit": "the spreadsheets of the speaker's kit",
    "pictures": "the screenshots of the pages",
    "scale": "very many rows",
    "scripts": "every script",
    "statistics": "the simulated coverage of intervals and tests",
    "templates_language": "the template language, from text to sentence and back",
    "user_errors": "what new users tripped over",
    "web_browser": "the local page in a browser",
    "wheel": "the package as it is installed",
}


def test_a_file_of_tests_is_named_after_a_module_or_a_package():
    parts = [[part.lstrip("_") for part in module.split(".")] for module in MODULES]
    known = {"_".join(names[-size:]) for names in parts for size in (1, 2)} | {
        part for names in parts for part in names
    }
    files = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert files - known - set(ACROSS_MODULES) == set()
    assert set(ACROSS_MODULES) <= files


def test_a_changed_module_leads_to_its_tests():
    there = [
        "test_ss.py",
        "test_metrics.py",
        "test_metrics_pairs.py",
        "test_shards.py",
        "test_studies.py",
        "test_cli.py",
    ]
    assert changed.tests_of(["src/isogloss/metrics/_pairs.py"], there) == ["test_metrics.py", "test_metrics_pairs.py"]
    assert changed.tests_of(["src/isogloss/studies/shards.py", "README.md"], there) == [
        "test_shards.py",
        "test_studies.py",
    ]
    assert changed.tests_of(["tests/test_cli.py", "tests/test_gone.py"], there) == ["test_cli.py"]


# ---- tests use the public names of modules

PRIVATE = re.compile(r"_[A-Za-z]\w*(?<!_)")
PRIVATE_MODULES = {module.split(".")[-1] for module in MODULES}  # a leading "_" there means: not a plug-in
SETTERS = ("setattr", "delattr", "getattr", "object")  # of monkeypatch, of Python, and of mock.patch
PRIVATE_USES: set[str] = set()  # may only shrink: "test_file.py: _name", with the reason why no public name will do


def private_names() -> set[str]:
    """Every private name that a file of Isogloss gives to a function, a variable or an attribute."""
    names = {one for name in NAMES for one in identifiers(tree(name))}
    for name in NAMES:
        stored = [n for n in ast.walk(tree(name)) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        names |= {node.attr for node in stored if ast.unparse(node.value) == "self"}
    return {one for one in names if PRIVATE.fullmatch(one)}


def private_uses(module: ast.Module, private: set[str]) -> Iterator[str]:
    """The private names of Isogloss that a file imports, reads from an object, or names in a string."""
    foreign = {"self", "cls"}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            origin = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if origin.split(".")[0] == "isogloss":
                names = {alias.name for alias in node.names} - PRIVATE_MODULES
                yield from (one for one in names if PRIVATE.fullmatch(one))
            else:
                bound = {(alias.asname or alias.name).split(".")[0]: alias.name.split(".")[0] for alias in node.names}
                foreign |= {one for one, source in bound.items() if source != "isogloss"}
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in foreign:
            yield from {node.attr} & private
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in SETTERS:
            strings = {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            yield from strings & private
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            dotted_names = re.findall(r"\bisogloss(?:\.\w+)*\.(_[A-Za-z]\w*)", node.value)
            yield from (set(dotted_names) & private) - PRIVATE_MODULES


TESTS = Path(__file__).parent


def test_tests_use_public_names():
    private = private_names()
    uses = {
        f"{path.name}: {name}"
        for path in set(TESTS.rglob("*.py")) - {Path(__file__)}
        for name in private_uses(ast.parse(path.read_text(encoding="utf-8")), private)
    }
    assert uses == PRIVATE_USES


@pytest.mark.parametrize(
    "code",
    [
        "from isogloss.files.sources import _read",
        "from isogloss import runs\nruns._read(1)",
        "cache = make()\ncache._read(1)",
        "import isogloss.runs\nisogloss.runs._read(1)",
        "monkeypatch.setattr(runs, '_read', None)",
        "monkeypatch.setattr('isogloss.runs._read', None)",
    ],
)
def test_a_use_of_a_private_name_is_found(code):
    assert set(private_uses(ast.parse(code), {"_read"})) == {"_read"}


@pytest.mark.parametrize("code", ["self._read(1)", "import os\nos._read(1)", "from support import tiny\ntiny._read(1)"])
def test_private_names_of_others_are_no_concern(code):
    assert set(private_uses(ast.parse(code), {"_read"})) == set()


FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMANDS_IN_FULL = re.compile(r"isogloss [a-z]|--format json")
ARGUMENTS_OF_PROGRAMS = {"models/packaged.py", "models/load.py"}  # pip's, and the end of a command


@each
def test_messages_of_the_library_name_arguments_not_options(name: str) -> None:
    if name.split("/")[0] in ("cli", "web") or name.endswith("commands.py") or name in ARGUMENTS_OF_PROGRAMS:
        return
    parsed = tree(name)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(parsed) if isinstance(node, documented) and ast.get_docstring(node)}  # type: ignore[attr-defined]  # fmt: skip
    texts = [node for node in ast.walk(parsed) if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstrings]  # fmt: skip
    inner = {
        id(part) for node in texts if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node
    }
    shown = [ast.unparse(node) for node in texts if id(node) not in inner]
    flags = [text[:90] for text in shown if FLAG.search(text) and not COMMANDS_IN_FULL.search(text)]
    assert not flags, flags
