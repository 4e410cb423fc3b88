"""What a preemption does, step by step, and what each refused API call makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core.framework.asks import Ask, DeletePod, PatchPodStatus, RecordEvent, Reply, Spawn
from scheduler_core.framework.metrics import PREEMPTION_ATTEMPTS, PREEMPTION_VICTIMS, Metrics
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import decide, scheduling_cycle
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import Hand, node, pod, scheduler

Replies = Callable[[Ask], Reply]


def done(ask: Ask) -> Reply:
    return Reply()


def refuse(kind: type, text: str = "refused", code: int = 500, *, of: str = "") -> Replies:
    """Return replies that refuse one kind of ask, about one pod if it is named."""

    def reply(ask: Ask) -> Reply:
        if isinstance(ask, kind) and (not of or ask.pod.name == of):
            return Reply(text, code=code)
        return Reply()

    return reply


def refuse_nomination(ask: Ask) -> Reply:
    return Reply("no quorum", code=500) if isinstance(ask, PatchPodStatus) and ask.nominated_node_name else Reply()


def preempt(core: Scheduler, replies: Replies = done) -> tuple[Run, Hand]:
    """Run one attempt, and what it leaves to be done beside it."""
    hand = Hand(core)

    def answer(ask: Ask) -> Reply:
        if isinstance(ask, Spawn):
            hand.drive(ask.steps, replies)
        return replies(ask)

    run = hand.attempt(answer)
    assert run is not None
    return run, hand


def full(*victims: PodInfo, preemptor: PodInfo | None = None) -> Scheduler:
    core = scheduler()
    core.observe_node(node("a", cpu="2"))
    for info in victims or (pod("go", "2", on="a"),):
        core.observe_pod(info)
    core.observe_pod(preemptor or pod("boss", "2", priority=9))
    return core


def told(run: Run) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = run.post_filter.detail.told()
    return steps


def names(run: Run) -> list[str]:
    return [step["step"] for step in told(run)]


DECIDED = ["triggered", "readAfresh", "potentialNodes", "dryRun", "chosen"]


def test_a_preemption_goes_through_its_steps_in_order() -> None:
    run, hand = preempt(full())
    assert names(run) == [
        *DECIDED,
        "held",
        "nominatedInQueue",
        "nominationWritten",
        "victimDeleted",
        "released",
    ]
    assert {"step": "chosen", "node": "a"} in told(run)
    assert {"step": "victimDeleted", "node": "a", "pod": "default/go"} in told(run)
    # The API is asked in this order: condition and nomination, then the victim's condition and its deletion.
    asked = [type(ask).__name__ for ask in hand.asks if not isinstance(ask, RecordEvent)]
    assert asked == ["PatchPodStatus", "Spawn", "PatchPodStatus", "DeletePod"]


def test_the_queue_has_the_nomination_before_the_api() -> None:
    core, seen = full(), []

    def look(ask: Ask) -> Reply:
        if isinstance(ask, PatchPodStatus) and ask.nominated_node_name:
            seen.append(core.nominator.node_of("uid-boss"))
        return Reply()

    preempt(core, look)
    assert seen == ["a"]


def test_a_nomination_that_the_api_refuses_stays_in_the_queue_and_the_victims_go() -> None:
    core = full()
    run, hand = preempt(core, refuse_nomination)
    assert {"step": "nominationWritten", "node": "a", "error": "no quorum"} in told(run)
    assert core.nominator.node_of("uid-boss") == "a"
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["go"]


def test_an_error_that_is_no_fit_error_triggers_nothing() -> None:
    class Broken:
        name = "Broken"

        def pre_filter(self, state: Any, info: PodInfo, snapshot: Any) -> Any:
            return None, Status(Code.ERROR, ("boom",))

    core = scheduler(Broken())
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("go", "2", on="a"))
    core.observe_pod(pod("boss", "2", priority=9, status={"nominatedNodeName": "a"}))
    run, hand = preempt(core)
    assert (run.result, run.post_filter, hand.of(DeletePod)) == ("error", None, [])


def test_a_pod_that_fits_triggers_nothing() -> None:
    run, _ = preempt(full(pod("small", "1", on="a"), preemptor=pod("boss", "1", priority=9)))
    assert (run.result, run.post_filter) == ("scheduled", None)


def test_with_the_plugin_disabled_nobody_is_preempted() -> None:
    core = scheduler(drop=["DefaultPreemption"])
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("go", "2", on="a"))
    core.observe_pod(pod("boss", "2", priority=9))
    run, hand = preempt(core)
    assert run.message == "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate"
    assert (run.nominated_node_name, hand.of(DeletePod)) == (None, [])


def test_without_nodes_nothing_is_tried_and_the_nomination_goes() -> None:
    core = scheduler()
    core.observe_pod(pod("boss", priority=9, status={"nominatedNodeName": "gone"}))
    run, hand = preempt(core)
    assert (run.result, run.message) == ("no_nodes", "no nodes available to schedule pods")
    assert run.post_filter is None
    (patch,) = hand.of(PatchPodStatus)
    assert patch.nominated_node_name == ""
    assert core.nominator.items() == []


def test_where_no_node_can_be_freed_the_own_nomination_goes_and_is_seen() -> None:
    core = full(
        pod("peer", "2", on="a", priority=9), preemptor=pod("boss", "2", priority=9, status={"nominatedNodeName": "a"})
    )
    run, hand = preempt(core)
    assert names(run) == [*DECIDED[:4], "ownNominationCleared"]
    assert told(run)[-1] == {"step": "ownNominationCleared", "node": "a"}
    assert told(run)[3] == {"step": "dryRun", "count": 0}
    (patch,) = hand.of(PatchPodStatus)
    assert patch.nominated_node_name == ""
    assert core.nominator.node_of("uid-boss") == ""


def test_a_pod_that_may_not_preempt_keeps_its_nomination() -> None:
    preemptor = pod("boss", "2", priority=9, spec={"preemptionPolicy": "Never"}, status={"nominatedNodeName": "a"})
    core = full(preemptor=preemptor)
    run, hand = preempt(core)
    assert names(run) == ["triggered", "readAfresh", "notEligible"]
    (patch,) = hand.of(PatchPodStatus)
    assert patch.nominated_node_name is None
    assert core.nominator.node_of("uid-boss") == "a"


@pytest.mark.parametrize(
    ("changed", "step"),
    [
        (pod("boss", "2", priority=9, status={"nominatedNodeName": "a"}), {"step": "readAfresh", "node": "a"}),
        (pod("boss", "2", priority=9, metadata={"labels": {"x": "y"}}), {"step": "readAfresh"}),
    ],
    ids=["nominated meanwhile", "relabelled meanwhile"],
)
def test_the_preemptor_is_read_afresh(changed: PodInfo, step: dict[str, Any]) -> None:
    core = full()
    run = core.begin(0)
    core.observe_pod(changed)
    hand = Hand(core)
    hand.drive(decide(core, run), done)
    assert run.post_filter.detail.pod is changed
    assert step in told(run)
    # What it became is part of the input, so that a replay decides the same.
    assert PodInfo.of(run.given.preemptor).pod == changed.pod
    assert run.given.as_dict()["preemptor"]


def test_a_preemptor_that_is_gone_preempts_nobody() -> None:
    core = full()
    run = core.begin(0)
    core.remove_pod("uid-boss")
    hand = Hand(core)
    hand.drive(scheduling_cycle(core, run), done)
    assert 'preemption: pod "boss" not found' in run.message
    assert run.given.preemptor == {}
    assert hand.asks == []


def test_attempts_and_victims_are_counted() -> None:
    core = full(*(pod(f"go{number}", "1", on="a") for number in range(2)))
    core.metrics = metrics = Metrics()
    core.configuration.frameworks["default-scheduler"].metrics = metrics
    preempt(core)
    assert metrics.values[PREEMPTION_ATTEMPTS] == {(): 1}
    victims = metrics.distributions[PREEMPTION_VICTIMS][()]
    assert (victims.count, victims.total) == (1, 2)
    core.observe_pod(pod("vain", "64", priority=9))
    preempt(core)
    # An attempt that finds nobody is one, and adds no victims.
    assert metrics.values[PREEMPTION_ATTEMPTS] == {(): 2}
    assert victims.count == 1


# Victims.


class Holds:
    name = "Holds"

    def permit(self, state: Any, info: PodInfo, node_name: str) -> tuple[Status, int]:
        return (Status(Code.WAIT), 60_000) if info.pod.name == "waits" else (SUCCESS, 0)


def test_a_victim_that_waits_at_permit_is_rejected_not_deleted() -> None:
    core = scheduler(Holds())
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("waits", "2"))
    Hand(core).attempt()
    core.observe_pod(pod("boss", "2", priority=9))
    run, hand = preempt(core)
    assert {"step": "victimRejected", "node": "a", "pod": "default/waits"} in told(run)
    assert hand.of(DeletePod) == []
    held = core.waiting.get("uid-waits")
    assert (held.reason, held.rejected_by) == ("preempted", "DefaultPreemption")
    assert [ask.note for ask in hand.of(RecordEvent) if ask.reason == "Preempted"] == [
        "Preempted by pod uid-boss on node a"
    ]


def test_a_victim_that_is_going_already_is_not_asked_again() -> None:
    core = full(pod("going", "2", on="a", metadata={"deletionTimestamp": "2030-01-01T00:00:00Z"}))
    run, hand = preempt(core)
    assert names(run) == [*DECIDED, "victimTerminating", "nominatedInQueue", "nominationWritten"]
    assert hand.of(DeletePod) == []
    assert core.queue.get("uid-boss").lane is Lane.UNSCHEDULABLE


@pytest.mark.parametrize("kind", [PatchPodStatus, DeletePod])
def test_a_victim_that_has_gone_is_as_good_as_deleted_and_no_event_tells_of_it(kind: type) -> None:
    run, hand = preempt(full(), refuse(kind, "not found", 404, of="go"))
    assert {"step": "victimGone", "pod": "default/go"} in told(run)
    assert [ask for ask in hand.of(RecordEvent) if ask.reason == "Preempted"] == []
    assert len(hand.of(DeletePod)) == (kind is DeletePod)


def test_where_a_victim_cannot_be_told_the_last_one_is_spared_and_the_preemptor_looks_again() -> None:
    core = full(*(pod(f"go{number}", "500m", on="a", priority=number) for number in range(3)))
    core.queue.delete("uid-boss")
    core.remove_pod("uid-boss")
    core.observe_pod(pod("boss", "1500m", priority=9))
    run, hand = preempt(core, refuse(DeletePod, of="go1"))
    assert names(run)[-5:] == ["nominationWritten", "victimDeleted", "victimSpared", "released", "activated"]
    assert {"step": "victimDeleted", "pod": "default/go1", "error": "refused"} in told(run)
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["go1"]
    assert core.queue.get("uid-boss").lane is Lane.ACTIVE


def test_the_nominations_of_lesser_pods_to_the_node_go() -> None:
    core = full()
    rival = pod("rival", "2", priority=3, status={"nominatedNodeName": "a"})
    higher = pod("higher", "500m", priority=20, status={"nominatedNodeName": "b"})
    core.nominator.add(rival)
    core.nominator.add(higher)
    run, hand = preempt(core)
    cleared = [ask.pod.name for ask in hand.of(PatchPodStatus) if ask.nominated_node_name == ""]
    assert cleared == ["rival"]
    assert {"step": "nominationCleared", "node": "a", "pod": "default/rival"} in told(run)
    assert names(run).index("nominationCleared") < names(run).index("victimDeleted")


def test_the_preemptor_is_held_before_the_queue_can_let_it_in_again() -> None:
    core = full(*(pod(f"go{number}", "1", on="a") for number in range(2)))
    hand = Hand(core)
    lanes: list[str] = []

    def reply(ask: Ask) -> Reply:
        if isinstance(ask, Spawn):
            # An event that would wake it comes while nobody has been told yet.
            core.observe_node(node("a", cpu="64"))
            lanes.append(core.queue.get("uid-boss").lane)
            assert core.queue.get("uid-boss").gate_message == "waiting for the preemption for this pod to be finished"
            hand.drive(ask.steps, done)
        return Reply()

    hand.attempt(reply)
    assert lanes == [Lane.GATED]


def test_a_pod_that_went_away_meanwhile_leaves_its_victims_to_their_fate() -> None:
    core = full()
    run = core.begin(0)
    hand = Hand(core)
    cycle = scheduling_cycle(core, run)
    while run.point != "PostFilter":
        next(cycle)
    core.remove_pod("uid-boss")
    spawned = [item for item in cycle if isinstance(item, Spawn)]
    assert len(spawned) == 1
    hand.drive(spawned[0].steps, done)
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["go"]
