"""The page's table of kinds says what the server's table of kinds says, of every kind that it shows."""

from __future__ import annotations

import re
from pathlib import Path

from controllers.kinds.table import KINDS

PAGE = Path(__file__).resolve().parents[2] / "static" / "js" / "lib" / "kinds.js"
LINE = re.compile(r'^  define\("(\w+)", "([\w./]+)", "(\w+)", (true|false), \[([^\]]*)\]\),$', re.MULTILINE)

Row = tuple[str, str, str, bool, tuple[str, ...]]


def on_the_page() -> set[Row]:
    """Return kind, apiVersion, plural, whether it is namespaced, and short names, as lib/kinds.js has them."""
    return {
        (kind, api_version, plural, namespaced == "true", tuple(re.findall(r'"(\w+)"', short)))
        for kind, api_version, plural, namespaced, short in LINE.findall(PAGE.read_text(encoding="utf-8"))
    }


def test_what_the_page_knows_of_kinds_is_what_the_server_serves() -> None:
    rows: dict[str, Row] = {
        kind.kind: (kind.kind, kind.api_version, kind.plural, kind.namespaced, kind.short_names) for kind in KINDS
    }
    assert len(on_the_page()) > 20
    assert on_the_page() - set(rows.values()) == set(), "lib/kinds.js says otherwise than controllers/kinds"
    shown = {rows[kind.kind] for kind in KINDS if kind.page}
    assert shown - on_the_page() == set(), "the page gets more than metadata of these: add a line to lib/kinds.js"
