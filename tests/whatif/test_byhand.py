"""A round by hand: the workload is the seed's, the filters are the engine's, and who stops early has placed fewer."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.store import ADDED, DELETED
from controllers.scheduler.past import Past
from controllers.whatif.compare import byhand
from scheduler_core.snapshot.node_info import PodInfo
from tests.tools.lab import Lab, node


def names(pods: list[dict[str, Any]]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def test_a_seed_says_what_the_workload_is() -> None:
    past = Past(Lab([node("a"), node("b")]).store)
    first, again, other = (byhand.workload(past, seed, 1, ()) for seed in (1, 1, 2))
    assert first == again != other
    assert byhand.workload(past, 1, 2, ()) != first
    asked = sum(PodInfo.of(pod | {"status": {}}).requests["cpu"] for pod in first)
    assert 5_000 <= asked <= 8_000, "it fills what is free, and no more"
    assert names(byhand.workload(past, 1, 3, (), 2)) == ["hand-3-01", "hand-3-02"]


def test_pods_are_dealt_to_queues_in_turn() -> None:
    past = Past(Lab([node("a")]).store)
    dealt = [pod["metadata"]["labels"].get(byhand.QUEUE) for pod in byhand.workload(past, 1, 1, ("mei", "tom"), 5)]
    assert dealt == ["mei", "tom", "mei", "tom", "mei"]


def test_a_full_cluster_still_has_a_round() -> None:
    past = Past(Lab([node("a", cpu="100m")]).store)
    assert len(byhand.workload(past, 1, 1, ())) == byhand.PODS_MIN


@pytest.mark.parametrize(
    ("scheduler", "label", "number"),
    [("by-hand", "3", 3), ("by-hand", "x", 0), ("by-hand", "9" * 7, 0), ("default-scheduler", "3", 0)],
)
def test_whose_round_a_pod_is_of(scheduler: str, label: str, number: int) -> None:
    spec = {"schedulerName": scheduler, "containers": []}
    pod = {"metadata": {"name": "p", "labels": {byhand.GAME: label}}, "spec": spec}
    assert byhand.round_of(PodInfo.of(pod)) == number


def test_every_filter_that_forbids_says_so_with_its_amounts() -> None:
    small = node("small", cpu="500m")
    small["spec"] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    lab = Lab([small, node("large")])
    made = byhand.workload(Past(lab.store), 1, 1, (), 1)[0]
    made["spec"] |= {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    made["spec"].pop("priorityClassName", None)
    lab.create(made)
    past = Past(lab.store)
    pod = next(info for info in past.pods if info.pod.name == "hand-1-01")
    refused = byhand.refused_there(past, pod, "small")
    assert [one["plugin"] for one in refused] == ["TaintToleration", "NodeResourcesFit"]
    assert byhand.in_words(refused[1]) == "Insufficient cpu (cpu: asks 1, free are 500m)"
    assert byhand.in_words(refused[0]) == "node(s) had untolerated taint {gpu: }"
    assert byhand.refused_there(past, pod, "large") == []
    with pytest.raises(LookupError):
        byhand.refused_there(past, pod, "nowhere")


def test_what_people_made_of_it_is_read_from_the_rows() -> None:
    lab = Lab([node("a")])
    for pod in byhand.workload(Past(lab.store), 1, 1, (), 3):
        pod["spec"].pop("priorityClassName", None)
        lab.create(pod)
    past = Past(lab.store)
    given = byhand.given_of(past, 1)
    uids = sorted(given.played)
    assert len(uids) == 3
    assert {document["spec"]["schedulerName"] for resource, document in given.objects if resource == "pods"} == {
        "default-scheduler"
    }
    bound = {"spec": {"nodeName": "a"}}
    rows = [
        byhand.Row(uids[0], ADDED, 5, 1_000, {"spec": {}}),
        byhand.Row(uids[0], "MODIFIED", 6, 3_000, bound),
        byhand.Row(uids[0], "MODIFIED", 7, 9_000, bound),
        byhand.Row(uids[1], "MODIFIED", 8, 4_000, bound),
        byhand.Row(uids[1], DELETED, 9, 5_000, bound),
        byhand.Row(uids[2], DELETED, 10, 6_000, {"spec": {}}),
        byhand.Row("somebody", "MODIFIED", 11, 6_000, bound),
    ]
    played = byhand.played_by_hand(past, given, rows, 1_000)
    assert played.bound == {uids[0]: ("a", 2_000), uids[1]: ("a", 3_000)}
    assert list(played.evicted) == [uids[1]]
