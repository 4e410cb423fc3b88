"""The path that live decisions take answers recorded cases as kube-scheduler v1.34.1 did."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.framework.profile import PluginSet
from scheduler_core.oracle import listers_of
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.scheduler.replay import Seen, replay
from tests.conformance.comparer import differences

DATA = Path(__file__).parents[1] / "conformance" / "data"
# A sequence is many cycles; the replay of one cannot place its pods.
TOPICS = sorted({path.name.partition(".")[0] for path in DATA.glob("*.cases.jsonl.gz")} - {"sequence"})


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def decided(case: dict[str, Any]) -> dict[str, Any]:
    objects = case.get("objects") or {}
    pods = objects.get("pods") or []
    uid = case["pod"]["metadata"].get("uid") or "the-pod"
    preemptor = {**case["pod"], "metadata": {**case["pod"]["metadata"], "uid": uid}}
    configuration = read_configuration(case.get("config") or {})
    names = {profile.scheduler_name for profile in configuration.profiles}
    own = case["pod"]["spec"].get("schedulerName")
    hopes = {
        pod["metadata"].get("uid") or f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}": name
        for pod in pods
        if not pod["spec"].get("nodeName")
        and (name := (pod.get("status") or {}).get("nominatedNodeName"))
        and pod["spec"].get("schedulerName") in names
        and not pod["spec"].get("schedulingGates")
    }
    registry = in_tree_registry()
    profiles = tuple(
        replace(
            profile,
            sets={
                point: PluginSet(tuple(pair for pair in one.enabled if pair[0] in registry), one.disabled)
                for point, one in profile.sets.items()
            },
            percentage_of_nodes_to_score=None,
        )
        for profile in configuration.profiles
    )
    given = {
        "seenRevision": 1, "attempt": 1, "assumed": {}, "nominations": hopes, "waiting": [], "start": 0, "order": [],
        "configuration": "case", "profile": own if own in names else profiles[0].scheduler_name, "nowMs": 0,
    }  # fmt: skip
    listers = listers_of(objects)
    nodes = sorted(objects.get("nodes") or (), key=lambda one: one["metadata"]["name"])
    result, _ = replay(
        Seen.of(nodes, [*pods, preemptor]), uid, given, replace(configuration, profiles=profiles), registry,
        seed=1, listers=listers,
    )  # fmt: skip
    return json.loads(json.dumps(result))


@pytest.mark.parametrize("topic", TOPICS)
def test_live_decisions_agree_with_the_recording(topic: str) -> None:
    cases, recorded = lines(DATA / f"{topic}.cases.jsonl.gz"), lines(DATA / f"{topic}.expected.jsonl.gz")
    compared = 0
    for case, want in zip(cases, recorded, strict=True):
        # A pod that has a node exercises the NodeName filter in the recording; no live cycle ever gets one.
        if want["result"] in ("gated", "sequence") or case["pod"]["spec"].get("nodeName"):
            continue
        got = decided(case)
        if "firstFail" not in want and want["result"] == "error":
            # A trace tells what came before the error; the recording tells of every filter on every node.
            assert got["result"] == "error"
            assert got["fitError"] == want["fitError"]
            continue
        if "preemption" in got and "candidates" not in got["preemption"]:
            # Whether a pod may preempt is told without DefaultPreemption too, which the recording then says no to.
            got["preemption"]["eligible"] = want["preemption"].get("eligible", False)
        if want["result"] == "scheduled":
            assert got.pop("chosen") in want["best"]
            got.pop("lot", None)
        assert differences(want, {"id": case["id"], **got})[:3] == [], case["id"]
        compared += 1
    assert compared > 5
