"""Installed packages as an installer lays them down: a folder of modules and a dist-info that names entry points."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path

from clustersim.plugins import GROUP

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "plugin"


def install(folder: Path, distribution: str, version: str, points: Mapping[str, str]) -> Path:
    """Lay down a package's dist-info with entry points of plugins, and return it."""
    info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
    return info


def install_example(folder: Path) -> Path:
    """Lay down the dist-info of docs/examples/plugin, as its pyproject.toml has it; its modules are in `src` there."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    return install(folder, project["name"], project["version"], project["entry-points"][GROUP])


def points_in(folder: Path) -> list[EntryPoint]:
    """Return the entry points of all packages laid down in a folder."""
    found = sorted(folder.glob("*.dist-info"))
    return [point for one in found for point in PathDistribution(one).entry_points if point.group == GROUP]
