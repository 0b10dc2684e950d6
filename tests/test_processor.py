"""Number formats that a processor cannot compute: tried in a child process, said in one sentence, never the end of ours."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
import torch

from isogloss.errors import IsoglossError
from isogloss.models import processor

DIES = "import os, signal, sys\nif sys.argv[2] in {}:\n    os.kill(os.getpid(), signal.SIGILL)\nprint({})\n"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without verdicts, and oneDNN as it was."""
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    monkeypatch.setattr(torch.backends.mkldnn, "set_flags", lambda enabled: None)
    return tmp_path


def test_a_format_that_ends_the_child_is_computed_without_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "TRIAL", DIES.format('("plain",)', 1.5))
    assert processor.prepare("bfloat16") == (
        "bfloat16 was computed without oneDNN, because a trial with it ended with SIGILL on this processor",
    )


def test_a_format_that_always_ends_the_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "TRIAL", DIES.format("sys.argv", 1.5))
    with pytest.raises(IsoglossError) as caught:
        processor.prepare("bfloat16")
    assert str(caught.value) == (
        "This processor cannot compute in bfloat16: a trial ended with SIGILL. Use `dtype='float32'` instead."
    )


def test_a_format_that_is_far_slower_is_announced(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(processor, "TRIAL", DIES.format("()", 200))
    with caplog.at_level(logging.WARNING):
        assert processor.prepare("float16") == ()
    assert "On this processor float16 is about 200 times slower than float32." in caplog.text


def test_the_trial_runs_once_for_each_processor(monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    monkeypatch.setattr(processor, "TRIAL", DIES.format("()", 1))
    assert processor.judge("bfloat16") == processor.FormatSupport("plain", 1.0)
    monkeypatch.setattr(processor, "TRIAL", "raise SystemExit(1)")
    assert processor.judge("bfloat16") == processor.FormatSupport("plain", 1.0)
    assert len(json.loads((clean / "processors.json").read_text(encoding="utf-8"))) == 1


@pytest.mark.parametrize("broken", ["", "[]", '{"a": 1}', "\x00"])
def test_a_broken_file_of_verdicts_is_replaced(broken: str, monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    monkeypatch.setattr(processor, "TRIAL", DIES.format("()", 1))
    (clean / "processors.json").write_text(broken, encoding="utf-8")
    assert processor.judge("bfloat16").way == "plain"


def test_float32_and_other_devices_need_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "TRIAL", "raise SystemExit(1)")
    assert processor.prepare("float32") == processor.prepare("bfloat16", device="cuda") == ()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_real_trial_finds_a_way_on_this_machine(dtype: str) -> None:
    verdict = processor.judge(dtype)
    assert verdict.way in ("plain", "without-onednn")
    assert verdict.slower > 0
