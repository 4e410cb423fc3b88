"""docs/preemption.md against the code: `--update-golden` writes its table of the list anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scheduler_core.legacy.unresolvable import FAILURES

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "preemption.md"
BLOCK = re.compile(r"(<!-- made: failures -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def failures_table() -> str:
    lines = ["| failure | predicate | reason | evicting pods |", "|---|---|---|---|"]
    for one in FAILURES:
        reason = "`Insufficient <resource>`, `Too many pods`" if one.error.startswith("Insuff") else f"`{one.reason}`"
        lines.append(f"| {one.error} | {one.predicate} | {reason} | {'may help' if one.helps else 'does not help'} |")
    return "\n".join(lines) + "\n"


def test_the_list_is_the_code_s(pytestconfig: pytest.Config) -> None:
    page = FILE.read_text(encoding="utf-8")
    fresh = BLOCK.sub(lambda block: block[1] + failures_table() + block[3], page)
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(fresh, encoding="utf-8")
    assert BLOCK.search(page)
    assert FILE.read_text(encoding="utf-8") == fresh


def test_every_scenario_it_names_is_there() -> None:
    named = re.findall(r"^\| `(preemption-[a-z-]+\.yaml)`", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    folder = ROOT / "clustersim" / "runtime" / "scenarios"
    assert sorted(named) == sorted(path.name for path in folder.glob("preemption-*.yaml"))
