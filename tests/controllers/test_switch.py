"""Another scheduler in a running session: who says so, and that a second run from the log says the same."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Patch
from controllers.rerun import first_difference, rerun
from tests.tools.lab import Lab, node, pod

CONFIGS = "schedulerconfigs.clustersim.io"
ROUND_ROBIN = {"era": "round-robin"}
CURRENT = {"era": "v1.34"}


def _ask(lab: Lab, spec: dict[str, Any]) -> None:
    lab.do(Patch(CONFIGS, "", "default", [{"op": "add", "path": "/spec", "value": spec}], "json"))
    lab.obey()


def _status(lab: Lab) -> dict[str, Any]:
    document = lab.get(CONFIGS, "default", "")
    status = dict(document["status"])
    assert status["observedGeneration"] == document["metadata"]["generation"]
    return status


def _again(lab: Lab) -> str:
    rows = lab.rows()
    return first_difference(rows, list(rerun(rows, seed=1, epoch_ms=lab.store.epoch_ms).events(0, 1_000_000)))


def _lab() -> Lab:
    lab = Lab([node("n1"), node("n2")])
    lab.run(3)
    return lab


def test_the_leader_says_what_it_runs_from_the_next_cycle_on() -> None:
    lab = _lab()
    lab.create(pod("one"))
    lab.run(1)
    _ask(lab, ROUND_ROBIN)
    lab.run(1)
    assert (_status(lab)["era"], _status(lab)["profiles"][0]["order"][3]["plugins"]) == ("round-robin", ["NodeLister"])
    lab.create(pod("two"))
    lab.run(1)
    assert lab.get("pods", "two")["spec"]["nodeName"]
    _ask(lab, CURRENT)
    lab.run(1)
    assert _status(lab)["era"] == "v1.34"
    assert _again(lab) == ""


def test_while_time_stands_the_owner_says_it_and_the_next_cycle_runs_it() -> None:
    lab = _lab()
    lab.ask("clocks.clustersim.io", "clock", {"paused": True})
    _ask(lab, ROUND_ROBIN)
    assert _status(lab)["era"] == "round-robin"
    lab.create(pod("one"))
    lab.ask("clocks.clustersim.io", "clock", {"paused": False})
    lab.run(2)
    (trace,) = lab.store.traces(lab.get("pods", "one")["metadata"]["uid"])
    assert trace[0]["era"] == "round-robin"


def test_where_no_scheduler_leads_the_owner_says_it_and_the_next_leader_runs_it() -> None:
    lab = _lab()
    lab.ask("replicas.clustersim.io", "kube-scheduler-0", {"fault": {"id": 1, "kind": "crash"}})
    _ask(lab, ROUND_ROBIN)
    assert _status(lab)["era"] == "round-robin"
    lab.create(pod("one"))
    lab.ask("replicas.clustersim.io", "kube-scheduler-0", {"fault": {"id": 2, "kind": "recover"}})
    lab.run(40)
    (trace,) = lab.store.traces(lab.get("pods", "one")["metadata"]["uid"])
    assert trace[0]["era"] == "round-robin"


@pytest.mark.parametrize("spec", [ROUND_ROBIN, {"era": "algorithm-provider"}, {"era": "framework-1.18"}])
def test_pods_that_wait_survive_every_change_of_era(spec: dict[str, Any]) -> None:
    lab = _lab()
    lab.create(pod("large", cpu="3"), pod("larger", cpu="3"), pod("third", cpu="3"))
    lab.run(2)
    waiting = [name for name in ("large", "larger", "third") if not lab.get("pods", name)["spec"].get("nodeName")]
    assert len(waiting) == 1
    for asked in (spec, CURRENT, spec, CURRENT):
        _ask(lab, asked)
        lab.run(3)
    lab.create(node("n3"))
    lab.run(70)
    assert all(lab.get("pods", name)["spec"].get("nodeName") for name in ("large", "larger", "third"))
