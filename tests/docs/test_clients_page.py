"""What docs/clients.md shows stands in the tests of the clients, at the versions that are pinned."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text()
TESTS = "\n".join(path.read_text() for path in sorted((ROOT / "tests" / "clients").iterdir()) if path.is_file())


def test_every_line_of_a_snippet_is_run_by_a_test() -> None:
    blocks = re.findall(r"```(?:python|js)\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    # What a result is called is the reader's own.
    missing = [
        line for block in blocks for line in block.splitlines() if line.strip().rpartition(" = ")[2] not in TESTS
    ]
    assert missing == []


def test_the_versions_are_the_pinned_ones() -> None:
    rows = dict(re.findall(r"^\| (\S+)(?: \(Python\))? \| ([\d., ]+) \|", PAGE, re.MULTILINE))
    pinned = dict(re.findall(r"^(\S+)==(\d+\.\d+)", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE))
    for name in ("kubernetes", "lightkube", "kr8s", "kopf"):
        assert rows[name] == pinned[name]
    package = json.loads((ROOT / "package.json").read_text())["devDependencies"]["@kubernetes/client-node"]
    assert package.startswith(rows["@kubernetes/client-node"] + ".")
