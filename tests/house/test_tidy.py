"""House rules that no linter knows, each with its reason."""

from __future__ import annotations

import re
import subprocess
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest
from grimp import build_graph

ROOT: Final = Path(__file__).resolve().parents[2]
LINES_A_HEAD_HOLDS: Final = 400
"""Longer files are named in a warning: most are two things. Cut one where it is two, not where it is long."""

TOP_LEVEL: Final = {
    "manage.py", "requirements.txt", "clustersim", "scheduler_core", "controllers", "templates", "static", "tests",
    "lessons", "README.md", "LICENSE", "Makefile", "pyproject.toml", "CHANGELOG.md", "CONTRIBUTING.md", "docs", ".ci",
    ".pre-commit-config.yaml", ".editorconfig", ".gitignore", "package.json", "package-lock.json", "jsconfig.json",
    "requirements.in", "requirements-dev.in", "requirements-dev.txt",
}  # fmt: skip


def tracked() -> list[Path]:
    """Return the files git tracks."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def sources() -> list[Path]:
    """Return the hand-written source files."""
    return [
        path for path in tracked() if path.suffix in {".py", ".js", ".css", ".html"} and "migrations" not in path.parts
    ]


def test_the_top_level_holds_only_the_agreed_files() -> None:
    found = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert found <= TOP_LEVEL, f"no room agreed for {sorted(found - TOP_LEVEL)}: see CONTRIBUTING, Where does it go?"
    assert {"manage.py", "requirements.txt", "clustersim", "scheduler_core", "controllers"} <= found


def long_files(files: Iterable[Path]) -> dict[str, int]:
    """Return the files that a head does not hold, and their lines."""
    counts = {str(path): len(path.read_text().splitlines()) for path in files}
    return {name: count for name, count in counts.items() if count > LINES_A_HEAD_HOLDS}


def test_long_files_are_named() -> None:
    """A habit, no limit: a hard one was met by cutting files into circles."""
    for name, count in sorted(long_files(sources()).items()):
        warnings.warn(f"{Path(name).relative_to(ROOT)} has {count} lines: is it two things?", stacklevel=1)


def test_a_long_file_is_seen(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("x\n" * LINES_A_HEAD_HOLDS)
    (tmp_path / "long.py").write_text("x\n" * (LINES_A_HEAD_HOLDS + 1))
    assert list(long_files(tmp_path.iterdir())) == [str(tmp_path / "long.py")]


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions and under TYPE_CHECKING count: who reads one module of a circle must read them all."""
    graph = build_graph("clustersim", "controllers", "scheduler_core")
    assert len(graph.modules) > 100
    assert circles({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}) == []


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [["a", "b", "c"]]


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other."""
    left = {module: set(imported) & imports.keys() for module, imported in imports.items()}
    # What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    while True:
        imported = set().union(*left.values())
        outside = {module for module, own in left.items() if not own or module not in imported}
        if not outside:
            break
        left = {module: own - outside for module, own in left.items() if module not in outside}
    groups: list[list[str]] = []
    while left:
        start = next(iter(left))
        group = reached(start, left) & {module for module in left if start in reached(module, left)} | {start}
        if len(group) > 1:
            groups.append(sorted(group))
        left = {module: own - group for module, own in left.items() if module not in group}
    return groups


def reached(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    """Return the modules that one reaches through imports."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for module in imports[waiting.pop()] - found:
            found.add(module)
            waiting.append(module)
    return found


@pytest.mark.parametrize(
    "pattern", [r"TODO|FIXME", r"NotImplementedError", r"pytest\.mark\.(skip|xfail)", r"\btime\.sleep\("]
)
def test_nothing_is_left_for_later(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert not found, f"{pattern} in {found}"


def test_no_third_party_javascript_is_copied_in() -> None:
    assert not [path for path in tracked() if path.suffix == ".js" and path.stat().st_size > 200_000]
