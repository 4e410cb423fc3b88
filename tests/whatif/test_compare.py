"""Two schedulers on one input: alike they decide alike, and where they differ every pod says where and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from controllers.log.memory import MemoryStore
from controllers.registry.context import SESSION
from controllers.scheduler.past import Past
from controllers.scheduler.settings import DEFAULT_SPEC, Settings
from controllers.whatif.changes import read_changes
from controllers.whatif.compare.comparing import NODES_MAX, PODS_MAX, check, compare
from controllers.whatif.compare.inputs import Given, Size, present, with_arrivals
from controllers.whatif.compare.sides import spec_of_side
from scheduler_core.api.errors import ApiError
from scheduler_core.framework.runtime import Framework

Document = dict[str, Any]

PACKING = {
    "scheduler": {
        "configuration": {
            "profiles": [
                {
                    "pluginConfig": [
                        {
                            "name": "NodeResourcesFit",
                            "args": {
                                "scoringStrategy": {
                                    "type": "MostAllocated",
                                    "resources": [{"name": "cpu", "weight": 1}],
                                }
                            },
                        }
                    ]
                }
            ]
        }
    }
}


def node(name: str, cpu: str = "4", zone: str = "") -> tuple[str, Document]:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, **({"topology.kubernetes.io/zone": zone} if zone else {})}
    metadata = {"name": name, "uid": name, "labels": labels}
    return "nodes", {"metadata": metadata, "spec": {}, "status": {"capacity": amounts, "allocatable": amounts}}


def pod(name: str, cpu: str = "1", on: str = "", **spec: Any) -> tuple[str, Document]:
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    placed = {"nodeName": on} if on else {}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": name.split("-")[0]}}
    return "pods", {
        "metadata": metadata,
        "spec": {"schedulerName": "default-scheduler", "priority": 0, "containers": [container], **placed, **spec},
        "status": {"phase": "Running" if on else "Pending"},
    }


def session(*objects: tuple[str, Document]) -> MemoryStore:
    store = MemoryStore(seed=5)
    with store.transaction(SESSION) as transaction:
        namespaces = [{"metadata": {"name": name, "uid": name}} for name in ("default", "kube-system")]
        for resource, document in [*(("namespaces", one) for one in namespaces), *objects]:
            metadata = document["metadata"]
            transaction.put(resource, metadata.get("namespace", ""), metadata["name"], document)
    return store


def side(*changes: Document, spec: Document | None = None) -> Document:
    return spec_of_side(spec or dict(DEFAULT_SPEC), None, read_changes(list(changes)) if changes else [], "b")


def told(given: Given, *changes: Document, seed: int = 5) -> Document:
    check(given)
    return compare(given, [side(), side(*changes)], seed=seed)


def where(answer: Document, name: str) -> dict[str, str | None]:
    return {row["pod"].removeprefix("default/"): row[name]["node"] for row in answer["rows"]}


ROOMY = [node("n1"), node("n2"), node("n3")]
FOUR = [pod(f"web-{number}") for number in range(4)]


def test_the_same_scheduler_on_both_sides_decides_the_same() -> None:
    past = Past(session(*ROOMY, *FOUR, pod("held", on="n1")))
    revision = past.store.revision
    answer = told(present(past, anew=False))
    assert (answer["pods"], answer["elsewhere"]) == (4, 0)
    assert where(answer, "a") == where(answer, "b")
    assert all(where(answer, "a").values())
    assert answer["sums"][0] == answer["sums"][1]
    assert [row["why"] for row in answer["rows"]] == [None] * 4
    assert past.store.revision == revision
    assert told(present(past, anew=False)) == answer
    assert any(where(told(present(past, anew=False), seed=seed), "a") != where(answer, "a") for seed in range(6, 16))


def test_packing_and_spreading_differ_by_pod_and_in_sum() -> None:
    answer = told(present(Past(session(*ROOMY, *FOUR)), anew=False), PACKING)
    assert sorted(count for row in answer["nodes"] for count in [row["pods"][1]]) == [0, 0, 4]
    assert sorted(count for row in answer["nodes"] for count in [row["pods"][0]]) == [1, 1, 2]
    spread, packed = answer["sums"]
    assert (spread["spread"], packed["spread"]) == (
        {"skew": 1, "group": "web", "over": "nodes"},
        {"skew": 4, "group": "web", "over": "nodes"},
    )
    assert (spread["placed"], packed["placed"], spread["evicted"]) == (4, 4, 0)
    moved = [row for row in answer["rows"] if row["a"]["node"] != row["b"]["node"]]
    assert len(moved) == answer["elsewhere"] > 0
    scored = [row for row in moved if row["why"]["kind"] == "score"]
    assert scored
    assert {row["why"]["plugin"] for row in scored} == {"NodeResourcesFit"}
    for row in scored:
        assert row["points"][1] > row["points"][0]
        assert row["why"]["by"] > 0


def test_fragments_count_what_a_pod_of_the_middle_size_cannot_use() -> None:
    objects = [*ROOMY, *(pod(f"web-{number}", "1500m") for number in range(3))]
    spread, packed = told(present(Past(session(*objects)), anew=False), PACKING)["sums"]
    # 2.5 cores are left on each node, or 1, 2.5 and 4: one pod of 1.5 on each, or none, one and two.
    assert spread["room"] == {"size": {"cpu": 1500, "memory": 0}, "fits": 3, "cpuFree": 7500, "stranded": 0.4}
    assert (packed["room"]["fits"], packed["room"]["cpuFree"]) == (3, 7500)


def test_all_pods_anew_leave_their_nodes_but_a_static_pod_stays() -> None:
    resource, static = pod("static", on="n3")
    static["metadata"]["ownerReferences"] = [{"kind": "Node", "name": "n3", "uid": "n3", "apiVersion": "v1"}]
    store = session(*ROOMY, *(pod(f"web-{number}", on="n1") for number in range(4)), (resource, static), *FOUR[:0])
    given = present(Past(store), anew=True)
    assert given.played == {f"web-{number}" for number in range(4)}
    answer = told(given)
    assert {"n1", "n2"} <= set(where(answer, "a").values())
    assert answer["sums"][0]["placed"] == 4
    with pytest.raises(ApiError) as refused:
        check(present(Past(store), anew=False))
    assert [cause.field for cause in refused.value.causes] == ["input"]


def test_a_pod_that_one_side_cannot_place_has_upstreams_words() -> None:
    objects = [node("n1", "2"), pod("web-1", "1"), pod("big-1", "4")]
    answer = told(present(Past(session(*objects)), anew=False), {"disable": "NodeResourcesFit"})
    row = next(row for row in answer["rows"] if row["pod"] == "default/big-1")
    assert (row["a"], row["b"]["node"]) == ({"node": None, "waited": None, "evicted": False}, "n1")
    assert (row["why"]["kind"], row["why"]["side"]) == ("none", "a")
    assert row["why"]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert [one["placed"] for one in answer["sums"]] == [1, 2]
    assert [one["waited"]["half"] is None for one in answer["sums"]] == [True, False]


def test_preemption_on_one_side_is_counted() -> None:
    objects = [node("n1", "2"), pod("old-1", "2", on="n1"), pod("web-1", "2", priority=9)]
    answer = told(present(Past(session(*objects)), anew=False), {"disable": "DefaultPreemption"})
    first, second = answer["sums"]
    assert (first["placed"], first["evicted"], second["placed"], second["evicted"]) == (1, 1, 0, 0)
    (row,) = answer["rows"]
    assert (row["a"]["node"], row["b"]["node"]) == ("n1", None)
    assert (row["a"]["evicted"], row["b"]["evicted"]) == (False, False)
    assert (row["why"]["kind"], row["why"]["side"]) == ("none", "b")


def test_the_last_arrivals_come_again_at_their_times() -> None:
    store = session(*ROOMY, pod("held", "3", on="n1"))
    coming = [(at_ms, pod(name, cpu)[1]) for at_ms, name, cpu in ((0, "web-1", "2"), (5_000, "web-2", "9"), (7_000, "web-3", "1"))]  # fmt: skip  # noqa: E501
    answer = told(with_arrivals(Past(store), coming), PACKING)
    assert [row["pod"] for row in answer["rows"]] == ["default/web-1", "default/web-2", "default/web-3"]
    assert [row["a"]["node"] is None for row in answer["rows"]] == [False, True, False]
    assert answer["rows"][2]["a"]["waited"] < 1
    assert answer["sums"][0]["simTime"] >= 7
    assert answer["sums"][0]["atRest"]


def test_a_side_whose_time_is_over_ends_where_it_is_and_says_so() -> None:
    past = Past(session(*ROOMY, *FOUR))
    sides = iter([lambda: False, lambda: True])
    answer = compare(present(past, anew=False), [side(), side()], seed=5, go_on=lambda: next(sides))
    assert [(one["placed"], one["atRest"]) for one in answer["sums"]] == [(0, False), (4, True)]


def given_of(pods: int, nodes: int) -> Given:
    played = frozenset(map(str, range(pods)))
    return Given([("nodes", {})] * nodes, [], played, {}, 0, 0, Size(0, 0))


@pytest.mark.parametrize(("pods", "nodes"), [(0, 1), (PODS_MAX + 1, 1), (1, NODES_MAX + 1)])
def test_an_input_that_is_empty_or_too_large_is_refused(pods: int, nodes: int) -> None:
    check(given_of(PODS_MAX, NODES_MAX))
    with pytest.raises(ApiError) as refused:
        check(given_of(pods, nodes))
    assert (refused.value.code, refused.value.causes[0].field) == (422, "input")


# -- sides ------------------------------------------------------------------------------------------


def profile_of(spec: Document) -> Any:
    settings = Settings.of(spec)
    return [Framework(one, settings.registry()).profile for one in settings.configuration.profiles]


WRITTEN = {
    "era": "v1.34",
    "configuration": {
        "profiles": [
            {"schedulerName": "one", "plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 7}]}}},
            {"schedulerName": "two", "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}},
        ]
    },
}


@pytest.mark.parametrize("spec", [{"era": "v1.34"}, WRITTEN, {"era": "framework-1.18"}])
def test_a_changed_weight_is_written_where_the_era_reads_it(spec: Document) -> None:
    before, after = profile_of(spec), profile_of(side({"weight": {"plugin": "ImageLocality", "weight": 3}}, spec=spec))
    for one, other in zip(before, after, strict=True):
        assert other.weights == {**one.weights, "ImageLocality": 3}
        assert {point: set(names) for point, names in other.plugins.items()} == {
            point: set(names) for point, names in one.plugins.items()
        }
    none = profile_of(side({"weight": {"plugin": "ImageLocality", "weight": 0}}, spec=spec))
    for one, other in zip(before, none, strict=True):
        assert other.weights == {name: weight for name, weight in one.weights.items() if name != "ImageLocality"}


@pytest.mark.parametrize("spec", [{"era": "v1.34"}, WRITTEN, {"era": "framework-1.18"}])
@pytest.mark.parametrize("plugin", ["NodeAffinity", "TaintToleration", "ImageLocality"])
def test_a_plugin_left_out_runs_at_no_point(spec: Document, plugin: str) -> None:
    before, after = profile_of(spec), profile_of(side({"disable": plugin}, spec=spec))
    for one, other in zip(before, after, strict=True):
        assert {point: names for point, names in other.plugins.items() if names} == {
            point: kept
            for point, names in one.plugins.items()
            if (kept := tuple(name for name in names if name != plugin))
        }


CASES: list[tuple[Document | None, list[Document], str]] = [
    (None, [{"request": {"cpu": "1"}}], "b[0]"),
    (None, [{"weight": {"plugin": "ImageLocality", "weight": 2}}, {"disable": "Nothing"}], "b[1].disable"),
    ({"era": "round-robin"}, [{"disable": "NodeName"}], "b[0].disable"),
    (None, [{"disable": "PrioritySort"}], "b[0].configuration.profiles[0]"),
    (None, [{"scheduler": {"configuration": {"profils": []}}}], "b[0].scheduler.configuration.profils"),
    (None, [{"scheduler": {"configuration": {"extenders": [{"urlPrefix": "http://x", "filterVerb": "f"}]}}}], "b"),
]


@pytest.mark.parametrize(("spec", "changes", "field"), CASES)
def test_what_a_side_cannot_run_says_where(spec: Document | None, changes: list[Document], field: str) -> None:
    refused: Callable[[], Document] = lambda: side(*changes, spec=spec)  # noqa: E731
    with pytest.raises(ApiError) as caught:
        refused()
    assert caught.value.code == 422
    assert [cause.field for cause in caught.value.causes] == [field]
