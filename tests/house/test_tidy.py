"""House rules that no linter knows, each with its reason."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
LINES_MAX: Final = 420
"""Lines a source file may have before nobody holds it in the head; past it, it is two things."""

TOP_LEVEL: Final = {
    "manage.py", "requirements.txt", "clustersim", "scheduler_core", "controllers", "templates", "static", "tests",
    "README.md", "LICENSE", "Makefile", "pyproject.toml", "CHANGELOG.md", "CONTRIBUTING.md", "docs", ".ci",
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


def test_no_source_file_is_longer_than_a_head_holds() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources()
        if (count := len(path.read_text().splitlines())) > LINES_MAX
    }
    assert not long, f"split these: {long}"


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
