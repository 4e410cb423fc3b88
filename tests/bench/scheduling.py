"""Scheduling alone (contract 13): one subprocess a size, so that one run's memory does not help the next."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

SIZES: Final = ((100, 1_000), (1_000, 3_000), (5_000, 10_000))
"""(nodes, pods) of the runs."""

REAL_PODS_PER_SECOND: Final = {100: 5_662, 1_000: 671, 5_000: 193}
"""kube-scheduler v1.34.1's best on a 2-core machine: at 100 % of nodes scored, but for 100 nodes its default."""


def run() -> list[dict[str, Any]]:
    """Return one row a size: nodes, pods, podsPerSecond, p50Ms, p99Ms, timesReal."""
    rows: list[dict[str, Any]] = []
    for nodes, pods in SIZES:
        command = [sys.executable, "-m", "scheduler_core.bench", "--workload", "basic", "--nodes", str(nodes)]
        command += ["--pods", str(pods), "--percentage", "100", "--json"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        measured = json.loads(output.strip().splitlines()[-1])
        measured["timesReal"] = round(measured["podsPerSecond"] / REAL_PODS_PER_SECOND[nodes], 1)
        rows.append({"bench": "scheduling", "workload": "basic", "nodes": nodes, "pods": pods, **measured})
    return rows
