"""docs/plugins.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.defaults import DEFAULT_ORDER, IN_TREE, default_configuration, in_tree_registry

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_every_plugin_has_its_heading_and_no_other_has() -> None:
    headings = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(IN_TREE)


def test_the_table_is_the_default_profile() -> None:
    rows = re.findall(r"^\| ([A-Z]\w+) \| ?(\d*) ?\| ([\w, ]+) \|$", PAGE, re.MULTILINE)
    assert [(name, int(weight or 0)) for name, weight, _ in rows] == list(DEFAULT_ORDER)
    profile = Framework(default_configuration(), in_tree_registry()).profile
    at = {
        name: [point[0].upper() + point[1:] for point, names in profile.plugins.items() if name in names]
        for name in IN_TREE
    }
    assert {name: points.split(", ") for name, _, points in rows} == at
