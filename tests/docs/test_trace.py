"""docs/trace.md lists every step of a preemption."""

from __future__ import annotations

from pathlib import Path

from scheduler_core.preemption.steps import StepName

TEXT = (Path(__file__).parents[2] / "docs" / "trace.md").read_text(encoding="utf-8")


def test_every_step_of_a_preemption_is_explained() -> None:
    table = TEXT.split("| step | meaning |", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert [name.strip(" `") for cell in cells for name in cell.split(",")] == [step.value for step in StepName]
