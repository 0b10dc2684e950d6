"""Chat templates, which are programs of a model's author: a child process runs them, with little time and memory."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import IsoglossError, require

SECONDS = 10  # of the processor, for all prompts of a call together
LONGEST = 1_000_000  # letters of a framed prompt
MEMORY = 1_000_000_000
PATIENCE = 600.0  # seconds by the clock, also to start the child on a busy machine
FILES = ("chat_template.jinja", "chat_template.json", "additional_chat_templates", "processor_config.json")
SETTINGS = "tokenizer_config.json"
NO_TEMPLATE = (
    "'{name}' has no chat template, so it is not known how to address it. "
    "Use `options={{'template': 'plain'}}` to give it the bare prompt, or choose a chat model."
)


def may_have_template(folder: Path) -> bool:
    """Whether a model's folder may have a chat template, by its files alone; its tokenizer knows for certain."""
    settings = folder / SETTINGS
    listed = not settings.is_file() or "chat_template" in settings.read_text(encoding="utf-8", errors="replace")
    return listed or any((folder / name).exists() for name in FILES)


def frame_prompts(tokenizer: Any, texts: Sequence[str], *, name: str) -> list[str]:
    """Each text as a user's message in the chat template of the model of that name, up to the start of the answer."""
    try:
        tokens = {
            key: list(map(str, value)) if isinstance(value, list | tuple) else str(value)
            for key, value in tokenizer.special_tokens_map.items()
        }
        task = {"template": tokenizer.get_chat_template(), "tokens": tokens, "texts": list(texts)}
        return _run_child(json.dumps(task | {"seconds": SECONDS}))
    except (ValueError, TypeError) as error:
        raise IsoglossError(
            f"The chat template of '{name}' cannot be used ({str(error)[:300]}). Use `options={{'template': 'plain'}}`."
        ) from error


def _run_child(task: str) -> list[str]:
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"]
    try:
        done = subprocess.run(command, input=task, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"it did not end within {PATIENCE:.0f} seconds") from error
    if done.returncode < 0:
        raise ValueError(f"it did not end within {SECONDS} seconds")
    if done.returncode > 0:
        raise ValueError((done.stderr.strip().splitlines() or ["its process failed"])[-1])
    reply = json.loads(done.stdout)
    if "problem" in reply:
        raise ValueError(reply["problem"])
    return [str(text) for text in reply["texts"]]


# ---- in the child


def main() -> None:
    """Read a task from standard input and write the framed prompts, or what is wrong, to standard output."""
    require("transformers.utils.chat_template_utils", extra="hf")  # its own time is not the template's
    task = json.load(sys.stdin)
    _limit(task["seconds"])
    json.dump(_frame(task), sys.stdout)


def _frame(task: Mapping[str, Any]) -> dict[str, Any]:
    """The framed prompts of a task, or what is wrong with its template."""
    from transformers.utils.chat_template_utils import render_jinja_template

    def render(content: Any) -> str:
        (prompt,), _ = render_jinja_template(
            conversations=[[{"role": "user", "content": content}]],
            chat_template=task["template"],
            add_generation_prompt=True,
            **task["tokens"],
        )
        if len(prompt) > LONGEST:
            raise ValueError(f"it makes more than {LONGEST:,} letters of a prompt")
        return str(prompt)

    framed = []
    try:
        for text in task["texts"]:
            prompt = render(text)
            if not _holds(prompt, text):  # templates of models that see pictures read a list of parts
                prompt = render([{"type": "text", "text": text}])
            if not _holds(prompt, text):
                raise ValueError("it leaves out the message")
            framed.append(prompt.encode("utf-8", "replace").decode())
    except MemoryError:
        return {"problem": f"it needs more than {MEMORY // 10**9} GB of memory"}
    except Exception as error:  # templates are programs, each with its own errors
        return {"problem": str(error)}
    return {"texts": framed}


def _holds(prompt: str, text: str) -> bool:
    """Whether a text is in a prompt; templates may trim it, or write it as JSON."""
    plain, escaped = " ".join(text.split()), json.dumps(text.strip(), ensure_ascii=False)[1:-1]
    return plain in " ".join(prompt.split()) or escaped in prompt


def _limit(seconds: int) -> None:
    """No more of the processor and of memory than this, where the system can say so; the parent watches the clock."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    pages = Path("/proc/self/statm")
    if pages.exists():
        held = int(pages.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
