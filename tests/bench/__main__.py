"""`make bench`: every number of docs/benchmarks.md, one JSON object a line, then a table."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from typing import Any


def _table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        values = ", ".join(f"{name} {value}" for name, value in row.items() if name != "bench")
        lines.append(f"| {row['bench']} | {values} |")
    return "\n".join(["| bench | result |", "|---|---|", *lines])


def main() -> int:
    """Run what the arguments name (scheduling, control-plane, browsers, decisions, past, takeup, …), or all."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    os.environ.setdefault("CLUSTERSIM_DATA", tempfile.mkdtemp(prefix="clustersim-bench-"))
    import django

    django.setup()
    from tests.bench import (
        browsers,
        checks,
        classroom,
        control_plane,
        copies,
        decisions,
        extender,
        homework,
        idle,
        imports,
        lists,
        memory,
        page,
        past,
        posts,
        scheduling,
        takeup,
        watches,
    )

    benches: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "scheduling": scheduling.run,
        "control-plane": control_plane.run,
        "checks": checks.run,
        "browsers": browsers.run,
        "page": page.run,
        "memory": memory.run,
        "decisions": decisions.run,
        "past": past.run,
        "takeup": takeup.run,
        "imports": imports.run,
        "lists": lists.run,
        "posts": posts.run,
        "watches": watches.run,
        "extender": extender.run,
        "idle": idle.run,
        "class": classroom.run,
        "copies": copies.run,
        "homework": homework.run,
    }
    chosen = sys.argv[1:] or list(benches)
    rows: list[dict[str, Any]] = []
    for name in chosen:
        for row in benches[name]():
            rows.append(row)
            print(json.dumps(row, ensure_ascii=False), flush=True)
    print(f"\n{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n\n{_table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
