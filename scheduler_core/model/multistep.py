"""The multi-step local optimum: the engine places the same pods one after another, each as well as it can then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replace_struct

from scheduler_core.framework.interface import Listers
from scheduler_core.framework.profile import PluginSet
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.model.objects import Objects
from scheduler_core.model.placement import Placement
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import decide
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator

_NO_PREEMPTION: Final = PluginSet(disabled=frozenset({"*"}))

ROUND_MS: Final = 11_000
"""Simulated milliseconds between rounds: longer than the longest backoff."""


def _scheduler(
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    objects: Objects,
    seed: int,
    listers: Listers | None,
) -> Scheduler:
    """Return a scheduler that has seen the nodes and the pods on them; it asks no extender."""
    nominator = Nominator()
    profiles = configuration.profiles
    built = Configuration(
        profiles,
        registry,
        hash="",
        percentage=configuration.percentage_of_nodes_to_score,
        listers=listers,
        nominator=nominator,
    )
    core = Scheduler(built, nominator, seed=seed)
    for node in objects.nodes:
        core.observe_node(node)
    for pod in objects.pods:
        if pod.pod.spec.node_name:
            core.observe_pod(pod)
    return core


def judge(
    pod: PodInfo,
    objects: Objects,
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    *,
    seed: int,
    listers: Listers | None = None,
) -> Run | None:
    """Return one attempt at the pod, as if it were its turn now; None: gated, or no profile schedules it.

    Args:
        pod: the pod; where it is now does not count.
        objects: the cluster, with the pods that are leaving.
        configuration: the profiles.
        registry: their plugins.
        seed: decides ties.
        listers: the cluster's other objects.
    """
    others = objects.without((pod,))
    core = _scheduler(configuration, registry, others, seed, listers)
    for other in others.pods:
        if other.pod.status.nominated_node_name and not other.pod.spec.node_name:
            core.nominator.add(other)
    core.observe_pod(_fresh(pod) if pod.pod.spec.node_name else pod)
    run = core.begin(0)
    if run is not None:
        _decide(core, run)
    return run


def _decide(core: Scheduler, run: Run) -> None:
    for _ in decide(core, run):
        pass


def place_one_by_one(
    pods: Sequence[PodInfo],
    objects: Objects,
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    *,
    seed: int,
    listers: Listers | None = None,
) -> Placement:
    """Return where the engine puts the pods, begun from a cluster without them; nobody is preempted.

    Pods that find no place are tried again as long as others still find one: an affinity may be satisfied by then.

    Args:
        pods: the pods, in order of their creation; where they are now does not count.
        objects: the cluster; its other bound pods stay.
        configuration: the profiles; a pod of none of them gets no node.
        registry: their plugins.
        seed: decides ties.
        listers: the cluster's other objects.
    """
    profiles = [
        replace(profile, sets={**profile.sets, "postFilter": _NO_PREEMPTION}) for profile in configuration.profiles
    ]
    configuration = replace(configuration, profiles=tuple(profiles))
    core = _scheduler(configuration, registry, objects.without(pods), seed, listers)
    for pod in pods:
        core.observe_pod(_fresh(pod))
    placement: dict[str, str] = {}
    while True:
        before = len(placement)
        # At most one attempt a pod: one that breaks at once would come back at once.
        for _ in pods:
            run = core.begin(0)
            if run is None:
                break
            _decide(core, run)
            if run.result == "scheduled":
                placement[run.uid] = run.chosen
                core.queue.done(run.uid)
                core.observe_pod(run.info.placed(run.chosen))
            else:
                core.put_back(run)
        if len(placement) in (before, len(pods)):
            return placement
        core.now_ms += ROUND_MS
        core.queue.flush(core.now_ms)


def _fresh(pod: PodInfo) -> PodInfo:
    """Return the pod as if it had just been created: no node, no nomination."""
    status = replace_struct(pod.pod.status, nominated_node_name="")
    return PodInfo(replace_struct(pod.pod, spec=replace_struct(pod.pod.spec, node_name=""), status=status))
