"""What the help of each command shows: two examples, and its options in panels."""

from __future__ import annotations

import inspect

import typer

EXAMPLES = {
    "eval": (
        "isogloss eval smollm2 --data demo --language en,de",
        "isogloss eval http://localhost:8000/v1 --served-model NAME --data stereoset -l de",
    ),
    "ask": (
        "isogloss ask smollm2-chat --data shades_demo -l en --limit 20",
        "isogloss ask https://api.example.org/v1 --served-model NAME --key-env MY_KEY --data shades_demo --dry-run",
    ),
    "run": ("isogloss run study.yaml", "isogloss run study.yaml --only 'BERT/*/de' --backend ray --workers 4"),
    "probe": (
        "isogloss probe smollm2 'The [nurse|doctor] is kind.'",
        "isogloss probe smollm2 'The {gender} is a [nurse|doctor].' --terms gender",
    ),
    "measure": (
        "isogloss measure runs/eval --by category --metrics ss",
        "isogloss measure runs/eval --where category=gender,race --explain",
    ),
    "compare": (
        "isogloss compare runs/eval --a language=en --b language=de",
        "isogloss compare runs/one runs/two --by category",
    ),
    "change": ("isogloss change runs/base runs/chat", "isogloss change runs/step1 runs/step2 runs/step3 --metric ss"),
    "plan": (
        "isogloss plan runs/pilot --difference 3",
        "isogloss plan runs/base runs/chat --difference 2 --power 0.9 --prices 0.15,0.6",
    ),
    "gate": (
        "isogloss gate runs/eval --claims claims.yaml",
        "isogloss gate runs/new --baseline runs/old --margin 2 --junit verdicts.xml",
    ),
    "claims new": ("isogloss claims new claims.yaml", "isogloss claims new limits.yaml"),
    "claims register": ("isogloss claims register claims.yaml", "isogloss claims register limits.yaml"),
    "controls": ("isogloss controls runs/eval", "isogloss controls runs/eval --frequencies words.txt"),
    "robustness": (
        "isogloss robustness smollm2 --data demo -l en --limit 50",
        "isogloss robustness smollm2 --data demo --format json > robustness.json",
    ),
    "shares": (
        "isogloss shares runs/templates --by set,concept",
        "isogloss shares runs/templates --of negation",
    ),
    "agreement": (
        "isogloss agreement runs --a language=en --b language=de --metrics ss",
        "isogloss agreement runs/ht runs/mbe --metrics pair_score --against mbe",
    ),
    "structure": ("isogloss structure runs/eval", "isogloss structure runs/one runs/two --over model"),
    "mixed": ("isogloss mixed runs/study", "isogloss mixed runs/study --facts models.yaml"),
    "explain": ("isogloss explain runs/eval", "isogloss explain runs/eval --metrics ss"),
    "verdicts": ("isogloss verdicts runs/ask --by prompt", "isogloss verdicts runs/imported --differences"),
    "labels sheet": (
        "isogloss labels sheet runs/ask --out answers.xlsx --limit 60",
        "isogloss labels sheet mine.csv -l es --out es.xlsx",
    ),
    "labels read": (
        "isogloss labels read ana.xlsx luis.xlsx",
        "isogloss labels read stereotypes_es-MX.csv --out mx.csv",
    ),
    "labels agreement": (
        "isogloss labels agreement labels.csv --by language",
        "isogloss labels agreement ana.xlsx luis.xlsx --over both",
    ),
    "labels correct": (
        "isogloss labels correct runs/ask --labels ana.xlsx",
        "isogloss labels correct runs/ask --labels labels.csv --within 5",
    ),
    "labels bleeding": (
        "isogloss labels bleeding runs/eval --labels labels.csv",
        "isogloss labels bleeding runs/seegull --labels stereotypes_es-MX.csv --metric contrast_completion",
    ),
    "report": ("isogloss report runs/eval --out report.html", "isogloss report runs/one runs/two --beside published"),
    "figure": (
        "isogloss figure heatmap runs/eval --out heatmap.pdf",
        "isogloss figure forest runs/eval --metrics ss --width double",
    ),
    "table": (
        "isogloss table runs/eval --format latex",
        "isogloss table runs/eval --format model-index --out model-index.yml",
    ),
    "cite": ("isogloss cite runs/eval", "isogloss cite runs/eval --format json"),
    "methods": ("isogloss methods runs/eval", "isogloss methods runs/one runs/two"),
    "show": ("isogloss show runs/eval", "isogloss show published --where model=multilingual"),
    "serve": ("isogloss serve", "isogloss serve runs --port 8080"),
    "list": ("isogloss list metrics", "isogloss list data --format json"),
    "data check": ("isogloss data check mine.csv -l pl", "isogloss data check mine.csv --fail-on warning"),
    "data build": (
        "isogloss data build split corpus.tsv -l de --out sentences.jsonl",
        "isogloss data build pairs demo -l en --out pairs.csv",
    ),
    "data pull": ("isogloss data pull stereoset", "isogloss data pull shades -l de,fr"),
    "data import": (
        "isogloss data import predictions.json --data stereoset -l en",
        "isogloss data import replies.xlsx --layout answers --question agree -l de --columns answer=reply",
    ),
    "data export": (
        "isogloss data export runs/eval --out predictions.json",
        "isogloss data export runs/eval --layout every-eval-ever --out results.json",
    ),
    "data translate": (
        "isogloss data translate demo --to Spanish --out es",
        "isogloss data translate mine.csv --to de --translator hf --option model=NAME --out de",
    ),
    "data repair": ("isogloss data repair es", "isogloss data repair es --undo articles"),
    "data review": (
        "isogloss data review es --out sheet.xlsx",
        "isogloss data review es ana.xlsx luis.xlsx",
    ),
    "data publish": (
        "isogloss data publish es --out published --title 'My set' --license 'CC BY 4.0' --source 'My source'",
        "isogloss data publish es --out published --title 'My set' --license 'CC BY 4.0' --source 'My source' --back apertium",
    ),
    "templates check": ("isogloss templates check de fr", "isogloss templates check de --sheet review.xlsx"),
    "templates expand": (
        "isogloss templates expand 'The {gender} is kind.' -l en",
        "isogloss templates expand -l de --set gender-negative",
    ),
    "templates parallel": (
        "isogloss templates parallel gender-negative",
        "isogloss templates parallel profession -l de",
    ),
    "language new": ("isogloss language new ig", "isogloss language new Ukrainian --folder languages"),
    "model pull": ("isogloss model pull smollm2", "isogloss model pull gemma3-270m --accept-license"),
    "nsp data": (
        "isogloss nsp data articles.txt -l de --out pairs",
        "isogloss nsp data wiki.jsonl -l en,de --out pairs",
    ),
    "nsp train": (
        "isogloss nsp train gpt2 --data pairs --out gpt2-nsp",
        "isogloss nsp train gpt2 --data pairs --out gpt2-nsp --lora 8 --report-to tensorboard",
    ),
    "nsp test": ("isogloss nsp test gpt2-nsp --data pairs", "isogloss nsp test gpt2-nsp --data pairs --limit 500"),
}
PANELS = {
    "Data": "--data --language --where --columns --encoding --reader --skip-bad --limit --controls",
    "Scoring": "--method --option --until --order --part-size --token-budget --only",
    "Server": "--served-model --key-env --concurrency --timeout --tries --prices --max-requests --max-cost",
    "Measuring": "--by --metrics --mode --interval --resamples --seed --a --b --unpaired --facts --beside",
    "Machine": "--device --device-map --dtype --backend --address --workers --threads --wait --offline --allow-pickle",
    "Output": "--out --format --explain --junit --width --names --task --intervals",
}
PANEL_OF = {option: panel for panel, text in PANELS.items() for option in text.split()}


def add_examples(app: typer.Typer, path: str = "") -> None:
    """Let the help of every command end with its examples, and show its options in panels."""
    for group in app.registered_groups:
        if group.typer_instance is not None:
            add_examples(group.typer_instance, f"{path}{group.name or group.typer_instance.info.name} ")
    for command in app.registered_commands:
        examples = EXAMPLES.get(f"{path}{command.name}", ())
        if examples:
            command.epilog = "Examples:\n\n" + "\n\n".join(f"$ {line}".replace("[", "\\[") for line in examples)
        for parameter in inspect.signature(command.callback or add_examples).parameters.values():
            option = parameter.default
            for name in getattr(option, "param_decls", None) or ():
                if name in PANEL_OF and not option.rich_help_panel:
                    option.rich_help_panel = PANEL_OF[name]
