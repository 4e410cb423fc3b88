from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import pytest

from scheduler_core.bench.run import WorkloadError, run
from scheduler_core.bench.workloads import APPS, WORKLOADS, ZONES, node


def ticking(step_ns: int) -> Callable[[], int]:
    """Return a clock that goes on by the same step at every look."""
    now = 0

    def timer() -> int:
        nonlocal now
        now += step_ns
        return now

    return timer


def test_counts_time_and_pods() -> None:
    result = run("basic", 10, 20, ticking(1_000_000), ticking(500_000)).as_dict()
    assert result == {
        "workload": "basic",
        "nodes": 10,
        "pods": 20,
        "percentage": 100,
        "podsPerSecond": 1000.0,
        "scheduled": 20,
        "seconds": 0.02,
        "p50Ms": 1.0,
        "p99Ms": 1.0,
        "cpuMsPerPod": 0.5,
    }


@pytest.mark.parametrize(
    ("workload", "percentage"),
    [
        ("basic", 100),
        ("basic", 0),
        ("basic", 30),
        ("spread", 100),
        ("spread", 0),
        ("antiaffinity", 100),
        ("antiaffinity", 30),
        ("mixed", 100),
        ("mixed", 0),
        ("mixed", 30),
        ("preemption", 100),
        ("preemption", 0),
    ],
)
def test_places_every_pod_where_the_slow_path_does(workload: str, percentage: int) -> None:
    pods = 125 if workload == "preemption" else 300
    fast = run(workload, 130, pods, ticking(1), ticking(1), percentage=percentage)
    slow = run(workload, 130, pods, ticking(1), ticking(1), percentage=percentage, reuse=False)
    assert fast.chosen == slow.chosen
    assert len(set(fast.chosen)) > 100


def test_spread_pods_fill_zones_evenly_and_hosts_one_by_one() -> None:
    chosen = run("spread", 12, 24, ticking(1), ticking(1)).chosen
    for end in range(len(chosen) + 1):
        zones = Counter(int(name.removeprefix("node-")) % ZONES for name in chosen[:end])
        assert max(zones.values(), default=0) - min(zones[zone] for zone in range(ZONES)) <= 1
    assert set(Counter(chosen).values()) == {2}


def test_pods_that_shun_each_other_share_no_host_while_one_is_free() -> None:
    chosen = run("antiaffinity", 10, 20, ticking(1), ticking(1)).chosen
    assert len(set(chosen[:10])) == 10
    assert set(Counter(chosen).values()) == {2}


def test_pods_that_find_no_room_are_counted_as_such() -> None:
    # Two nodes hold four pods of 900m each: a pod of 3 cpu takes the place of three of them, once a node.
    result = run("preemption", 2, 5, ticking(1), ticking(1))
    assert sorted(filter(None, result.chosen)) == ["node-0", "node-1"]
    assert result.as_dict()["scheduled"] == 2


def test_mixed_pods_are_of_fifty_apps_and_each_asks_for_something_else() -> None:
    pods = [WORKLOADS["mixed"].pod(number) for number in range(4 * APPS)]
    assert Counter(pod["metadata"]["labels"]["app"] for pod in pods) == {f"app-{number}": 4 for number in range(APPS)}
    asked = [pod["spec"]["containers"][0]["resources"]["requests"] for pod in pods]
    assert asked[:2] == [{"cpu": "50m", "memory": "100Mi"}, {"cpu": "60m", "memory": "125Mi"}]
    assert len({(one["cpu"], one["memory"]) for one in asked}) == len(pods)
    wishes = [sorted(pod["spec"].keys() & {"affinity", "topologySpreadConstraints"}) for pod in pods]
    assert wishes == [[], ["topologySpreadConstraints"], ["affinity"], ["affinity"]] * APPS


def test_mixed_pods_that_must_be_in_two_zones_are_there_and_prefer_one() -> None:
    chosen = run("mixed", 12, 48, ticking(1), ticking(1)).chosen[3::4]
    assert {int(name.removeprefix("node-")) % ZONES for name in chosen} <= {0, 1}
    assert "" not in chosen


def test_nodes_are_dealt_into_zones() -> None:
    zones = [node(number)["metadata"]["labels"]["topology.kubernetes.io/zone"] for number in range(2 * ZONES)]
    assert zones == ["zone-0", "zone-1", "zone-2"] * 2


@pytest.mark.parametrize(("workload", "nodes", "pods"), [("odd", 1, 1), ("basic", 0, 1), ("basic", 1, 0)])
def test_what_cannot_be_run_is_refused(workload: str, nodes: int, pods: int) -> None:
    with pytest.raises(WorkloadError):
        run(workload, nodes, pods, ticking(1), ticking(1))


def test_the_command_prints_one_json_object() -> None:
    command = [
        sys.executable,
        "-m",
        "scheduler_core.bench",
        "--workload",
        "basic",
        "--nodes",
        "5",
        "--pods",
        "7",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert (result["nodes"], result["scheduled"], result["percentage"]) == (5, 7, 100)
    assert result["podsPerSecond"] > 0
