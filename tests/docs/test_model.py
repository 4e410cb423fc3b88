"""docs/model.md: its tables are made from code and from what the engine does; `--update-golden` writes them anew."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.model import affinity, filters, loop, placement
from scheduler_core.model.deviations import DEVIATIONS
from scheduler_core.model.live import evaluate
from scheduler_core.model.objects import Objects
from tests.model import test_gpu
from tests.model.clusters import node, pod

FILE = Path(__file__).parent.parent.parent / "docs" / "model.md"

DEFINITIONS: dict[str, Callable[..., Any]] = {
    "BoundTo": loop.bound_to,
    "Bound": loop.bound,
    "Unbound": loop.unbound,
    "Scheduler": loop.may_go,
    "CASE": loop.case,
    "SchedulingEnabled": loop.scheduling_enabled,
    "Scheduling": loop.viable,
    "PreemptionEnabled": loop.preemption_enabled,
    "Preemption": loop.least_casualties,
    "Jeopardy": loop.jeopardy,
    "Casualty": loop.casualty,
    "Feasibility": filters.feasibility,
    "1.1": filters.schedulability,
    "1.2": filters.resources,
    "1.3": filters.node_selector,
    "1.4": filters.taints,
    "1.4 Match": filters.match,
    "1.5 node": affinity.node_affinity,
    "1.5 Match_NS": affinity.match_term,
    "1.5 operators": affinity.match_requirement,
    "1.5 pod": affinity.pod_affinity,
    "1.5 anti": affinity.pod_anti_affinity,
    "1.5 P_Affinity": affinity.p_affinity,
    "2 Viability": affinity.viability,
    "placements": placement.possible,
    "feasible placements": placement.is_feasible,
    "viable placements": placement.viable_placements,
}
"""The document's name → the function."""


def definitions() -> str:
    rows = []
    for name, function in DEFINITIONS.items():
        module = inspect.getmodule(function)
        assert module is not None
        paragraphs = [" ".join(text.split()) for text in (inspect.getdoc(function) or "").split("\n\n")]
        said = next((text for text in paragraphs if re.search("[≝∀∃⟶]", text)), paragraphs[0])
        rows.append(f"| {name} | `{module.__name__.rpartition('.')[2]}.{function.__name__}` | {said} |\n")
    return "| document | function | says |\n|---|---|---|\n" + "".join(rows)


def deviations() -> str:
    head = "| deviation | in | the model | the engine | because | smallest example |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| `{one.name}` | {one.section} | {one.model} | {one.engine} | {one.why} | {one.example} |\n"
        for one in DEVIATIONS.values()
    )


TABLES = {"definitions": definitions, "deviations": deviations, "gpu": test_gpu.table}


@pytest.mark.parametrize("name", TABLES)
def test_the_table_is_what_the_code_says(name: str, pytestconfig: pytest.Config) -> None:
    text = FILE.read_text()
    section = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert section.search(text)
    wanted = section.sub(lambda found: found[1] + TABLES[name]() + found[2], text)
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(wanted)
    assert FILE.read_text() == wanted, "run pytest tests/docs/test_model.py --update-golden and review the difference"


def test_every_key_of_the_answers_is_told() -> None:
    text = FILE.read_text()
    one = pod("p")
    told = evaluate(one, Objects((one,), (node("n"),)))
    keys = {*told, *told["nodes"][0], *told["nodes"][0]["filters"][0], *told["nodes"][0]["preemption"]}
    assert not [key for key in keys if not re.search(rf"[`{{ ,]{key}[`}},: ]", text)]
