"""Whatever stands in the log of command objects: it stops nobody and moves no clock."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster
from controllers.log.operations import Create
from controllers.scheduler.decisions import find
from controllers.scheduler.past import Past
from tests.tools.lab import Lab, node, pod

CLOCKS, REPLICAS, QUEUES = "clocks.clustersim.io", "replicas.clustersim.io", "queues.clustersim.io"
SCHEDULER = "kube-scheduler-0"

CYCLE = {
    "pod": "default/a", "uid": "u", "attempt": 1, "point": "Filter", "startedAtMs": 3, "seenRevision": 5,
    "traceId": "u-1",
    "input": {
        "seenRevision": 5, "attempt": 1, "assumed": {}, "nominations": {}, "waiting": [], "start": 0, "order": [],
        "configuration": "c", "profile": "nobody", "nowMs": 3,
    },
}  # fmt: skip

STATUSES: list[tuple[str, str, Any]] = [
    (REPLICAS, SCHEDULER, {"cycle": "x"}),
    (REPLICAS, SCHEDULER, {"cycle": {"uid": 3}}),
    (REPLICAS, SCHEDULER, {"cycle": {**CYCLE, "input": {}}}),
    (REPLICAS, SCHEDULER, {"cycle": {**CYCLE, "input": {**CYCLE["input"], "assumed": [1]}}}),  # type: ignore[dict-item]
    (REPLICAS, SCHEDULER, {"cycle": CYCLE}),
    (REPLICAS, SCHEDULER, {"observedGeneration": "many", "faultId": {}, "fault": 7, "lease": "x", "verdict": []}),
    (REPLICAS, SCHEDULER, {"fault": {"kind": "explode"}, "state": 3, "leading": "yes"}),
    (REPLICAS, SCHEDULER, {"fault": {"id": 1, "kind": "rate"}, "clockRate": "fast"}),
    (REPLICAS, SCHEDULER, {"fault": {"id": 1, "kind": "partition", "untilMs": "never"}}),
    (REPLICAS, SCHEDULER, "broken"),
    (CLOCKS, "clock", {"simTimeMs": 999_999_999, "paused": False, "rate": 1}),
    (CLOCKS, "clock", {"rate": "fast", "pace": -4, "paused": "no", "stepId": "x", "observedGeneration": None}),
    (CLOCKS, "clock", {"rate": 0, "pace": 10**12}),
    (CLOCKS, "clock", [1]),
    (QUEUES, SCHEDULER, {"waiting": "x"}),
    (QUEUES, SCHEDULER, {"waiting": [{"uid": "u"}, 3, {"uid": "u", "node": "n", "plugins": [{"name": 1}]}]}),
    (QUEUES, SCHEDULER, 5),
]


@pytest.mark.parametrize(("resource", "name", "status"), STATUSES)
def test_a_new_owner_goes_on_and_time_stays_where_it_was(resource: str, name: str, status: Any) -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    lab.obey()
    stored = lab.store.get(resource, "", name)
    assert stored is not None
    with lab.store.transaction("somebody") as transaction:
        transaction.put(resource, "", name, {**stored.object, "status": status})
    before_ms = lab.cluster.now_ms
    assert find(Past(lab.store), "u-2") is None
    lab.cluster = Cluster(lab.store)
    lab.cluster.start()
    assert lab.cluster.now_ms - before_ms <= 1
    lab.obey()
    lab.create(pod("one"))
    lab.run(60)
    assert lab.get("pods", "one")["spec"].get("nodeName") == "n1"
    told = lab.get(CLOCKS, "clock", "")["status"]
    assert told["simTimeMs"] <= lab.cluster.now_ms
    assert (told["rate"], told["paused"]) == (1, False)
    assert lab.get(REPLICAS, SCHEDULER, "")["status"]["state"] == "Running"
    assert "cycle" not in lab.get(REPLICAS, SCHEDULER, "")["status"]


def test_a_replica_that_nobody_made_leads_nothing_and_stops_nobody() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    for spec in ({"component": "kube-magic"}, {}, {"component": "kube-scheduler", "fault": {"id": 1, "kind": "crash"}}):
        number = len(lab.list(REPLICAS))
        lab.do(Create(REPLICAS, "", {"metadata": {"name": f"ghost-{number}"}, "spec": spec}))
    lab.obey()
    lab.create(pod("one"))
    lab.run(5)
    assert lab.get("pods", "one")["spec"]["nodeName"] == "n1"
