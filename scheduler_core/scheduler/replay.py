"""Explaining is replaying: the same objects and the same input give the same outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.asks import CallExtenders
from scheduler_core.framework.interface import Listers, NoListers
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.state_view import state_entries
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import decide
from scheduler_core.scheduler.refusals import REFUSALS_TOLD_MAX, all_refusals, refusals_account
from scheduler_core.scheduler.run import CycleInput, Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queued import QueuedPod
from scheduler_core.trace.result import Outcome, explanation
from scheduler_core.volumes.assumed import AssumedObjects


def outcome_of(core: Scheduler, run: Run) -> Outcome:
    """Return what is known of an attempt so far."""
    best: Sequence[str] = ()
    if run.chosen:
        if run.best_count == 1:
            best = (run.chosen,)
        elif run.scores is not None:
            best = sorted(run.snapshot.names[row] for row in run.scores.best().tolist())
    return Outcome(
        result=run.result,
        pre_filter=None if run.pre_filter is None else (run.pre_filter, run.pre_filter_status),
        filter_skip=run.state.skip_filter,
        filters=run.outcome,
        post_filter=None if run.post_filter_status is None else (run.post_filter, run.post_filter_status),
        eligible=run.eligible,
        scores=run.scores,
        best=best,
        chosen=run.chosen,
        draw=run.draw,
        message=run.message,
    )


class Seen:
    """Nodes and pods at one revision, read and counted once for all the attempts that saw them."""

    def __init__(self, nodes: Iterable[Node], pods: Iterable[PodInfo]) -> None:
        """Take the objects; nothing is worked out before a snapshot is asked for."""
        self._nodes = nodes
        self.pods = {info.uid: info for info in pods}
        self._counted: Cache | None = None

    @classmethod
    def of(cls, nodes: Iterable[FrozenDocument], pods: Iterable[FrozenDocument]) -> Seen:
        """Return what documents hold.

        Raises:
            ApiError: 400, one cannot be read.
        """
        return cls((view(document, Node) for document in nodes), map(PodInfo.of, pods))

    def snapshot(self, given: CycleInput) -> Snapshot:
        """Return the nodes as an attempt saw them: with what was assumed then, rows in its order where that counts."""
        cache = self._cache()
        assumed = [
            info.placed(node_name)
            for uid, node_name in given.assumed.items()
            if (info := self.pods.get(uid)) is not None and not info.pod.spec.node_name and not info.pod.is_finished
        ]
        for info in assumed:
            cache.assume_pod(info, info.pod.spec.node_name)
        snapshot = cache.snapshot(given.order)
        for info in assumed:
            cache.forget_pod(info.uid)
        return snapshot

    def _cache(self) -> Cache:
        if self._counted is None:
            cache = self._counted = Cache()
            for node in self._nodes:
                cache.add_node(node)
            for info in self.pods.values():
                if info.pod.spec.node_name and not info.pod.is_finished:
                    cache.add_pod(info)
        return self._counted


def replay(
    seen: Seen,
    uid: str,
    given: Mapping[str, Any],
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    *,
    seed: int,
    listers: Listers | None = None,
    until: str = "",
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run an attempt again and return (result, explanation), equal to what its trace held.

    Args:
        seen: the nodes and pods at `given["seenRevision"]`.
        uid: the pod, one of them.
        given: the trace's `input`.
        configuration: the one that `given["configuration"]` names.
        registry: how to build its plugins.
        seed: the session's.
        listers: the cluster's other objects at that revision.
        until: stop at this extension point; empty: decide.

    Raises:
        KeyError: the pod is not there.
    """
    core, run = prepared(seen, uid, given, configuration, registry, seed=seed, listers=listers)
    for item in decide(core, run):
        # Where the record of answers ends the attempt had come no further.
        if run.point == until or isinstance(item, CallExtenders):
            break
    outcome = outcome_of(core, run)
    return outcome.as_dict(), {**explained(run, outcome), **extenders_account(run)}


def prepared(
    seen: Seen,
    uid: str,
    given: Mapping[str, Any],
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    *,
    seed: int,
    listers: Listers | None = None,
) -> tuple[Scheduler, Run]:
    """Return a scheduler and an attempt, ready to be decided again; arguments as for `replay`.

    Raises:
        KeyError: the pod is not there.
    """
    known = CycleInput.of(dict(given))
    infos = seen.pods
    nominator = Nominator()
    for nominated, node_name in known.nominations.items():
        if nominated in infos:
            nominator.add(infos[nominated], node_name)
    built = Configuration(
        configuration.profiles,
        registry,
        hash=known.configuration,
        percentage=configuration.percentage_of_nodes_to_score,
        listers=AssumedObjects(
            listers if listers is not None else NoListers(), known.volumes, known.claims, known.devices
        ),
        nominator=nominator,
        reuse=False,
        extenders=configuration.extenders,
    )
    for held in known.waiting:
        if held in infos and held in known.assumed:
            built.waiting.add(infos[held].placed(known.assumed[held]), known.assumed[held], {}, known.now_ms)
    built.waiting.note(known.waiting)
    core = Scheduler(built, nominator, seed=seed)
    core.now_ms = known.now_ms
    info = core.pods[uid] = infos[uid]
    queued = QueuedPod(info, known.now_ms, 0)
    queued.attempts = known.attempt
    run = Run(queued, info, built.frameworks[known.profile], seen.snapshot(known), known, built.extenders)
    return core, run


def all_refusals_again(
    core: Scheduler, run: Run, names: Sequence[str] = (), most: int = REFUSALS_TOLD_MAX
) -> dict[str, list[dict[str, Any]]]:
    """Run a prepared attempt up to Filter and return every filter's no to nodes; see `all_refusals`."""
    for item in decide(core, run):
        if run.outcome is not None or isinstance(item, CallExtenders):
            break
    return all_refusals(run, names, most)


def explained(run: Run, outcome: Outcome) -> dict[str, Any]:
    """Return what a trace holds beside the outcome, as `explanation`, but for what extenders did."""
    return {**explanation(outcome), **refusals_account(run), **state_account(run)}


def state_account(run: Run) -> dict[str, Any]:
    """Return what plugins have kept for later points, as `explanation` holds it; empty where none has."""
    entries = state_entries(run.state)
    return {"cycleState": entries} if entries else {}


def extenders_account(run: Run) -> dict[str, Any]:
    """Return what came of each call to an extender, as `explanation` holds it; empty where none was called."""
    if not run.extenders or not run.extending.accounts:
        return {}
    return {"extenders": [dict(account) for account in run.extending.accounts]}
