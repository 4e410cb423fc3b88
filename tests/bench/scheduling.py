"""Scheduling alone (contract 13): one subprocess a size, so that one run's memory does not help the next."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

RUNS: Final = (
    ("basic", 1_000, 3_000, 100, 671),
    ("basic", 5_000, 10_000, 100, 193),
    ("basic", 5_000, 10_000, 0, 990),
    ("spread", 1_000, 2_000, 100, 445),
    ("antiaffinity", 1_000, 1_000, 100, 218),
    ("preemption", 500, 500, 100, 760),
    ("mixed", 1_000, 1_000, 100, 161),
    ("mixed", 1_000, 1_000, 0, 306),
    ("mixed", 5_000, 2_000, 100, 38),
    ("mixed", 5_000, 2_000, 0, 176),
)
"""(workload, nodes, pods, percentageOfNodesToScore, kube-scheduler v1.34.1's best pods/s on a 2-core machine there).

Those of the mixed workload are one run on a slower machine, where basic gave 247, 45 and 397 in the order above.
"""


def run() -> list[dict[str, Any]]:
    """Return one row a workload and size: podsPerSecond, p50Ms, p99Ms, cpuMsPerPod, timesReal."""
    rows: list[dict[str, Any]] = []
    for workload, nodes, pods, percentage, real in RUNS:
        command = [sys.executable, "-m", "scheduler_core.bench", "--workload", workload, "--nodes", str(nodes)]
        command += ["--pods", str(pods), "--percentage", str(percentage), "--json"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        measured = json.loads(output.strip().splitlines()[-1])
        rows.append({"bench": "scheduling", **measured, "timesReal": round(measured["podsPerSecond"] / real, 1)})
    return rows
