"""docs/e2e-nodes.md lists the end-to-end tests of upstream's that ours do again, by the docstrings of ours."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
TESTS: Final = "tests/controllers/test_nodes_and_scheduling.py"
FILE: Final = ROOT / "docs" / "e2e-nodes.md"
HEAD: Final = f"""# Upstream's end-to-end tests of nodes and scheduling

Kubernetes' own end-to-end tests (v1.34, `test/e2e/node`, `common/node`, `scheduling`) that need no real container, and
the test of ours in `{TESTS}` that makes the same objects and changes and expects the same, in memory with simulated
kubelets. `pytest tests/docs/test_e2e_nodes.py --update-golden` writes this page. Not done again there: what asks for
verbs of the API alone (lists and collections of PodTemplates, LimitRanges, PriorityClasses, RuntimeClasses, Leases, pod
statuses), which `tests/apiserver` holds for every kind.

| upstream | ours |
|---|---|
"""


def page() -> str:
    rows: list[tuple[str, str]] = []
    for one in ast.parse((ROOT / TESTS).read_text()).body:
        if isinstance(one, ast.FunctionDef) and one.name.startswith("test_"):
            said = ast.get_docstring(one) or ""
            rows += [(line, one.name) for line in said.splitlines() if line.startswith("[sig-")]
    return HEAD + "".join(f"| {name} | `{test}` |\n" for name, test in sorted(rows))


def test_the_page_is_what_the_tests_say(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(page())
    assert FILE.read_text() == page(), (
        "run pytest tests/docs/test_e2e_nodes.py --update-golden and review the difference"
    )
