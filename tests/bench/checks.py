"""What validation, managed fields and admission cost together: created → bound with them and without, by turns.

Without them a body is stored as it comes: no schema is asked, no rule, no plugin, and nobody's fields are kept. Nothing
else differs, so the share of the processor's time is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from controllers.admission.table import CHAIN
from controllers.kinds.table import KINDS
from controllers.registry import metadata as metadata_rules
from controllers.registry import reading
from controllers.registry.checking import Report
from controllers.registry.write import Write
from tests.bench.control_plane import NODES, PODS, created

ROUNDS: Final = 3


def _none(*_: object, **__: object) -> list[Any]:
    return []


@contextmanager
def unchecked() -> Iterator[None]:
    """Take nothing amiss meanwhile."""
    with ExitStack() as stack:
        for kind in KINDS:
            before = {name: getattr(kind, name) for name in ("validate", "validate_new", "validate_update", "check")}
            for name, rule in before.items():
                # Kinds are frozen for everybody but this bench.
                stack.callback(object.__setattr__, kind, name, rule)
                object.__setattr__(kind, name, None if name == "check" else _none)
        stack.enter_context(patch.object(reading, "check", lambda *_, **__: Report()))
        stack.enter_context(patch.object(metadata_rules, "validate", _none))
        stack.enter_context(patch.object(metadata_rules, "validate_change", _none))
        stack.enter_context(patch.object(CHAIN, "plugins", ()))
        stack.enter_context(patch.object(CHAIN, "_chosen", {}))
        stack.enter_context(patch.object(Write, "_own", lambda *_: None))
        yield


def run() -> list[dict[str, Any]]:
    """Return one row: processor milliseconds a pod with and without the checks, the least of three runs each."""
    with_them: list[float] = []
    without: list[float] = []
    for _ in range(ROUNDS):
        with_them.append(created("sqlite"))
        with unchecked():
            without.append(created("sqlite"))
    most, least = min(with_them), min(without)
    shared = {"bench": "checks", "database": "sqlite", "nodes": NODES, "pods": PODS}
    spent = {"cpuMsPerPod": round(most, 3), "uncheckedCpuMsPerPod": round(least, 3)}
    return [{**shared, **spent, "percentOfThroughput": round(100 * (1 - least / most), 1)}]
