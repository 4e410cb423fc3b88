"""What a scheduler records: families, buckets, labels, and that timing changes nothing."""

from __future__ import annotations

from itertools import count

import pytest
from prometheus_client.parser import text_string_to_metric_families

from scheduler_core.framework.asks import Reply
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.metrics import (
    EXTENSION_POINT,
    FAMILIES,
    INCOMING_PODS,
    PENDING_PODS,
    PERMIT_WAIT,
    PLUGIN_EXECUTION,
    PLUGIN_SAMPLE_EVERY,
    PREEMPTION_VICTIMS,
    SCHEDULE_ATTEMPTS,
    Metrics,
    exponential,
)
from scheduler_core.framework.profile import MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.framework.status import Code, Status
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import binding_cycle
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from tests.scheduler.kit import Hand, node, pod


class Gate:
    """A Permit plugin that lets every pod wait."""

    name = "Gate"

    def permit(self, state: CycleState, one: PodInfo, node_name: str) -> tuple[Status, int]:
        return Status(Code.WAIT), 5_000


def _scheduler(metrics: Metrics | None, *, gate: bool = False) -> Scheduler:
    registry, default = in_tree_registry(), default_configuration()
    registry.register("Gate", lambda arguments, handle: Gate())
    multi = default.sets[MULTI_POINT].enabled
    profile = ProfileConfiguration(
        default.scheduler_name, {MULTI_POINT: PluginSet((*multi, ("Gate", 0)) if gate else multi)}
    )
    nominator = Nominator()
    configuration = Configuration([profile], registry, hash="h", nominator=nominator, metrics=metrics)
    return Scheduler(configuration, nominator, seed=1, metrics=metrics)


def _ticking() -> Metrics:
    """Return metrics whose clock moves on by 0.2 ms whenever it is read."""
    clock = count(0, 200_000)
    return Metrics(lambda: next(clock))


def test_buckets_are_upstreams() -> None:
    assert exponential(0.0001, 2, 12)[-1] == pytest.approx(0.2048)
    shown = {family.name: (len(family.buckets), family.buckets[:1]) for family in FAMILIES if family.buckets}
    assert shown == {
        "scheduler_pod_scheduling_attempts": (5, (1,)),
        "scheduler_preemption_victims": (7, (1,)),
        "scheduler_framework_extension_point_duration_seconds": (12, (0.0001,)),
        "scheduler_plugin_execution_duration_seconds": (20, (0.00001,)),
        "scheduler_permit_wait_duration_seconds": (15, (0.001,)),
    }


def test_attempts_are_counted_by_result_and_profile() -> None:
    metrics = Metrics()
    core = _scheduler(metrics)
    core.observe_node(node("n", "1"))
    for name, cpu in (("fits", "1"), ("large", "8")):
        core.observe_pod(pod(name, cpu))
        assert Hand(core).attempt() is not None
    assert metrics.values[SCHEDULE_ATTEMPTS] == {
        ("scheduled", "default-scheduler"): 1,
        ("unschedulable", "default-scheduler"): 1,
    }


def test_the_queue_counts_who_comes_and_by_which_event() -> None:
    metrics = Metrics()
    core = _scheduler(metrics)
    core.observe_pod(pod("gated", spec={"schedulingGates": [{"name": "x"}]}))
    core.observe_node(node("small", "1"))
    core.observe_pod(pod("p", "2"))
    Hand(core).attempt()
    core.observe_node(node("large", "4"))
    assert metrics.values[INCOMING_PODS] == {
        ("unschedulable", "UnschedulablePodAdd"): 1,
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("backoff", "NodeAdd"): 1,
    }
    assert core.show_metrics() is metrics
    assert metrics.values[PENDING_PODS] == {("active",): 0, ("backoff",): 1, ("unschedulable",): 0, ("gated",): 1}


@pytest.mark.parametrize(("allowed", "result"), [(True, "Success"), (False, "Unschedulable")])
def test_waits_at_permit_are_simulated_time(allowed: bool, result: str) -> None:
    metrics = Metrics()
    core = _scheduler(metrics, gate=True)
    core.observe_node(node("n"))
    core.observe_pod(pod("p"))
    run = Hand(core).attempt()
    assert run is not None

    steps = binding_cycle(core, run)
    next(steps)
    core.now_ms += 2_500
    steps.send(Reply() if allowed else Reply("no", "Gate"))
    assert {labels: found.total for labels, found in metrics.distributions[PERMIT_WAIT].items()} == {(result,): 2.5}


def test_without_a_timer_no_duration_is_recorded() -> None:
    metrics = Metrics()
    core = _scheduler(metrics)
    core.observe_node(node("n"))
    core.observe_pod(pod("p"))
    Hand(core).attempt()
    assert EXTENSION_POINT not in metrics.distributions
    assert PLUGIN_EXECUTION not in metrics.distributions


def test_every_extension_point_is_timed_and_one_attempt_in_ten_plugin_by_plugin() -> None:
    metrics = _ticking()
    core = _scheduler(metrics)
    core.observe_node(node("a", "64"))
    core.observe_node(node("b", "64"))
    attempts = 2 * PLUGIN_SAMPLE_EVERY + 1
    for number in range(attempts):
        core.observe_pod(pod(f"p{number}"))
        Hand(core).attempt()
    points = metrics.distributions[EXTENSION_POINT]
    cycle = ("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind")
    for point in ("PreEnqueue", *cycle):
        assert points[point, "Success", "default-scheduler"].count == attempts
    plugins = metrics.distributions[PLUGIN_EXECUTION]
    assert plugins["NodeResourcesFit", "PreFilter", "Success"].count == 3
    assert plugins["NodeResourcesFit", "Score", "Success"].count == 3
    assert plugins["DefaultBinder", "Bind", "Success"].count == 3
    assert plugins["NodeAffinity", "PreScore", "Skip"].count == 3
    # One reading before and one after: 0.2 ms, in the bucket up to 0.256 ms.
    found = plugins["NodeResourcesFit", "PreFilter", "Success"]
    assert found.total == pytest.approx(3 * 0.0002)
    assert found.counts[8] == 3


def test_a_refusal_is_timed_under_its_code() -> None:
    metrics = _ticking()
    core = _scheduler(metrics)
    core.observe_node(node("n", "1"))
    core.observe_pod(pod("p", "8"))
    Hand(core).attempt()
    points = metrics.distributions[EXTENSION_POINT]
    assert points["Filter", "Success", "default-scheduler"].count == 1
    assert points["PostFilter", "Unschedulable", "default-scheduler"].count == 1


def test_timing_changes_no_decision() -> None:
    chosen = []
    for metrics in (None, Metrics(), _ticking()):
        core = _scheduler(metrics)
        for name in "abcd":
            core.observe_node(node(name, "16"))
        runs = []
        for number in range(24):
            core.observe_pod(pod(f"p{number}", "2"))
            runs.append(Hand(core).attempt())
        chosen.append([run.chosen for run in runs if run is not None])
    assert chosen[0] == chosen[1] == chosen[2]
    assert len(chosen[0]) == 24


def test_the_text_is_prometheus_format() -> None:
    metrics = Metrics()
    metrics.count(SCHEDULE_ATTEMPTS, "scheduled", 'a "b"\\c', by=3)
    for victims in (1, 3, 100):
        metrics.observe(PREEMPTION_VICTIMS, victims)
    text = "\n".join(metrics.lines()) + "\n"
    families = {family.name: family for family in text_string_to_metric_families(text)}
    (attempts,) = families["scheduler_schedule_attempts"].samples
    assert (attempts.labels, attempts.value) == ({"result": "scheduled", "profile": 'a "b"\\c'}, 3)
    samples = families["scheduler_preemption_victims"].samples
    assert {sample.labels.get("le", sample.name): sample.value for sample in samples} == {
        **{"1": 1, "2": 1, "4": 2, "8": 2, "16": 2, "32": 2, "64": 2, "+Inf": 3},
        "scheduler_preemption_victims_sum": 104,
        "scheduler_preemption_victims_count": 3,
    }
