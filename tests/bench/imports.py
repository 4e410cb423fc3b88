"""Many large files brought in at once, and what others notice: over HTTP, on a whole installation.

Twenty clients open a session from a file of 3.6 MB each, those who are sent away do not come again. Meanwhile a pod of
another session is read over and over.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any, Final

from tests.tools.server import child_pids, running
from tests.tools.session import Session

FILES: Final = 20
FILE_BYTES: Final = 3_600_000
PAIRS: Final = ", ".join(f"k{number}: v" for number in range(120))


def _file() -> str:
    """Return a manifest of about FILE_BYTES."""
    one = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c%d}}\ndata: {{{PAIRS}}}\n"
    return "---\n".join(one % number for number in range(FILE_BYTES // len(one)))


def _resident_mb(pid: int) -> int:
    """Return the memory of a process (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) // 1024


def run() -> list[dict[str, Any]]:
    """Return one row: what became of the files, milliseconds of another session's reads, the web process's memory."""
    text = _file()
    with running() as server:
        web = next(pid for pid, command in child_pids(server.process.pid).items() if "web" in command)
        other = Session(server)
        other.create_pod("mine")
        path = f"/clusters/{other.code}/api/v1/namespaces/default/pods/mine"
        before_mb = _resident_mb(web)
        waits: list[float] = []
        with ThreadPoolExecutor(FILES) as crowd:
            asked = {"title": "x", "template": "import", "manifest": text}
            under_way = [crowd.submit(server.request, "POST", "/api/sessions", asked) for _ in range(FILES)]
            while not all(one.done() for one in under_way):
                began = perf_counter()
                other.call("GET", path)
                waits.append((perf_counter() - began) * 1000)
        statuses = Counter(one.result()[0] for one in under_way)
        cuts = quantiles(waits, n=100)
        row = {"bench": "imports", "files": FILES, "megabytes": round(len(text) / 1e6, 1)}
        row |= {str(status): count for status, count in sorted(statuses.items())}
        row |= {"reads": len(waits), "readP50Ms": round(cuts[49]), "readP99Ms": round(cuts[98])}
        return [row | {"webMegabytes": f"{before_mb} → {_resident_mb(web)}"}]
