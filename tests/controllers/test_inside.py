"""What a look inside the components shows: their start, what they know and how far behind, what an election costs."""

from __future__ import annotations

import re
from pathlib import Path

from controllers.inside import SAID
from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

SCRIPTS = Path(__file__).parent.parent.parent / "static" / "js"

FLAGS = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}}


def inside(lab: Lab, identity: str = "kube-scheduler-0") -> Document:
    return lab.cluster.insides()[identity]


def lister(lab: Lab, resource: str, identity: str = "kube-scheduler-0") -> Document:
    return next(one for one in inside(lab, identity)["listers"] if one["resource"] == resource and "mode" in one)


def named(lab: Lab, name: str) -> Document:
    return next(one for one in inside(lab)["listers"] if one["name"] == name)


def with_flags(lab: Lab, **components: dict[str, str]) -> None:
    spec = {name.replace("_", "-"): flags for name, flags in components.items()}
    if lab.store.get("flags.clustersim.io", "", "flags") is None:
        lab.create({**FLAGS, "spec": spec})
    else:
        lab.do(Patch("flags.clustersim.io", "", "flags", {"spec": spec}))
    lab.obey()


def test_every_component_has_a_trace_of_its_start() -> None:
    lab = Lab([node("n1")], replicas=2)
    lab.run(3)
    told = lab.cluster.insides()
    assert [one["name"] for one in told[""]["components"]] == ["kube-apiserver", "kubelet"]
    traces = [one["startup"] for one in told[""]["components"]]
    traces += [told[identity]["startup"] for identity in told if identity]
    assert len(traces) == 6
    for trace in traces:
        assert [one["step"] for one in trace] == ["flags", "configuration", "plugins", "serve", "caches", "lead"]
        times = [one["atMs"] for one in trace if one["atMs"] is not None]
        assert times == sorted(times)
    leader, follower = inside(lab)["startup"], inside(lab, "kube-scheduler-1")["startup"]
    assert leader[2]["detail"]["default-scheduler"][0] == "SchedulingGates"
    assert leader[5]["text"] == "leads by Lease kube-system/kube-scheduler"
    assert follower[5] == {
        "step": "lead",
        "atMs": None,
        "text": "follows: waits for kube-system/kube-scheduler",
        "key": "follows",
        "values": {"lock": "kube-system/kube-scheduler"},
        "detail": {},
    }
    assert "NamespaceLifecycle" in traces[0][2]["detail"]["admission"]
    assert "AlwaysDeny" not in traces[0][2]["detail"]["admission"]


def test_the_page_has_the_words_of_every_step_in_each_language() -> None:
    for language in ("en", "zh-hans"):
        words = (SCRIPTS / "lib" / "text" / f"architecture.{language}.js").read_text()
        assert [key for key in SAID if f'"arch.said.{key}":' not in words] == []
    assert set(re.findall(r"arch\.said\.(\w+)", (SCRIPTS / "architecture" / "component-parts.js").read_text())) == set(
        SAID
    )


def test_a_start_tells_the_flags_that_are_set_and_an_election_that_is_not_held() -> None:
    lab = Lab([node("n1")])
    with_flags(lab, kube_scheduler={"leader-elect": "false"})
    lab.run(3)
    steps = inside(lab)["startup"]
    assert steps[0]["detail"] == {"leader-elect": False}
    assert steps[5]["text"] == "leader-elect is false: acts at once"


def test_what_the_scheduler_knows() -> None:
    lab = Lab([node("n1"), pod("placed")])
    lab.run(3)
    lab.create(pod("waits", nodeSelector={"no": "node"}))
    lab.run(1)
    assert lister(lab, "nodes")["name"] == "nodeLister"
    assert lister(lab, "nodes")["rows"] == 1
    assert (lister(lab, "pods")["rows"], lister(lab, "pods")["lag"]) == (2, 0)
    assert named(lab, "scheduledPodLister")["rows"] == 1
    assert (named(lab, "podLister")["rows"], named(lab, "podLister")["assumed"]) == (1, 0)
    assert named(lab, "podQueue")["rows"] == 0


def test_a_cut_watch_shows_its_lag() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    lab.ask("replicas.clustersim.io", "kube-scheduler-0", {"fault": {"id": 1, "kind": "partition", "seconds": 5}})
    lab.create(pod("one"), pod("two"))
    lab.run(1)
    assert lister(lab, "pods")["rows"] == 0
    assert lister(lab, "pods")["lag"] == 2
    lab.run(20)
    assert (lister(lab, "pods")["rows"], lister(lab, "pods")["lag"]) == (2, 0)


def test_polling_asks_for_lists_again_and_again_where_a_watch_asks_once() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    resources = sum(1 for one in inside(lab)["listers"] if "mode" in one)
    watching = inside(lab)["requests"]
    assert (watching["mode"], watching["lists"], watching["watches"]) == ("watch", resources, resources)
    lab.run(60)
    assert inside(lab)["requests"]["lists"] == resources

    with_flags(lab, kube_scheduler={"informers": "poll", "poll-period": "10s"})
    lab.run(25)
    polling = inside(lab)["requests"]
    # All but the session's own configuration object are polled, twice in 25 seconds.
    assert (polling["mode"], polling["lists"], polling["watches"]) == (
        "poll",
        resources + 2 * (resources - 1),
        resources,
    )
    assert lister(lab, "nodes")["mode"] == "poll"

    with_flags(lab, kube_scheduler={"informers": "watch", "poll-period": "10s"})
    lab.run(60)
    again = inside(lab)["requests"]
    assert (again["mode"], again["lists"]) == ("watch", resources + 3 * (resources - 1))
    assert again["watches"] == 2 * resources - 1


def test_a_scheduler_that_polls_sees_a_pod_at_its_next_list() -> None:
    lab = Lab([node("n1")])
    with_flags(lab, kube_scheduler={"informers": "poll"})
    lab.run(2)
    lab.create(pod("late"))
    lab.run(5)
    assert "nodeName" not in lab.get("pods", "late")["spec"]
    assert lister(lab, "pods")["lag"] == 1
    lab.run(5)
    assert lab.get("pods", "late")["spec"]["nodeName"] == "n1"
    made = next(row for row in lab.rows() if row.resource == "pods" and row.name == "late")
    (trace,) = lab.store.traces(made.uid, 10)
    bound = next(row for row in lab.rows() if row.resource == "pods" and row.object["spec"].get("nodeName"))
    assert made.revision <= trace[0]["seenRevision"] < bound.revision


def test_a_renewal_is_heard_by_whoever_watches_the_kind_of_the_lock() -> None:
    lab = Lab([node(f"n{number}") for number in range(1, 6)], replicas=2)
    lab.run(21)
    lease = inside(lab)["election"]
    assert lease["lock"]["kind"] == "Lease"
    assert lease["renewals"] == 10
    assert lease["branches"] == {"create": 1, "renew-optimistic": 10}
    assert not [one for one in lease["listeners"] if one["who"] == "kube-proxy"]
    assert lease["watchEvents"] == 10 * lease["watchEventsPerRenewal"]
    held = inside(lab, "kube-scheduler-1")["election"]
    assert set(held["branches"]) == {"held"}

    with_flags(lab, kube_scheduler={"leader-elect-resource-lock": "endpoints"})
    lab.run(30)
    leader = next(one for one in ("kube-scheduler-0", "kube-scheduler-1") if inside(lab, one)["election"]["renewals"])
    endpoints = inside(lab, leader)["election"]
    assert endpoints["lock"]["resources"] == ["endpoints"]
    proxies = [one["count"] for one in endpoints["listeners"] if one["who"] == "kube-proxy"]
    assert proxies == [5]
    assert endpoints["watchEventsPerRenewal"] > lease["watchEventsPerRenewal"]


def test_a_leader_that_cannot_renew_is_ill_only_after_its_lease_and_a_while() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    assert inside(lab)["healthy"]
    lab.ask("replicas.clustersim.io", "kube-scheduler-0", {"fault": {"id": 1, "kind": "crash"}})
    lab.run(1)
    assert "kube-scheduler-0" not in lab.cluster.insides()


def test_what_is_done_at_the_moment_is_told_by_keys_beside_its_english() -> None:
    lab = Lab([node("n1"), pod("placed")])
    lab.run(3)
    assert inside(lab)["threads"] == [
        {"text": "scheduling cycle: waits for a pod", "key": "cycleWaits", "values": {}},
        {"text": "binding cycles: 0 under way", "key": "bindings", "values": {"n": 0}},
    ]
