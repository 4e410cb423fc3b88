from __future__ import annotations

from random import Random

import numpy as np
import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.lots import Lots
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code, Status
from scheduler_core.framework.verdicts import FilterOutcome, single_reason
from scheduler_core.preemption.budgets import budgets_of, split
from scheduler_core.preemption.choice import choose
from scheduler_core.preemption.dry_run import Candidate, DryRun
from scheduler_core.preemption.evaluator import Limits, Preemption, evaluate
from scheduler_core.preemption.memory import UNTRIED, DryRunMemory
from scheduler_core.snapshot.node_info import PodInfo
from tests.scheduler.kit import node, pod, scheduler


def running(name: str, priority: int, started: str = "", cpu: str = "1", on: str = "a", **metadata: object) -> PodInfo:
    status = {"startTime": started} if started else {}
    return pod(name, cpu, on=on, priority=priority, status=status, metadata=metadata)


def candidate(name: str, *victims: PodInfo, violations: int = 0) -> Candidate:
    return Candidate(name, victims, violations, ())


EARLY, LATE = "2030-01-01T00:00:00Z", "2030-01-01T06:00:00Z"


@pytest.mark.parametrize(
    ("first", "second", "winner", "criterion"),
    [
        (
            candidate("a", running("x", 0), violations=1),
            candidate("b", running("y", 9), running("z", 9)),
            "b",
            "pdbViolations",
        ),
        (candidate("a", running("x", 5)), candidate("b", running("y", 4), running("z", 4)), "b", "highestPriority"),
        (
            candidate("a", running("x", 5), running("y", 3)),
            candidate("b", running("z", 5), running("v", 2)),
            "b",
            "prioritySum",
        ),
        (
            candidate("a", running("x", 5), running("y", -(2**31))),
            candidate("b", running("z", 5)),
            "b",
            "victimCount",
        ),
        (candidate("a", running("x", 5, EARLY)), candidate("b", running("y", 5, LATE)), "b", "earliestStart"),
        (candidate("a", running("x", 5, LATE)), candidate("b", running("y", 5)), "b", "earliestStart"),
    ],
    ids=[
        "fewest broken budgets",
        "lowest top priority",
        "lowest sum",
        "fewest victims",
        "latest of the earliest starts",
        "a pod that has not started is the latest",
    ],
)
def test_the_criteria_decide_in_order(first: Candidate, second: Candidate, winner: str, criterion: str) -> None:
    choice = choose([first, second])
    assert choice.ties == (winner,)
    assert choice.eliminated == {"a": criterion}
    assert choice.asked[-1] == criterion


def test_only_the_top_victims_starts_count() -> None:
    first = candidate("a", running("x", 5, LATE), running("old", 1, EARLY))
    second = candidate("b", running("y", 5, EARLY), running("z", 1, LATE))
    assert choose([first, second]).ties == ("a",)


def test_equal_candidates_tie() -> None:
    choice = choose([candidate("b", running("x", 5, EARLY)), candidate("a", running("y", 5, EARLY))])
    assert choice.ties == ("a", "b")
    assert choice.eliminated == {}


def attempt(preemptor: PodInfo, nodes: int, *pods: PodInfo, limits: Limits | None = None, lots: Lots | None = None):
    core = scheduler()
    for number in range(nodes):
        core.observe_node(node("abcdefghij"[number] if nodes <= 10 else f"n{number:03}", cpu="2"))
    for info in pods:
        core.observe_pod(info)
    core.observe_pod(preemptor)
    run = core.begin(0)
    framework, state = run.framework, CycleState()
    left, _, narrowing = framework.run_pre_filter(state, run.info, run.snapshot)
    outcome = framework.run_filter(state, run.info, run.snapshot, left, narrowing)
    return evaluate(framework, state, run.info, outcome, limits=limits or Limits(), lots=lots)


def test_the_more_important_pod_is_reprieved_first() -> None:
    found, result, _ = attempt(
        pod("boss", priority=10),
        1,
        running("low", 1, EARLY, "500m"),
        running("young", 2, LATE, "500m"),
        running("old", 2, EARLY, "1"),
    )
    assert result.nominated_node_name == "a"
    fates = [(fate.info.pod.name, fate.spared) for fate in found.candidates[0].fates]
    assert fates == [("old", True), ("young", False), ("low", False)]
    assert [info.pod.name for info in found.chosen.victims] == ["young", "low"]


def test_pods_of_equal_priority_are_never_victims() -> None:
    found, result, status = attempt(pod("boss", priority=1), 1, running("peer", 1, cpu="2"))
    assert found.candidates == []
    assert result.nominated_node_name == ""
    assert status.reasons == (
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )  # fmt: skip
    assert found.as_dict()["clearsNomination"]


def test_a_node_too_small_is_not_tried() -> None:
    found, _, status = attempt(pod("boss", "3", priority=9), 1, running("small", 1))
    assert found.node_status == {}
    assert "1 Preemption is not helpful for scheduling" in status.message


def terminating(name: str, reason: str) -> PodInfo:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    return pod(
        name, "2", on="a", metadata={"deletionTimestamp": EARLY}, status={"conditions": [condition], "phase": "Running"}
    )


@pytest.mark.parametrize(
    ("reason", "eligible"),
    [("PreemptionByScheduler", False), ("EvictionByEvictionAPI", True)],
    ids=["victims of a preemption are waited for", "others are not"],
)
def test_a_preemptor_waits_for_the_victims_on_its_nominated_node(reason: str, eligible: bool) -> None:
    preemptor = pod("boss", priority=9, status={"nominatedNodeName": "a"})
    found, _, status = attempt(preemptor, 1, terminating("going", reason))
    assert found.eligible is eligible
    if not eligible:
        assert status.reasons == ("preemption: not eligible due to a terminating pod on the nominated node.",)


def test_the_search_stops_when_it_has_enough_candidates() -> None:
    pods = [running(f"p{number}", 1, cpu="2", on=f"n{number:03}") for number in range(40)]
    limits = Limits(percentage=10, absolute=5)
    found, _, _ = attempt(pod("boss", priority=9), 40, *pods, limits=limits, lots=Lots(1, "uid-boss", 1))
    assert len(found.candidates) == 5
    names = [one.node_name for one in found.candidates]
    assert names != sorted(names) or names[0] != "n000"
    again, _, _ = attempt(pod("boss", priority=9), 40, *pods, limits=limits, lots=Lots(1, "uid-boss", 1))
    assert [one.node_name for one in again.candidates] == names
    assert again.chosen.node_name == found.chosen.node_name


def budget(allowed: int, disrupted: tuple[str, ...] = (), namespace: str = "default", **labels: str) -> dict:
    return {
        "metadata": {"name": "b", "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, EARLY)},
    }


@pytest.mark.parametrize(
    ("document", "breaking"),
    [
        (budget(0, app="web"), ["p0", "p1"]),
        (budget(1, app="web"), ["p1"]),
        (budget(2, app="web"), []),
        (budget(0, ("p0",), app="web"), ["p1"]),
        (budget(0, namespace="other", app="web"), []),
        (budget(0), []),
        (budget(0, app="db"), []),
    ],
    ids=[
        "nothing may be disrupted",
        "the first one spends the budget",
        "enough is allowed",
        "a pod that is counted already costs nothing",
        "another namespace's budget",
        "an empty selector protects nothing",
        "other labels",
    ],
)
def test_budgets_are_spent_in_order_of_importance(document: dict, breaking: list[str]) -> None:
    pods = [running(f"p{number}", 1, labels={"app": "web"}) for number in range(2)]
    broken, others = split(pods, budgets_of([document]))
    assert [info.pod.name for info in broken] == breaking
    assert len(broken) + len(others) == 2


def test_a_pod_under_several_budgets_breaks_one_if_any_is_spent() -> None:
    pods = [running("both", 1, labels={"app": "web", "tier": "front"}), running("one", 1, labels={"app": "web"})]
    budgets = budgets_of([budget(1, tier="front"), budget(1, app="web")])
    broken, _ = split(pods, budgets)
    # The first spends both budgets, the second finds its own spent.
    assert [info.pod.name for info in broken] == ["one"]
    broken, _ = split(pods, budgets_of([budget(0, tier="front"), budget(2, app="web")]))
    assert [info.pod.name for info in broken] == ["both"]


def test_a_pod_counted_as_disrupted_by_one_budget_is_still_asked_of_the_other() -> None:
    pods = [running("p0", 1, labels={"app": "web"})]
    broken, _ = split(pods, budgets_of([budget(0, ("p0",), app="web"), budget(0, app="web")]))
    assert [info.pod.name for info in broken] == ["p0"]


def test_no_more_candidates_that_break_budgets_are_kept_than_are_wanted() -> None:
    pods = [running(f"p{number}", 1, cpu="2", on=f"n{number:03}", labels={"app": "web"}) for number in range(40)]
    core = scheduler()
    for number in range(40):
        core.observe_node(node(f"n{number:03}", cpu="2"))
    for info in pods:
        core.observe_pod(info)
    core.observe_pod(pod("boss", priority=9))
    run = core.begin(0)
    state = CycleState()
    left, _, narrowing = run.framework.run_pre_filter(state, run.info, run.snapshot)
    outcome = run.framework.run_filter(state, run.info, run.snapshot, left, narrowing)
    found, _, _ = evaluate(
        run.framework, state, run.info, outcome, budgets=budgets_of([budget(0, app="web")]), limits=Limits(10, 5)
    )
    assert len(found.candidates) == 5
    assert {one.violations for one in found.candidates} == {1}


def test_errors_of_several_nodes_are_told_each_once() -> None:
    class Breaks:
        name = "Breaks"
        filter_reads = Reads.CLUSTER

        def filter(self, state, info, snapshot, rows):
            # A dry run's snapshot has one node: there, and only there, it breaks.
            if len(snapshot) == 1:
                raise RuntimeError("boom")
            return single_reason(np.zeros(snapshot.count(rows), dtype=np.bool_), Code.UNSCHEDULABLE, "")

    core = scheduler(Breaks())
    for name in ("a", "b"):
        core.observe_node(node(name, cpu="2"))
        core.observe_pod(running(f"on-{name}", 1, cpu="2", on=name))
    core.observe_pod(pod("boss", priority=9))
    run = core.begin(0)
    state = CycleState()
    left, _, narrowing = run.framework.run_pre_filter(state, run.info, run.snapshot)
    outcome = run.framework.run_filter(state, run.info, run.snapshot, left, narrowing)
    _, result, status = evaluate(run.framework, state, run.info, outcome)
    assert (result, status.code) == (None, Code.ERROR)
    assert status.message == 'preemption: running "Breaks" filter plugin: boom'


def test_the_explanation_names_what_turned_each_node_away() -> None:
    found, _, _ = attempt(
        pod("boss", priority=9), 2, running("x", 5, cpu="2", on="a"), running("y", 4, cpu="2", on="b")
    )
    assert isinstance(found, Preemption)
    told = {one["node"]: one["eliminatedBy"] for one in found.explain()["candidates"]}
    assert told == {"a": "highestPriority", "b": ""}


@pytest.mark.parametrize("seed", range(6))
def test_remembered_dry_runs_answer_as_fresh_ones_do(seed: int) -> None:
    random = Random(seed)
    core = scheduler()
    framework = core.configuration.frameworks["default-scheduler"]
    memory = DryRunMemory(framework)
    for number in range(12):
        core.observe_node(node(f"n{number:02}", cpu="4"))
    snapshot = core.cache.snapshot()
    placed: list[str] = []
    recalled = 0
    for step in range(120):
        core.now_ms += 1_000
        name = f"n{random.randrange(12):02}"
        action = random.randrange(6)
        if action <= 1:
            placed.append(f"p{step}")
            started = f"2030-01-01T00:{random.randrange(60):02}:00Z"
            info = running(f"p{step}", random.randrange(4), started, random.choice(("500m", "1", "2")), name)
            core.observe_pod(info)
        elif action == 2 and placed:
            core.remove_pod("uid-" + placed.pop(random.randrange(len(placed))))
        elif action == 3:
            core.nominator.add(pod(f"rival{random.randrange(3)}", "2", priority=random.randrange(2, 7)), name)
        preemptor = pod(f"boss{step}", random.choice(("3", "4")), priority=random.choice((3, 5)))
        core.cache.update_snapshot(snapshot)
        state = CycleState()
        left, _, narrowing = framework.run_pre_filter(state, preemptor, snapshot)
        outcome = framework.run_filter(state, preemptor, snapshot, left, narrowing)
        limits = Limits(percentage=50, absolute=1)
        lots = Lots(seed, preemptor.uid, 1)
        fresh = evaluate(framework, state, preemptor, outcome, limits=limits, lots=lots)
        before = memory.of(preemptor, state.skip_filter, outcome, ())
        before.level(snapshot, preemptor)
        recalled += int(np.count_nonzero(before.kinds != UNTRIED))
        known = evaluate(framework, state, preemptor, outcome, limits=limits, lots=lots, memory=memory)
        assert known[0].as_dict() == fresh[0].as_dict()
        assert known[0].explain() == fresh[0].explain()
        assert known[1:] == fresh[1:]
        if outcome.rows_with(Code.UNSCHEDULABLE):
            plain = searched_plainly(framework, state, preemptor, outcome, limits, Lots(seed, preemptor.uid, 1))
            assert (known[0].candidates, known[0].node_status) == plain
            chosen = known[0].chosen
            assert (chosen is None) == (known[0].choice is None)
            if chosen is not None:
                assert chosen.node_name == known[0].choice.ties[known[0].draw or 0]
                assert known[0].tried.ties == len(known[0].choice.ties)
    assert recalled > 50


def searched_plainly(
    framework: Framework, state: CycleState, info: PodInfo, outcome: FilterOutcome, limits: Limits, lots: Lots
) -> tuple[list[Candidate], dict[str, Status]]:
    """Return candidates and statuses as the search reads when it is written down node by node."""
    snapshot = outcome.snapshot
    rows = sorted(outcome.rows_with(Code.UNSCHEDULABLE), key=snapshot.names.__getitem__)
    wanted = limits.wanted(len(rows))
    begin = lots.draw("preemption-offset", len(rows)) if wanted < len(rows) else 0
    candidates: list[Candidate] = []
    statuses: dict[str, Status] = {}
    dry_run = DryRun(framework, state, info, snapshot)
    for row in rows[begin:] + rows[:begin]:
        if len(candidates) >= wanted and any(one.violations == 0 for one in candidates):
            break
        answer = dry_run.on(row)
        if isinstance(answer, Candidate):
            candidates.append(answer)
        else:
            statuses[snapshot.names[row]] = answer
    return candidates, statuses
