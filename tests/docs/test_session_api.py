"""docs/session-api.md and docs/protocol.md say what the code does: every route, every frame, every field list."""

from __future__ import annotations

import re
from pathlib import Path

from clustersim.live import socket
from clustersim.sessionapi import urls
from controllers.kinds.table import KINDS

DOCS = Path(__file__).parent.parent.parent / "docs"


def anonymous(path: str) -> str:
    """Return the path with all its variables alike."""
    return re.sub(r"<[^>]*>", "<>", path)


def served() -> set[tuple[str, str]]:
    found = set()
    for entry in urls.urlpatterns:
        if str(entry.pattern).startswith("^"):
            continue
        cells = [cell.cell_contents for cell in entry.callback.__closure__]
        table = next(content for content in cells if isinstance(content, dict))
        found |= {(method, anonymous(f"/api/{entry.pattern}")) for method in table}
    return found


def test_every_route_has_its_heading_and_every_heading_its_route() -> None:
    text = (DOCS / "session-api.md").read_text()
    headings = re.findall(r"^### `([A-Z]+) (/api/[^ `?]+)", text, re.MULTILINE)
    assert {(method, anonymous(path)) for method, path in headings} == served()


def test_every_close_code_is_written_down() -> None:
    text = (DOCS / "protocol.md").read_text()
    codes = {value for name, value in vars(socket).items() if isinstance(value, int) and 4400 <= value < 4500}
    assert codes
    assert all(str(code) in text for code in codes)


def test_every_field_list_is_written_down() -> None:
    text = (DOCS / "protocol.md").read_text()
    listed = set(re.findall(r"^\| `([a-z0-9.]+)` \|", text[text.index("## Slim") :], re.MULTILINE))
    assert listed == {kind.resource for kind in KINDS if kind.page}
