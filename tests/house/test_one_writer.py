"""The status of each command object is written by one module: who reads it needs to read no second one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from controllers.kinds.table import KINDS
from controllers.registry.kind import CLUSTERSIM_GROUP

ROOT: Final = Path(__file__).resolve().parents[2]
WRITERS: Final = {
    "clocks.clustersim.io": "controllers/clocktelling.py",
    "replicas.clustersim.io": "controllers/replicatelling.py",
    "flags.clustersim.io": "controllers/flagging.py",
    "schedulerconfigs.clustersim.io": "controllers/scheduler/telling.py",
    "queues.clustersim.io": "controllers/scheduler/reporting.py",
    "clients.clustersim.io": "controllers/proxy/component.py",
    "replays.clustersim.io": "controllers/replay/component.py",
    "polls.clustersim.io": "clustersim/sessionapi/polling.py",
    "lessons.clustersim.io": "controllers/lesson/driving.py",
}


def status_writes(source: str) -> Iterator[ast.expr]:
    """Yield the resource of every operation in a text that writes a status."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ("Patch", "Update"):
            given = [*call.args, *(one.value for one in call.keywords if one.arg == "subresource")]
            if any(isinstance(one, ast.Constant) and one.value == "status" for one in given):
                yield given[0]


def resource(expression: ast.expr, path: Path) -> Any:
    """Return the resource that an expression of a module means, None where it is no constant."""
    if isinstance(expression, ast.Constant):
        return expression.value
    if isinstance(expression, ast.Name):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        return getattr(import_module(module), expression.id, None)
    return None


def writers() -> dict[str, set[str]]:
    """Return the files that write the status of each resource."""
    found: dict[str, set[str]] = {}
    for room in ("controllers", "clustersim"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for expression in status_writes(path.read_text()):
                found.setdefault(resource(expression, path), set()).add(path.relative_to(ROOT).as_posix())
    return found


def test_one_module_writes_the_status_of_each_command_object() -> None:
    ours = [kind for kind in KINDS if kind.group == CLUSTERSIM_GROUP]
    commands = {kind.resource for kind in ours if kind.subresource("status") is not None}
    assert {name: files for name, files in writers().items() if name in commands} == {
        name: {file} for name, file in WRITERS.items() if name in commands
    }
    assert commands == set(WRITERS)


def test_a_second_writer_is_seen() -> None:
    source = """
Patch(A, "", "x", {}, "merge", "status")
Update(B, "", "x", {}, subresource="status")
Patch(C, "", "x", {})
"""
    assert [ast.unparse(one) for one in status_writes(source)] == ["A", "B"]
