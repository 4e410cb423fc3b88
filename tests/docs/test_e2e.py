"""docs/e2e.md names each of upstream's end-to-end tests that ours do again, and where."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.tools.upstream import DONE

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "docs" / "e2e.md"
HEAD: Final = """# Upstream's end-to-end tests

Kubernetes' own end-to-end tests of workloads, evictions, the garbage collector, namespaces, quotas and pods that
need no real container (`test/e2e`, v1.34), and the test of ours that asks the same of a session: same objects, same
changes in the same order, same things expected. They run in memory
with simulated kubelets (`pytest tests/upstream`), and all of them hold. What upstream tests by running a process of its
own (serving a page, reading a file) has no place here.

Kubernetes' own test binary runs against a session as it is ([how](e2e-api.md)). Of its tests of apps, node,
scheduling, network and storage that need no real container (170) all pass at rate 1 with no other flags.
*Multi-AZ Clusters* skips itself where nodes have no zones: label them first
(`kubectl label node n1 topology.kubernetes.io/zone=z1`).

| upstream: `[sig-apps]` … where no other is named | ours, in `tests/upstream/` |
|---|---|
"""


def page() -> str:
    for file in sorted((ROOT / "tests" / "upstream").glob("test_*.py")):
        import_module(f"tests.upstream.{file.stem}")
    return HEAD + "".join(f"| {name} | `{test}` |\n" for name, test in sorted(DONE.items()))


def test_the_page_is_what_the_tests_say(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(page())
    assert FILE.read_text() == page(), "run pytest tests/docs/test_e2e.py --update-golden and review the difference"
