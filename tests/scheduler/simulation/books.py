"""What must be true after every step, and what every attempt must have decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.lots import Lots
from scheduler_core.preemption.budgets import budgets_of
from scheduler_core.preemption.evaluator import Limits, Preemption, evaluate
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import NodeInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from scheduler_core.state.queued import Lane
from tests.scheduler.simulation.api import ZONE
from tests.scheduler.simulation.world import World

LANES = (Lane.ACTIVE, Lane.BACKOFF, Lane.UNSCHEDULABLE, Lane.GATED, Lane.IN_FLIGHT)


class Books:
    """The checks on one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.mirror = Snapshot()
        """Kept level from step to step, as the scheduler's own is."""
        self.slow = world.slow_framework()
        self.compared: Counter[str] = Counter()
        world.watcher = self.expect

    def check(self) -> None:
        """Check everything that must hold between two steps.

        Raises:
            AssertionError: it does not.
        """
        self._every_pod_has_one_place()
        self._no_node_is_over_committed()
        check_cache(self.world.core.cache, self.mirror)
        check_nominations(self.world.core)

    def _every_pod_has_one_place(self) -> None:
        world, core = self.world, self.world.core
        places = [(one.uid, lane) for lane in LANES for one in core.queue.listed(lane, 10_000)]
        in_queue = {uid for uid, _ in places}
        assert len(places) == len(in_queue), f"a pod is in two lanes: {sorted(places)}"
        for uid, lane in places:
            queued = core.queue.get(uid)
            assert queued is not None
            assert queued.lane is lane, f"{uid} is listed under {lane} and says {queued.lane}"
        unheard = {uid for uid in world.bound & core.pods.keys() if not core.pods[uid].pod.spec.node_name}
        binding = world.under_way()
        for uid, info in core.pods.items():
            if info.pod.spec.node_name:
                assert uid not in in_queue or uid in world.lost or uid in binding, f"{uid} has a node and is queued"
                continue
            if info.pod.is_terminating:
                continue
            if uid in binding:
                # In flight until the binding begins.
                assert uid in core.assumed, f"{uid} is being bound and not counted"
            elif uid in unheard:
                assert uid in core.assumed or uid in world.lost, f"{uid} is bound and neither counted nor heard of"
            else:
                assert uid in in_queue, f"{uid} is lost"
        assert in_queue <= core.pods.keys() | binding, "a pod that is gone is queued"
        for uid in core.assumed:
            alive = uid in binding or uid in unheard or uid not in world.pods
            assert alive, f"{uid} is assumed for ever"
            assert core.cache.is_assumed(uid), f"{uid} is assumed and not in the cache"
        waiting = {one.info.uid for one in core.waiting.listed()}
        assert waiting <= binding, "a pod waits at Permit and nobody binds it"
        reserved = world.under_way(until_post_bind=True)
        assert world.ledger.held.keys() == reserved, f"{set(world.ledger.held)} are reserved, {reserved} are bound"

    def _no_node_is_over_committed(self) -> None:
        world = self.world
        used: Counter[str] = Counter()
        for one in world.pods.values():
            if "nodeName" in one["spec"] and one["status"]["phase"] == "Running":
                cpu = one["spec"]["containers"][0]["resources"]["requests"]["cpu"]
                used[one["spec"]["nodeName"]] += int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
        for name, millicores in used.items():
            assert millicores <= world.largest[name] * 1000 or name in world.excused, f"{name} is over-committed"

    # What an attempt decides.

    def expect(self, run: Run) -> Callable[[], None]:
        """Work out an attempt without any memory; return the comparison with what the scheduler makes of it."""
        world = self.world
        slow, snapshot, info = self.slow, world.core.cache.snapshot(), run.info
        state = CycleState()
        left, status, narrowing = slow.run_pre_filter(state, info, snapshot)
        outcome = slow.run_filter(state, info, snapshot, left, narrowing) if len(snapshot) and status.ok else None
        totals: dict[str, int] | None = None
        if outcome is not None and len(outcome.feasible) > 1:
            assert slow.run_pre_score(state, info, snapshot, outcome.feasible).ok
            scores, _ = slow.run_score(state, info, snapshot, outcome)
            assert scores is not None
            totals = {snapshot.names[row]: total for row, total in zip(scores.rows, scores.total.tolist(), strict=True)}
        verdicts = None
        if outcome is not None:
            verdicts = {snapshot.names[row]: outcome.status_of(row) for row in range(len(snapshot))}
        found: Preemption | None = None
        latest = world.core.pods.get(info.uid)
        same = latest is not None and latest.shape == info.shape
        if outcome is not None and not len(outcome.feasible) and same:
            lots = Lots(world.core.seed, info.uid, run.given.attempt)
            budgets = budgets_of(world.list("poddisruptionbudgets.policy"))
            found, _, _ = evaluate(slow, state, latest or info, outcome, budgets=budgets, limits=Limits(), lots=lots)

        def compare() -> None:
            live = run.outcome
            assert (live is None) == (outcome is None)
            if live is not None:
                told = {run.snapshot.names[row]: live.status_of(row) for row in range(len(run.snapshot))}
                assert told == verdicts, f"verdicts on {info.key}"
                self.compared["filter"] += 1
            if run.scores is not None or totals is not None:
                assert run.scores is not None
                rows, numbers = run.scores.rows.tolist(), run.scores.total.tolist()
                assert {run.snapshot.names[row]: number for row, number in zip(rows, numbers, strict=True)} == totals
                self.compared["score"] += 1
            detail = run.post_filter.detail if run.post_filter is not None else None
            if found is not None and isinstance(detail, Preemption):
                assert detail.as_dict() == found.as_dict(), f"preemption by {info.key}"
                self.compared["preemption"] += bool(found.candidates)

        return compare


def check_cache(cache: Cache, mirror: Snapshot) -> None:
    """Check that the cache, and a snapshot kept level with it, are what a rebuild gives."""
    before = mirror.generation
    cache.update_snapshot(mirror)
    if mirror.generation == before:
        return
    rebuilt = Cache()
    for info in mirror.infos:
        assert info.node is not None
        rebuilt.add_node(info.node)
    for one in cache.pods():
        place = cache.node_of(one.uid)
        assert place is not None
        rebuilt.assume_pod(one, place)
    fresh = rebuilt.snapshot(mirror.order)
    level = mirror
    assert fresh.names == level.names
    for row, info in enumerate(fresh.infos):
        known = level.infos[row]
        assert _pods(known) == _pods(info), f"pods of {info.name}"
        assert _positive(known.requested) == _positive(info.requested), f"requests of {info.name}"
        assert (known.non_zero_cpu, known.non_zero_memory) == (info.non_zero_cpu, info.non_zero_memory)
        assert known.host_ports == info.host_ports, f"ports of {info.name}"
        assert Counter(known.terms) == Counter(info.terms), f"terms of {info.name}"
    for column in range(3):
        assert np.array_equal(fresh.requested[column], level.requested[column]), "requested"
        assert np.array_equal(fresh.allocatable[column], level.allocatable[column]), "allocatable"
    assert np.array_equal(fresh.pod_count, level.pod_count)
    assert np.array_equal(fresh.pod_limit, level.pod_limit)
    assert np.array_equal(fresh.non_zero, level.non_zero)
    ours, theirs = level.topology(ZONE), fresh.topology(ZONE)
    assert len({*zip(ours.tolist(), theirs.tolist(), strict=True)}) == len(set(ours.tolist())), "zones"
    held = {terms: one.counts.tolist() for terms, one in level.pods.groups.items()}
    assert held == {terms: one.counts.tolist() for terms, one in fresh.pods.groups.items()}, "terms held"


def check_nominations(core: Scheduler) -> None:
    """Check that each nomination is of a pod that waits, and is found both ways."""
    seen: set[str] = set()
    for node_name, info in core.nominator.items():
        assert info.uid not in seen, f"{info.uid} is nominated twice"
        seen.add(info.uid)
        assert core.nominator.node_of(info.uid) == node_name
        assert info.uid in core.pods, f"{info.uid} is gone and nominated"
        assert info.uid not in core.assumed, f"{info.uid} is assumed and nominated"


def _pods(info: NodeInfo) -> list[str]:
    return sorted(one.uid for one in info.pods)


def _positive(amounts: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in amounts.items() if number}
