"""What the components watch: lag while a watch is late or cut, 410 and the list after it, dead processes."""

from __future__ import annotations

from controllers.log.operations import Create, Patch
from tests.tools.lab import Document, Lab, node, pod

REPLICAS = "replicas.clustersim.io"
SCHEDULER = "kube-scheduler-0"


def lane(lab: Lab, name: str = SCHEDULER) -> Document:
    return next(one for one in lab.cluster.watches() if one["name"] == name)


def resource(lab: Lab, name: str, of: str = SCHEDULER) -> Document:
    return next(one for one in lane(lab, of)["resources"] if one["resource"] == name)


def fault(lab: Lab, number: int, **values: object) -> None:
    lab.ask(REPLICAS, SCHEDULER, {"fault": {"id": number, **values}})


def test_who_is_level_has_no_lag_and_counts_its_events() -> None:
    lab = Lab([node("n1"), node("n2")])
    lab.run(5)
    names = [one["name"] for one in lab.cluster.watches()]
    assert {"kube-controller-manager-0", SCHEDULER, "kubelet", "kube-apiserver", "kube-proxy"} == set(names)
    assert (lane(lab, "kubelet")["count"], lane(lab)["count"]) == (2, 1)
    before = resource(lab, "pods")["watchEvents"]
    lab.create(pod("web"))
    lab.run(5)
    told = lane(lab)
    assert (told["running"], told["connected"], told["lag"]) == (True, True, 0)
    assert (told["gones"], told["relistAtMs"]) == (0, None)
    pods = resource(lab, "pods")
    assert (pods["rows"], pods["lists"]) == (1, 1)
    assert pods["watchEvents"] > before
    assert resource(lab, "pods", "kubelet")["watchEvents"] > 0


def test_a_late_watch_lags_by_what_it_has_not_heard() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    fault(lab, 1, kind="slow-watch", seconds=30)
    lab.create(pod("late"))
    lab.run(5)
    assert (lane(lab)["lateMs"], resource(lab, "pods")["lag"]) == (30_000, 1)
    assert lane(lab)["lag"] >= 1
    assert lane(lab, "kubelet")["lag"] == 0, "the others hear it"
    lab.run(60)
    assert resource(lab, "pods")["lag"] == 0


def test_who_polls_is_due_to_list_and_was_told_no_410() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    assert lane(lab)["pollMs"] == 0
    lab.do(
        Create(
            "flags.clustersim.io",
            "",
            {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}},
        )
    )
    lab.do(Patch("flags.clustersim.io", "", "flags", {"spec": {"kube-scheduler": {"informers": "poll"}}}))
    lab.obey()
    lab.run(40)
    told = lane(lab)
    assert (told["pollMs"] > 0, told["gones"], told["relistAtMs"]) == (True, 0, None)
    assert resource(lab, "pods")["lists"] > 1
    assert lane(lab, "kubelet")["pollMs"] == 0


def test_a_dropped_watch_is_told_410_and_lists_again() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    fault(lab, 1, kind="drop-watch", seconds=10)
    lab.run(1)
    assert lane(lab)["connected"] is False
    lab.create(pod("missed"))
    lab.run(5)
    assert resource(lab, "pods")["lag"] == 1
    lab.run(4.2)
    told = lane(lab)
    assert told["gones"] == 1
    assert told["relistAtMs"] > lab.cluster.now_ms, "after a wait"
    lab.run(10)
    assert resource(lab, "pods")["lists"] == 2
    assert (lane(lab)["relistAtMs"], lane(lab)["lag"], lane(lab)["connected"]) == (None, 0, True)


def test_a_dead_process_watches_nothing_and_counts_anew_when_it_is_back() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    fault(lab, 1, kind="crash", seconds=5)
    lab.run(1)
    told = lane(lab)
    assert (told["running"], told["resources"]) == (False, [])
    lab.run(10)
    assert resource(lab, "pods")["lists"] == 1
