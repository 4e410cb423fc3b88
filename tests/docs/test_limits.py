"""docs/limits.md lists every limit of the packages that people reach; it is made from the constants' own docstrings.

`--update-golden` writes it anew.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGES = {
    "clustersim.environment": "Settings",
    "clustersim.documents": "YAML",
    "clustersim.bodies": "Bodies of requests",
    "clustersim.answering": "Threads that answer",
    "clustersim.classroom": "People, files, templates",
    "clustersim.sessionapi": "The session API",
    "clustersim.live": "Websockets",
    "clustersim.feed": "The feed of the log",
    "clustersim.store": "The store",
    "clustersim.runtime": "Workers and the supervisor",
    "clustersim.apiserver": "The Kubernetes API",
    "controllers.kubelet.keeping": "Files in containers",
    "controllers.kubelet.logs": "Logs of containers",
    "controllers.kubelet.shell": "The shell that answers in containers",
    "scheduler_core.legacy": "Earlier schedulers",
    "scheduler_core.cel": "Expressions",
    "scheduler_core.expressions": "Expressions of API objects",
    "scheduler_core.model": "The formal model",
    "scheduler_core.extender": "Extenders",
    "controllers.scheduler": "The scheduler in a session",
    "controllers.registry": "Documents",
    "controllers.custom": "Kinds that a session defines",
    "controllers.kinds": "Kinds",
    "controllers.loop": "The loop",
    "controllers.kit": "Controllers",
    "controllers.proxy": "Proxies and clients",
    "controllers.lesson": "Lessons",
}
NAME = re.compile(r".*(_MAX|_MIN|_MS|_SECONDS|_SECOND|_BURST|_BYTES|_PER_PERSON|_PER_STUDENT|_THREADS|_QUOTA)|GROUP")
HEAD = """# Limits

Every limit, its value, and what happens at it. The page is made from the constants in the code
(`pytest tests/docs/test_limits.py --update-golden`); change a limit there.
"""


def limits_of(package: str) -> Iterator[tuple[str, str, str]]:
    """Yield (module.NAME, value, what happens at it) of a module, or of a package's modules."""
    room = ROOT / package.replace(".", "/")
    for file in [room.with_suffix(".py")] if not room.is_dir() else sorted(room.rglob("*.py")):
        module = importlib.import_module(
            ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        body = ast.parse(file.read_text()).body
        for statement, after in pairwise([*body, ast.Pass()]):
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            name = statement.target.id
            value = getattr(module, name, None)
            is_rate = type(value).__name__ == "Rate"
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if said and not isinstance(value, str) and (is_rate or NAME.fullmatch(name)):
                text = f"{value.burst:,} at once, then {value.per_second:g} a second" if is_rate else shown(value)
                yield f"{file.stem}.{name}", text, " ".join(str(after.value.value).split())  # type: ignore[attr-defined]


def shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {amount}" for name, amount in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def page() -> str:
    parts = [HEAD]
    for package, title in PACKAGES.items():
        parts.append(f"\n## {title}\n\n`{package}`\n\n| limit | value | meaning |\n|---|---|---|\n")
        parts += [f"| `{name}` | {value} | {meaning} |\n" for name, value, meaning in limits_of(package)]
    return "".join(parts)


def test_the_page_lists_every_limit(pytestconfig: pytest.Config) -> None:
    file = ROOT / "docs" / "limits.md"
    if pytestconfig.getoption("--update-golden"):
        file.write_text(page())
    assert file.read_text() == page(), "run pytest tests/docs/test_limits.py --update-golden and review the difference"
