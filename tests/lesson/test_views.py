"""What a step has the page show is there to be shown: tabs of the dock and of the inspector, scenes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "static" / "js"


def names(file: str, pattern: str) -> set[str]:
    """Return what a pattern finds in the page's scripts."""
    return set(re.findall(pattern, (SCRIPTS / file).read_text(encoding="utf-8")))


def listed(file: str, constant: str) -> set[str]:
    """Return the texts of a list that the page's scripts declare."""
    (inner,) = names(file, rf"const {constant} = (?:/\*.*?\*/ \()?\[([^\]]*)\]")
    return set(re.findall(r'"([a-z]*)"', inner))


KNOWN = {
    "dockTab": names("panels/dock-tabs.js", r'{ name: "([a-z]+)"'),
    "inspectorTab": listed("panels/inspector.js", "POD_TABS"),
    "scene": listed("state/presenting.js", "SCENES"),
    "select": set[str](),
}


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*/lesson.yaml")), ids=lambda path: str(path.parent.name))
def test_views_name_what_the_page_has(path: Path) -> None:
    package: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    for step in [*package["steps"], package["ticket"]]:
        for part in ("scene", "reveal"):
            for field, value in (step.get(part, {}).get("view") or {}).items():
                if field == "select":
                    assert re.fullmatch(r"[a-z.]+ [^ ]+", value), (step["id"], value)
                else:
                    assert value in KNOWN[field], (step["id"], field, value)
