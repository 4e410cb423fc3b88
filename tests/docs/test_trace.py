"""docs/trace.md lists every step of a preemption, and the page can say each."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core.preemption.dry_run import CRITERIA
from scheduler_core.preemption.steps import StepName

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")


def test_every_step_of_a_preemption_is_explained() -> None:
    table = TEXT.split("| step | meaning |", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert [name.strip(" `") for cell in cells for name in cell.split(",")] == [step.value for step in StepName]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_has_words_for_every_step_and_every_criterion(language: str) -> None:
    words = (ROOT / "static" / "js" / "lib" / "text" / f"stage.{language}.js").read_text(encoding="utf-8")
    keys = [f"step.{step.value}" for step in StepName]
    keys += [f"criterion.{name}{part}" for name in CRITERIA for part in ("", ".best", ".why")]
    assert [key for key in keys if f'"{key}":' not in words] == []
