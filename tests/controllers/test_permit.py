"""Permit in a running session: pods wait, a person's verdict or the clock ends the wait, and it survives its owner."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Delete, Patch
from controllers.rerun import first_difference, rerun
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.status import Code, Status
from scheduler_core.snapshot.node_info import PodInfo
from tests.tools.lab import Lab, node, pod

REPLICAS = "replicas.clustersim.io"
SCHEDULER = "kube-scheduler-0"


def _spec(**arguments: Any) -> dict[str, Any]:
    plugins = {"permit": {"enabled": [{"name": "ManualApproval"}]}}
    config = [{"name": "ManualApproval", "args": arguments}]
    return {"era": "v1.34", "configuration": {"profiles": [{"plugins": plugins, "pluginConfig": config}]}}


def _lab(**arguments: Any) -> Lab:
    lab = Lab([node("n1")])
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": _spec(**arguments)}))
    lab.run(3)
    return lab


def _held(lab: Lab) -> list[dict[str, Any]]:
    return list((lab.get("queues.clustersim.io", SCHEDULER, "").get("status") or {}).get("waiting") or [])


def _verdict(lab: Lab, verdict: str, uid: str, *, number: int = 1, **fields: str) -> str:
    # A merge keeps what it does not name, so the verdict before is overwritten field by field.
    asked = {"id": number, "uid": uid, "verdict": verdict, "plugin": "", "message": "", **fields}
    told = lab.ask(REPLICAS, SCHEDULER, {"verdict": asked})["verdict"]
    assert (told["id"], told["uid"]) == (number, uid)
    return str(told["outcome"])


def _node_of(lab: Lab, name: str = "web") -> str:
    return str(lab.get("pods", name)["spec"].get("nodeName") or "")


def _uid(lab: Lab, name: str = "web") -> str:
    return str(lab.get("pods", name)["metadata"]["uid"])


def _messages(lab: Lab) -> list[str]:
    return [event["message"] for event in lab.list("events") if event["reason"] == "FailedScheduling"]


def test_a_pod_waits_for_approval_with_the_plugins_timer_and_goes_on_when_allowed() -> None:
    lab = _lab(timeoutSeconds=30)
    lab.create(pod("web"))
    lab.run(2)
    (held,) = _held(lab)
    assert (held["pod"], held["uid"], held["node"]) == ("default/web", _uid(lab), "n1")
    ((name, until_ms),) = [tuple(one.values()) for one in held["plugins"]]
    assert name == "ManualApproval"
    assert lab.cluster.now_ms + 27_000 < until_ms <= lab.cluster.now_ms + 30_000
    assert _node_of(lab) == ""
    assert _verdict(lab, "allow", _uid(lab)) == "allowed"
    lab.run(1)
    assert (_node_of(lab), _held(lab)) == ("n1", [])


def test_a_rejected_pod_says_why_and_gives_its_room_back() -> None:
    lab = _lab(podSelector={"matchLabels": {"ask": "yes"}})
    large = pod("web", cpu="4")
    large["metadata"]["labels"] = {"ask": "yes"}
    lab.create(large, pod("next", cpu="3"))
    lab.run(2)
    assert _node_of(lab, "next") == ""
    assert _verdict(lab, "reject", _uid(lab), message="not today") == "rejected"
    lab.run(20)
    assert "0/1 nodes are available: 1 not today." in _messages(lab)
    assert (_node_of(lab), _node_of(lab, "next")) == ("", "n1")
    (waiting,) = lab.get("queues.clustersim.io", SCHEDULER, "")["status"]["unschedulable"]
    assert (waiting["pod"], waiting["plugins"]) == ("default/web", ["ManualApproval"])


def test_nobody_says_anything_and_the_timer_rejects() -> None:
    lab = _lab(timeoutSeconds=5)
    lab.create(pod("web"))
    lab.run(9)
    text = "rejected due to timeout after waiting 5s at plugin ManualApproval"
    assert _messages(lab) == [f"0/1 nodes are available: 1 {text}."]
    assert _verdict(lab, "allow", _uid(lab)) == "gone"


def test_while_time_stands_a_verdict_is_obeyed_too() -> None:
    lab = _lab()
    lab.create(pod("web"))
    lab.run(2)
    lab.ask("clocks.clustersim.io", "clock", {"paused": True})
    now_ms = lab.cluster.now_ms
    assert _verdict(lab, "allow", _uid(lab)) == "allowed"
    assert (_node_of(lab), lab.cluster.now_ms) == ("n1", now_ms)


class Second:
    """Permit plugin of an installed package: everybody waits."""

    name: ClassVar[str] = "Second"

    def permit(self, state: CycleState, one: PodInfo, node_name: str) -> tuple[Status, int]:
        return Status(Code.WAIT), 90_000


def test_every_plugin_that_holds_the_pod_must_allow_it() -> None:
    plugins = PluginRegistry({"Second": lambda arguments, handle: Second()})
    store = MemoryStore(seed=1, plugins=plugins)
    found(store, [*initial_objects(), node("n1")])
    lab = Lab(store=store)
    enabled = [{"name": "ManualApproval"}, {"name": "Second"}]
    spec = {"era": "v1.34", "configuration": {"profiles": [{"plugins": {"permit": {"enabled": enabled}}}]}}
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
    lab.run(3)
    lab.create(pod("one"), pod("two"), pod("all"))
    lab.run(2)
    holds = {held["pod"]: [plugin["name"] for plugin in held["plugins"]] for held in _held(lab)}
    assert holds["default/one"] == ["ManualApproval", "Second"]
    assert _verdict(lab, "allow", _uid(lab, "one"), plugin="Second") == "waits"
    assert _verdict(lab, "allow", _uid(lab, "one"), number=2, plugin="Second") == "gone"
    lab.run(1)
    (left,) = [held for held in _held(lab) if held["pod"] == "default/one"]
    assert [plugin["name"] for plugin in left["plugins"]] == ["ManualApproval"]
    assert _verdict(lab, "allow", _uid(lab, "one"), number=3, plugin="ManualApproval") == "allowed"
    assert _verdict(lab, "reject", _uid(lab, "two"), number=4, plugin="Second", message="no") == "rejected"
    assert _verdict(lab, "allow", _uid(lab, "all"), number=5) == "allowed"
    lab.run(1)
    assert {name: _node_of(lab, name) for name in ("one", "two", "all")} == {"one": "n1", "two": "", "all": "n1"}


@pytest.mark.parametrize(("uid", "plugin"), [("nobody", ""), ("", "Other")])
def test_a_verdict_on_nothing_changes_nothing(uid: str, plugin: str) -> None:
    lab = _lab()
    lab.create(pod("web"))
    lab.run(2)
    assert _verdict(lab, "reject", uid or _uid(lab), plugin=plugin) == "gone"
    lab.run(1)
    assert len(_held(lab)) == 1


def test_a_deleted_pod_is_rejected_and_its_room_is_free() -> None:
    lab = _lab(namespaces=["default"])
    lab.create(pod("web", cpu="4"))
    lab.run(2)
    lab.create(pod("other", namespace="kube-system", cpu="4"))
    lab.run(1)
    lab.do(Delete("pods", "default", "web", grace_period_seconds=0))
    lab.run(15)
    assert _held(lab) == []
    assert lab.get("pods", "other", "kube-system")["spec"].get("nodeName") == "n1"


def test_a_new_owner_takes_up_the_wait_and_obeys_a_verdict() -> None:
    lab = _lab(timeoutSeconds=60)
    lab.create(pod("web"))
    lab.run(2)
    before = _held(lab)
    lab.cluster = Cluster(lab.store)
    lab.cluster.start()
    lab.run(1)
    assert _held(lab) == before
    assert _verdict(lab, "allow", _uid(lab)) == "allowed"
    lab.run(1)
    assert _node_of(lab) == "n1"


def test_a_second_run_from_the_log_obeys_the_verdict_at_the_same_place() -> None:
    lab = _lab()
    lab.create(pod("web"), pod("other"))
    lab.run(2)
    _verdict(lab, "allow", _uid(lab))
    lab.run(1)
    _verdict(lab, "reject", _uid(lab, "other"), number=2, message="no")
    lab.run(5)
    rows = lab.rows()
    again = rerun(rows, seed=1, epoch_ms=lab.store.epoch_ms)
    assert first_difference(rows, list(again.events(0, 1_000_000))) == ""


def _gang(name: str, cpu: str) -> dict[str, Any]:
    one = pod(name, cpu=cpu)
    group = "pod-group.scheduling.sigs.k8s.io"
    one["metadata"]["labels"] = {f"{group}/name": "train", f"{group}/min-available": "3"}
    return one


def test_a_group_holds_room_until_its_time_is_up_and_gives_all_of_it_back() -> None:
    lab = Lab([node("n1"), node("n2")])
    enabled = {"enabled": [{"name": "Coscheduling"}]}
    config = [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 30}}]
    profile = {"plugins": {"permit": enabled, "reserve": enabled}, "pluginConfig": config}
    spec = {"era": "v1.34", "configuration": {"profiles": [profile]}}
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
    lab.run(3)
    lab.create(_gang("g0", "2500m"), _gang("g1", "2500m"), _gang("g2", "2500m"))
    lab.run(1)
    assert [one["pod"] for one in _held(lab)] == ["default/g0", "default/g1"]
    lab.create(pod("mine", cpu="2"))
    lab.run(20)
    assert [_node_of(lab, name) for name in ("g0", "g1", "g2", "mine")] == ["", "", "", ""], "held room is not free"
    lab.run(12)
    assert _node_of(lab, "mine") != ""
    assert any("rejected due to timeout after waiting 30s at plugin Coscheduling" in text for text in _messages(lab))
    lab.do(Delete("pods", "default", "mine", grace_period_seconds=0))
    lab.create(node("n3"))
    lab.run(60)
    assert all(_node_of(lab, name) for name in ("g0", "g1", "g2")), "three places at once: all of them go"
