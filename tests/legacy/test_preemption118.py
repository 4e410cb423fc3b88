"""Preemption outside the framework: only a FitError triggers it, and the scheduler waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.asks import Ask, DeletePod, PatchPodStatus, RecordEvent, Reply, Spawn
from scheduler_core.framework.metrics import PREEMPTION_ATTEMPTS, PREEMPTION_VICTIMS, Metrics
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.legacy.preemption118 import split
from scheduler_core.preemption.budgets import budgets_of
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from tests.legacy.era118 import era_scheduler
from tests.scheduler.kit import Hand, node, pod

EARLY, LATE = "2030-01-01T00:00:00Z", "2030-01-01T06:00:00Z"


class Budgets:
    """Listers of a cluster that has budgets."""

    def __init__(self, *documents: dict[str, Any]) -> None:
        self._documents = documents

    def list(self, resource: str) -> Any:
        return self._documents if resource == "poddisruptionbudgets.policy" else ()

    def get(self, resource: str, namespace: str, name: str) -> None:
        return None


def done(ask: Ask) -> Reply:
    return Reply()


def attempt(core: Scheduler, replies: Any = done) -> tuple[Run, Hand]:
    hand = Hand(core)
    run = hand.attempt(replies)
    assert run is not None
    return run, hand


def steps(run: Run) -> list[str]:
    return [step["step"] for step in run.post_filter.detail.told()]


def full(*extra: PodInfo, boss: PodInfo | None = None, core: Scheduler | None = None) -> Scheduler:
    core = core or era_scheduler()
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("go", "2", on="a"))
    for info in extra:
        core.observe_pod(info)
    core.observe_pod(boss or pod("boss", "2", priority=9))
    return core


DECIDED = ["triggered", "readAfresh", "potentialNodes", "dryRun", "chosen"]


def test_the_scheduler_carries_it_out_before_it_takes_the_next_pod() -> None:
    run, hand = attempt(full())
    assert steps(run) == [*DECIDED, "nominatedInQueue", "nominationWritten", "victimDeleted"]
    assert hand.of(Spawn) == []
    asked = [type(ask).__name__ for ask in hand.asks]
    # The failure is recorded first, then the nomination is written, then the victim goes.
    assert asked == ["RecordEvent", "PatchPodStatus", "PatchPodStatus", "DeletePod", "RecordEvent"]
    assert [ask.nominated_node_name for ask in hand.of(PatchPodStatus)] == [None, "a"]
    assert hand.points[-1] == "Preemption"


def test_the_event_names_the_preemptor_by_namespace_and_name() -> None:
    _, hand = attempt(full())
    notes = [ask.note for ask in hand.of(RecordEvent) if ask.reason == "Preempted"]
    assert notes == ["Preempted by default/boss on node a"]


def test_victims_get_no_condition() -> None:
    _, hand = attempt(full())
    assert [ask.pod.name for ask in hand.of(PatchPodStatus)] == ["boss", "boss"]


def test_the_nomination_is_in_the_queue_before_the_api_call_and_rolled_back_when_it_fails() -> None:
    core, seen = full(), []

    def refuse(ask: Ask) -> Reply:
        if isinstance(ask, PatchPodStatus) and ask.nominated_node_name:
            seen.append(core.nominator.node_of("uid-boss"))
            return Reply("no quorum", code=500)
        return Reply()

    run, hand = attempt(core, refuse)
    assert seen == ["a"]
    assert core.nominator.node_of("uid-boss") == ""
    assert steps(run) == [*DECIDED, "nominatedInQueue", "nominationWritten", "rolledBack"]
    assert hand.of(DeletePod) == []


def test_the_first_deletion_that_is_refused_ends_the_errand() -> None:
    core = era_scheduler()
    core.observe_node(node("a", cpu="2"))
    for number in range(2):
        core.observe_pod(pod(f"go{number}", "1", on="a", priority=number))
    core.observe_pod(pod("rival", "2", priority=3, status={"nominatedNodeName": "a"}))
    core.queue.delete("uid-rival")
    core.nominator.add(pod("rival", "2", priority=3, status={"nominatedNodeName": "a"}))
    core.observe_pod(pod("boss", "2", priority=9))
    run, hand = attempt(core, lambda ask: Reply("gone", code=404) if isinstance(ask, DeletePod) else Reply())
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["go1"]
    assert steps(run)[-1] == "victimDeleted"
    assert [ask.reason for ask in hand.of(RecordEvent)] == ["FailedScheduling"]


def test_the_nominations_of_lesser_pods_to_the_node_go_last() -> None:
    core = full()
    core.nominator.add(pod("rival", "2", priority=3, status={"nominatedNodeName": "a"}))
    run, _ = attempt(core)
    assert steps(run)[-2:] == ["victimDeleted", "nominationCleared"]


class Holds:
    name = "Holds"

    def permit(self, state: Any, info: PodInfo, node_name: str) -> tuple[Status, int]:
        return (Status(Code.WAIT), 60_000) if info.pod.name == "waits" else (SUCCESS, 0)


def test_a_victim_that_waits_at_permit_is_deleted_and_rejected() -> None:
    plugins = {"profiles": [{"plugins": {"permit": {"enabled": [{"name": "Holds"}]}}}]}
    core = era_scheduler(plugins, Holds())
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("waits", "2"))
    Hand(core).attempt()
    core.observe_pod(pod("boss", "2", priority=9))
    run, hand = attempt(core)
    assert steps(run)[-2:] == ["victimDeleted", "victimRejected"]
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["waits"]
    assert core.waiting.get("uid-waits").reason == "preempted"


def test_disable_preemption_leaves_the_pod_unschedulable() -> None:
    run, hand = attempt(full(core=era_scheduler({"disablePreemption": True})))
    assert (run.result, run.post_filter, hand.of(DeletePod)) == ("unschedulable", None, [])


# Which nodes, which victims.


def test_only_nodes_that_the_list_leaves_are_tried_and_the_trace_tells_the_list() -> None:
    core = era_scheduler()
    core.observe_node(node("full", cpu="1", labels={"disk": "ssd"}))
    core.observe_node(node("other", cpu="1"))
    for name in ("full", "other"):
        core.observe_pod(pod(f"on-{name}", "500m", on=name))
    core.observe_pod(pod("boss", "1", priority=9, spec={"nodeSelector": {"disk": "ssd"}}))
    core.observe_node(node("free", cpu="8"))
    run, _ = attempt(core)
    found = run.post_filter.detail
    assert {"step": "potentialNodes", "count": 2} in found.told()
    # The first filter that refuses decides, and resources are asked about before labels.
    assert found.explain()["reasons"] == [
        {
            "reason": "node(s) didn't match node selector",
            "error": "ErrNodeSelectorNotMatch",
            "predicate": "MatchNodeSelector",
            "helps": False,
            "nodes": ["free"],
        },
        {
            "reason": "Insufficient cpu",
            "error": "InsufficientResourceError",
            "predicate": "PodFitsResources",
            "helps": True,
            "nodes": ["full", "other"],
        },
    ]
    assert [one.node_name for one in found.candidates] == ["full"]
    assert found.node_status["other"].reasons == ("node(s) didn't match node selector",)


def test_where_the_list_leaves_no_node_the_own_nomination_goes() -> None:
    boss = pod("boss", "1", priority=9, spec={"nodeSelector": {"disk": "ssd"}}, status={"nominatedNodeName": "b"})
    core = era_scheduler()
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(boss)
    run, hand = attempt(core)
    assert steps(run) == ["triggered", "readAfresh", "potentialNodes", "ownNominationCleared", "nominationCleared"]
    assert [ask.nominated_node_name for ask in hand.of(PatchPodStatus)] == [None, ""]
    assert run.post_filter.detail.as_dict()["clearsNomination"]


def test_where_nodes_are_tried_in_vain_the_own_nomination_stays() -> None:
    boss = pod("boss", "2", priority=9, status={"nominatedNodeName": "b"})
    core = era_scheduler()
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("peer", "2", on="a", priority=9))
    core.observe_pod(boss)
    run, hand = attempt(core)
    assert steps(run) == [*DECIDED[:4]]
    assert [ask.nominated_node_name for ask in hand.of(PatchPodStatus)] == [None]
    assert core.nominator.node_of("uid-boss") == "b"


def test_every_node_is_tried() -> None:
    core = era_scheduler()
    for number in range(150):
        core.observe_node(node(f"n{number:03}", cpu="1"))
        core.observe_pod(pod(f"p{number:03}", "1", on=f"n{number:03}"))
    core.observe_pod(pod("boss", "1", priority=9))
    run, _ = attempt(core)
    # Today a hundred candidates would do.
    assert len(run.post_filter.detail.candidates) == 150


@pytest.mark.parametrize("condition", [True, False], ids=["by preemption", "by somebody else"])
def test_any_lesser_pod_that_terminates_on_the_nominated_node_is_waited_for(condition: bool) -> None:
    going = pod(
        "going",
        "2",
        on="a",
        metadata={"deletionTimestamp": EARLY},
        status={
            "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
            if condition
            else []
        },
    )
    core = era_scheduler()
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(going)
    core.observe_pod(pod("boss", "2", priority=9, status={"nominatedNodeName": "a"}))
    run, _ = attempt(core)
    assert steps(run) == ["triggered", "readAfresh", "notEligible"]
    assert not run.post_filter.detail.eligible


def test_a_policy_of_never_is_not_looked_at() -> None:
    run, _ = attempt(full(boss=pod("boss", "2", priority=9, spec={"preemptionPolicy": "Never"})))
    assert run.post_filter.detail.chosen.node_name == "a"


def budget(allowed: int, disrupted: tuple[str, ...] = (), **labels: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, EARLY)},
    }


@pytest.mark.parametrize(
    ("document", "breaking"),
    [
        (budget(0, app="web"), ["p0", "p1"]),
        # Today the second would find the budget spent.
        (budget(1, app="web"), []),
        # Today the first would be counted already.
        (budget(0, ("p0",), app="web"), ["p0", "p1"]),
    ],
    ids=["nothing allowed", "one allowed is allowed to each", "disrupted pods are not looked at"],
)
def test_budgets_are_not_spent_by_victims(document: dict[str, Any], breaking: list[str]) -> None:
    pods = [pod(f"p{number}", "1", on="a", metadata={"labels": {"app": "web"}}) for number in range(2)]
    broken, _ = split(pods, budgets_of([document]))
    assert [info.pod.name for info in broken] == breaking


def test_victims_that_break_a_budget_are_listed_first_and_the_first_one_s_priority_counts() -> None:
    core = era_scheduler(listers=Budgets(budget(0, app="web")))
    for name in ("a", "b"):
        core.observe_node(node(name, cpu="2"))
    # a: a pod of priority 1 breaks a budget, one of 5 does not; b: priority 3 breaks it, and 2 does not.
    for name, on, priority, labels in (
        ("a1", "a", 1, {"app": "web"}),
        ("a5", "a", 5, {}),
        ("b3", "b", 3, {"app": "web"}),
        ("b2", "b", 2, {}),
    ):
        core.observe_pod(pod(name, "1", on=on, priority=priority, metadata={"labels": labels}))
    core.observe_pod(pod("boss", "2", priority=9))
    run, hand = attempt(core)
    found = run.post_filter.detail
    victims = {one.node_name: [info.pod.name for info in one.victims] for one in found.candidates}
    assert victims == {"a": ["a1", "a5"], "b": ["b3", "b2"]}
    # The highest priority on a is 5, but the first victim has 1: today b would be freed.
    assert found.chosen.node_name == "a"
    assert found.explain()["candidates"][1]["eliminatedBy"] == "highestPriority"
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["a1", "a5"]


def test_attempts_and_victims_are_counted() -> None:
    metrics = Metrics()
    attempt(full(core=era_scheduler(metrics=metrics)))
    assert metrics.values[PREEMPTION_ATTEMPTS] == {(): 1}
    assert metrics.distributions[PREEMPTION_VICTIMS][()].total == 1
