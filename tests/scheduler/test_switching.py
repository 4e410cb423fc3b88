"""Another configuration while pods wait: the queue survives it, and no pod is lost or stuck."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.asks import Reply
from scheduler_core.framework.profile import MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.framework.status import Status, unresolvable
from scheduler_core.profiles.defaults import DEFAULT_ORDER, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import binding_cycle, scheduling_cycle
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import Hand, node, pod


class ByName:
    """QueueSort: the first name goes first."""

    name: ClassVar[str] = "ByName"

    def sort_key(self, one: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        return tuple(one.pod.name.encode())


class Closed:
    """PreEnqueue: nobody may enter."""

    name: ClassVar[str] = "Closed"

    def pre_enqueue(self, one: PodInfo) -> Status:
        return unresolvable("closed")


def _profile(
    name: str = "default-scheduler", *, drop: tuple[str, ...] = (), add: tuple[str, ...] = ()
) -> ProfileConfiguration:
    enabled = tuple(pair for pair in DEFAULT_ORDER if pair[0] not in drop)
    return ProfileConfiguration(name, {MULTI_POINT: PluginSet((*enabled, *((one, 0) for one in add)))})


def _configuration(nominator: Nominator, *profiles: ProfileConfiguration, **settings: Any) -> Configuration:
    registry = in_tree_registry()
    registry.register("ByName", lambda arguments, handle: ByName())
    registry.register("Closed", lambda arguments, handle: Closed())
    return Configuration(profiles, registry, hash=str(len(profiles)), nominator=nominator, **settings)


def _scheduler(*profiles: ProfileConfiguration) -> Scheduler:
    nominator = Nominator()
    return Scheduler(_configuration(nominator, *(profiles or (_profile(),))), nominator, seed=1)


def _switch(core: Scheduler, *profiles: ProfileConfiguration, **settings: Any) -> None:
    core.next_configuration = _configuration(core.nominator, *profiles, **settings)
    core.take_configuration()


def _lanes(core: Scheduler) -> dict[str, list[str]]:
    lanes = (Lane.ACTIVE, Lane.BACKOFF, Lane.UNSCHEDULABLE, Lane.GATED)
    return {
        lane.value: [one.pod.name for one in core.queue.listed(lane, 99)]
        for lane in lanes
        if core.queue.listed(lane, 99)
    }


def test_another_queue_sort_orders_the_queue_anew() -> None:
    core = _scheduler()
    for name, priority in (("c", 3), ("a", 1), ("b", 2)):
        core.observe_pod(pod(name, priority=priority))
    assert _lanes(core) == {"active": ["c", "b", "a"]}
    _switch(core, _profile(drop=("PrioritySort",), add=("ByName",)))
    assert _lanes(core) == {"active": ["a", "b", "c"]}
    _switch(core, _profile())
    assert _lanes(core) == {"active": ["c", "b", "a"]}


def test_pods_leave_with_their_profile_and_come_back_with_it() -> None:
    core = _scheduler(_profile(), _profile("other"))
    core.observe_pod(pod("mine"))
    core.observe_pod(pod("its", spec={"schedulerName": "other"}))
    _switch(core, _profile())
    assert _lanes(core) == {"active": ["mine"]}
    _switch(core, _profile("other"))
    assert _lanes(core) == {"active": ["its"]}
    core.observe_pod(pod("later"))
    assert _lanes(core) == {"active": ["its"]}
    _switch(core, _profile(), _profile("other"))
    assert sorted(_lanes(core)["active"]) == ["its", "later", "mine"]


def test_a_pod_in_flight_whose_profile_goes_away_is_not_kept_and_comes_back() -> None:
    core = _scheduler()
    core.observe_node(node("n", "1"))
    core.observe_pod(pod("large", "8"))
    run = core.begin(0)
    assert run is not None
    _switch(core, _profile("other"))
    hand = Hand(core)
    hand.drive(scheduling_cycle(core, run), lambda ask: Reply())
    assert (run.result, _lanes(core)) == ("unschedulable", {})
    assert hand.reason == "Unschedulable"
    _switch(core, _profile())
    assert _lanes(core) == {"active": ["large"]}


def test_a_pod_on_its_way_to_a_node_ends_with_the_old_profile() -> None:
    core = _scheduler()
    core.observe_node(node("n"))
    core.observe_pod(pod("p"))
    run = core.begin(0)
    assert run is not None
    Hand(core).drive(scheduling_cycle(core, run), lambda ask: Reply())
    _switch(core, _profile("other"))
    _switch(core, _profile())
    assert _lanes(core) == {}
    Hand(core).drive(binding_cycle(core, run), lambda ask: Reply())
    assert run.bound


def test_who_was_turned_away_by_a_plugin_that_is_gone_is_tried_again() -> None:
    core = _scheduler()
    core.observe_node(node("n"))
    core.observe_pod(pod("large", "8"))
    Hand(core).attempt()
    assert _lanes(core) == {"unschedulable": ["large"]}
    core.now_ms = 60_000
    _switch(core, _profile(drop=("NodeResourcesFit",)))
    assert _lanes(core) == {"active": ["large"]}
    run = Hand(core).attempt()
    assert run is not None
    assert run.chosen == "n"


def test_a_gate_that_is_gone_holds_nobody_and_a_new_one_is_asked() -> None:
    core = _scheduler(_profile(add=("Closed",)))
    core.observe_pod(pod("p"))
    assert _lanes(core) == {"gated": ["p"]}
    _switch(core, _profile())
    assert _lanes(core) == {"active": ["p"]}


@pytest.mark.parametrize(("initial_ms", "longest_ms", "ready_ms"), [(1_000, 10_000, 2_000), (5_000, 10_000, 6_000)])
def test_backoff_follows_the_new_settings(initial_ms: int, longest_ms: int, ready_ms: int) -> None:
    core = _scheduler()
    core.observe_node(node("n", "1"))
    core.observe_pod(pod("large", "8"))
    Hand(core).attempt()
    _switch(core, _profile(), backoff_ms=(initial_ms, longest_ms))
    (waiting,) = core.queue.listed(Lane.BACKOFF, 9)
    assert core.queue.ready_at_ms(waiting) == ready_ms


PROFILES = (
    (_profile(),),
    (_profile("other"),),
    (_profile(), _profile("other")),
    (_profile(add=("Closed",)),),
    (_profile(drop=("PrioritySort",), add=("ByName",)),),
)


@given(
    st.lists(st.one_of(st.integers(0, len(PROFILES) - 1), st.sampled_from(["pod", "its", "try", "node"])), max_size=30)
)
def test_every_pod_is_in_one_lane_whatever_comes(steps: list[int | str]) -> None:
    core = _scheduler()
    for number, step in enumerate(steps):
        core.now_ms += 700
        core.queue.flush(core.now_ms)
        if step == "pod":
            core.observe_pod(pod(f"p{number}", "3", priority=number % 3))
        elif step == "its":
            core.observe_pod(pod(f"i{number}", spec={"schedulerName": "other"}))
        elif step == "node":
            core.observe_node(node(f"n{number}"))
        elif step == "try":
            run = Hand(core).attempt()
            if run is not None and run.bound:
                core.observe_pod(pod(run.info.pod.name, on=run.chosen, spec={"schedulerName": run.framework.name}))
        else:
            _switch(core, *PROFILES[int(step)])
        waiting = sorted(name for names in _lanes(core).values() for name in names)
        mine = sorted(one.pod.name for one in core.pods.values() if core.is_mine(one) and not one.pod.spec.node_name)
        assert waiting == mine
        assert sum(core.queue.counts().values()) == len(core.queue) == len(mine)
