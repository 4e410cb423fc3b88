"""`python -m scheduler_core.bench --workload basic --nodes 5000 --pods 10000 [--percentage 100] [--json]`."""

from __future__ import annotations

import argparse
import json
import sys
from time import perf_counter_ns, process_time_ns

from scheduler_core.bench.run import WorkloadError, run
from scheduler_core.bench.workloads import WORKLOADS
from scheduler_core.kernels.collecting import collect_rarely


def main() -> int:
    """Run one workload and print what it took; 2 when it cannot be run as asked."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_core.bench", description="Time scheduling cycles alone.")
    parser.add_argument("--workload", required=True, choices=sorted(WORKLOADS))
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("--percentage", type=int, default=100, help="percentageOfNodesToScore; 0: adaptive")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a line of text")
    given = parser.parse_args()
    # As the worker's process does.
    collect_rarely()
    try:
        done = run(
            given.workload, given.nodes, given.pods, perf_counter_ns, process_time_ns, percentage=given.percentage
        )
    except WorkloadError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    result = done.as_dict()
    if given.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['workload']}: {result['nodes']} nodes, {result['scheduled']} of {result['pods']} pods, "
            f"{result['podsPerSecond']} pods/s, p50 {result['p50Ms']} ms, p99 {result['p99Ms']} ms, "
            f"{result['cpuMsPerPod']} ms of processor time a pod"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
