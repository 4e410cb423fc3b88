"""docs/flags.md lists every flag as the table in the code has it; `--update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from controllers.flags.flag import COMPONENTS
from controllers.flags.table import TABLE

FILE = Path(__file__).parent.parent.parent / "docs" / "flags.md"

HEAD = """# Flags

The components of a session run with flags, as upstream's do: names, formats and defaults are those of v1.34. Only flags
that change something here are known. This page is made from the tables in the code (`controllers/flags/`,
`pytest tests/docs/test_flags.py --update-golden`).

`GET /api/sessions/<code>/flags` tells what is in force, `PUT` changes it ([session-api.md](session-api.md)). What was
set is kept in the object `flags` of `flags.clustersim.io`, in the session's log: rewinding, forks and exports carry it.
A component that runs goes on with the new value at once, where upstream's is started anew; periods begin anew, and an
election's timing holds from a replica's next start on.

Durations are Go's (`1m30s`, `300ms`), of simulated time. In code, a component is handed the flags in force and reads
one when it needs the value: `setup.flags[controllermanager.NODE_MONITOR_PERIOD]`.
"""


def written() -> str:
    lines = [HEAD]
    for component in COMPONENTS:
        lines += [f"## {component}\n", "| flag | format | default | what it does |", "|---|---|---|---|"]
        for flag in TABLE:
            if flag.component == component:
                ours = " (Ours: upstream has no such flag.)" if flag.ours else ""
                lines.append(f"| `--{flag.name}` | {flag.format} | `{flag.text}` | {flag.does}{ours} |")
        lines.append("")
    return "\n".join(lines)


def test_the_page_lists_every_flag(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        FILE.write_text(written())
    assert FILE.read_text() == written()
