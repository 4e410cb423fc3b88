"""The scheduler: cache, queue, nominations and waiting pods of one replica, and the cycles that it begins.

Pure: whoever drives it sets `now_ms` before each call and carries out what cycles ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from scheduler_core.api.node import Node
from scheduler_core.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    ActionType,
    ClusterEvent,
    EventRegistration,
    EventResource,
)
from scheduler_core.framework.interface import NoListers
from scheduler_core.framework.lots import KEY as LOTS
from scheduler_core.framework.lots import Lots
from scheduler_core.framework.metrics import INCOMING_PODS, PENDING_PODS, Metrics
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.preemption.steps import PREEMPTOR
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.run import CycleInput, Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from scheduler_core.state.changes import node_changes, pod_changes
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queue import SchedulingQueue
from scheduler_core.state.queued import Lane, QueuedPod
from scheduler_core.volumes.assumed import AssumedObjects

ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
CONFIGURED = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "SchedulerConfigured")
"""The scheduler runs other profiles: every pod that was turned away may go again."""
NODE_DELETE = ClusterEvent(EventResource.NODE, ActionType.DELETE)


class Scheduler:
    """One replica's scheduler."""

    def __init__(
        self,
        configuration: Configuration,
        nominator: Nominator,
        *,
        seed: int,
        metrics: Metrics | None = None,
        volumes: AssumedObjects | None = None,
    ) -> None:
        """Begin with empty memory. Nominator, metrics and volumes are those that the configuration's plugins use."""
        self.seed = seed
        self.now_ms = 0
        self.cache = Cache(configuration.expiry_ms)
        self.nominator = nominator
        self.volumes = volumes if volumes is not None else AssumedObjects(NoListers())
        self.waiting = configuration.waiting
        self.metrics = metrics
        self.configuration = configuration
        self.next_configuration: Configuration | None = None
        """Takes effect at the next cycle."""
        self.assumed: dict[str, str] = {}
        """uid → node of pods counted without confirmation, in order of assuming."""
        self.pods: dict[str, PodInfo] = {}
        """Every pod that the watch has shown, newest view."""
        self.start_row = 0
        self._snapshot = Snapshot()
        self.queue = SchedulingQueue(
            sort_key=self._sort_key,
            pre_enqueue=self._pre_enqueue,
            hints=self._hints,
            nominator=nominator,
            on_incoming=self._count_incoming,
            **configuration.queue_times,
        )

    def _count_incoming(self, lane: Lane, label: str) -> None:
        if self.metrics is not None:
            self.metrics.count(INCOMING_PODS, lane.value, label)

    def show_metrics(self) -> Metrics | None:
        """Return what is recorded, with the gauges as they are now."""
        if self.metrics is not None:
            for lane, count in self.queue.counts().items():
                self.metrics.put(PENDING_PODS, count, lane)
        return self.metrics

    # What the watch shows.

    def is_mine(self, info: PodInfo) -> bool:
        """Return whether one of the profiles schedules this pod."""
        return info.pod.spec.scheduler_name in self.configuration.frameworks

    def observe_pod(self, new: PodInfo) -> None:
        """Take a pod as the watch shows it, new or changed; a finished one holds nothing any more."""
        if new.pod.is_finished:
            self.remove_pod(new.uid)
            return
        old = self.pods.get(new.uid)
        self.pods[new.uid] = new
        if new.pod.spec.node_name:
            self._observe_assigned(old, new)
        elif not self.cache.is_assumed(new.uid):
            self._observe_waiting(old, new)

    def _observe_assigned(self, old: PodInfo | None, new: PodInfo) -> None:
        known = old is not None and bool(old.pod.spec.node_name)
        self.assumed.pop(new.uid, None)
        self.cache.add_pod(new)
        if known and old is not None:
            for event in pod_changes(old, new):
                self.queue.move(event, old, new, self.now_ms)
            return
        self._leave_queue(new.uid)
        self.queue.move(ASSIGNED_POD_ADD, None, new, self.now_ms)

    def _observe_waiting(self, old: PodInfo | None, new: PodInfo) -> None:
        if not self.is_mine(new):
            return
        if new.pod.is_terminating:
            # Upstream skips pods that are being deleted when their turn comes; here they leave at once. What they are
            # nominated to they are nominated to until they are gone; a gate keeps a new one from hoping for anything.
            self._leave_queue(new.uid)
            if old is not None or self._pre_enqueue(new).ok:
                self.nominator.add(new)
            return
        if old is None:
            self.queue.add(new, self.now_ms)
            return
        self.queue.update(old, new, pod_changes(old, new), self.now_ms)
        before, after = old.pod.status.nominated_node_name, new.pod.status.nominated_node_name
        if before and before != after:
            # What it hoped for is free for pods of no higher priority.
            self.queue.move(ASSIGNED_POD_DELETE, old, None, self.now_ms, priority_max=old.priority)

    def remove_pod(self, uid: str) -> None:
        """Take a pod's end: deleted, or finished."""
        info = self.pods.pop(uid, None)
        if info is None:
            return
        if info.pod.spec.node_name:
            self.cache.remove_pod(uid)
            self.queue.move(ASSIGNED_POD_DELETE, info, None, self.now_ms)
            return
        nominated = self.nominator.node_of(uid)
        self._leave_queue(uid)
        if self.cache.is_assumed(uid):
            # A list can show the end of a pod whose binding was never shown.
            counted = self.cache.pod(uid)
            self.cache.forget_pod(uid)
            self.assumed.pop(uid, None)
            self.queue.move(ASSIGNED_POD_DELETE, counted, None, self.now_ms)
        elif nominated:
            self.queue.move(ASSIGNED_POD_DELETE, info, None, self.now_ms, priority_max=info.priority)

    def _leave_queue(self, uid: str) -> None:
        self.queue.delete(uid)
        self.waiting.reject(uid, "", "removed")

    def observe_node(self, new: Node) -> None:
        """Take a node as the watch shows it, new or changed."""
        known = self.cache.node(new.name)
        old = known.node if known is not None else None
        self.cache.add_node(new)
        if old is None:
            self.queue.move(NODE_ADD, None, new, self.now_ms)
            return
        for event in node_changes(old, new):
            self.queue.move(event, old, new, self.now_ms)

    def remove_node(self, name: str) -> None:
        """Take a node's deletion."""
        known = self.cache.node(name)
        if known is None:
            return
        # While pods are left on it the cache keeps its entry, without the node.
        gone = known.node
        self.cache.remove_node(name)
        self.queue.move(NODE_DELETE, gone, None, self.now_ms)

    def observe_other(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Take a change of another kind of object (a volume, a storage class)."""
        self.queue.move(event, old, new, self.now_ms)

    def expire(self) -> None:
        """Stop counting assumed pods whose confirmation is overdue; what they took is free again."""
        for info in self.cache.expire(self.now_ms):
            self.assumed.pop(info.uid, None)
            self.queue.move(ASSIGNED_POD_DELETE, info, None, self.now_ms)

    def wakes(self, queued: QueuedPod) -> tuple[ClusterEvent, ...]:
        """Return the events that can wake a pod which plugins turned away."""
        of = (queued.info, queued.rejectors, self.configuration)
        known = queued.hopes
        # A shown queue is told five times a second, and pods in it wait for minutes.
        if known is None or known[0][0] is not of[0] or known[0][1] != of[1] or known[0][2] is not of[2]:
            known = queued.hopes = (of, self.configuration.waking(queued.info, queued.rejectors))
        return known[1]

    # Attempts.

    def take_configuration(self) -> None:
        """Run the next configuration from here on, if there is one; attempts under way end with the old one.

        As after a restart of the real scheduler every pod is looked at anew: the queue is ordered and its backoffs are
        reckoned by the new settings, pods of profiles that are gone leave it, pods of profiles that have come enter it,
        and no pod waits for an event that only the old profiles' plugins listened to.
        """
        if self.next_configuration is None:
            return
        self.configuration, self.next_configuration = self.next_configuration, None
        self.cache.expiry_ms = self.configuration.expiry_ms
        for info in self.pods.values():
            if not self.is_mine(info):
                self.queue.delete(info.uid)
        self.queue.reconfigure(**self.configuration.queue_times)
        for info in self.pods.values():
            waits = not info.pod.spec.node_name and not info.pod.is_terminating
            known = self.queue.get(info.uid) is not None or self.cache.is_assumed(info.uid)
            if waits and not known and self.is_mine(info):
                self.queue.add(info, self.now_ms)
        self.queue.move(CONFIGURED, None, None, self.now_ms)

    def begin(self, seen_revision: int, uid: str = "") -> Run | None:
        """Take the next pod (or one, out of turn) and freeze what its attempt sees; None: nobody may go now."""
        self.take_configuration()
        queued = self.queue.take(uid, 1, self.now_ms) if uid else self.queue.pop(self.now_ms)
        if queued is None:
            return None
        self.cache.update_snapshot(self._snapshot)
        framework = self.configuration.frameworks[queued.pod.spec.scheduler_name]
        given = self._input(queued, seen_revision)
        self.waiting.note(given.waiting)
        run = Run(queued, queued.info, framework, self._snapshot, given, self.configuration.extenders)
        if self.metrics is not None:
            run.state.timing = self.metrics.next_attempt()
        return run

    def begin_again(self, uid: str, given: CycleInput, info: PodInfo, snapshot: Snapshot) -> Run | None:
        """Take up an attempt that another owner had begun; None: the pod waits in no lane, or its profile is gone.

        Args:
            uid: the pod.
            given: the attempt's input.
            info: the pod as it was at the input's revision.
            snapshot: the nodes as they were, with the input's assumed pods.
        """
        framework = self.configuration.frameworks.get(given.profile)
        queued = None if framework is None else self.queue.take(uid, given.attempt, self.now_ms)
        if framework is None or queued is None:
            return None
        for nominated, node_name in given.nominations.items():
            if nominated in self.pods:
                self.nominator.add(self.pods[nominated], node_name)
        self.waiting.note(given.waiting)
        return Run(queued, info, framework, snapshot, given, self.configuration.extenders)

    def wait_again(self, uid: str, node_name: str, until_ms: Mapping[str, int], seen_revision: int) -> Run | None:
        """Take up a pod that another owner had left waiting at Permit; None: it waits in no lane any more."""
        info = self.pods.get(uid)
        framework = None if info is None else self._framework_of(info)
        queued = None if framework is None else self.queue.take(uid, 1, self.now_ms)
        if framework is None or queued is None:
            return None
        self.cache.update_snapshot(self._snapshot)
        given = self._input(queued, seen_revision)
        run = Run(queued, queued.info, framework, self._snapshot, given, self.configuration.extenders)
        run.result, run.chosen, run.point = "scheduled", node_name, "Permit"
        framework.run_pre_filter(run.state, run.info, run.snapshot)
        row = run.snapshot.row_of.get(node_name)
        if row is not None:
            # What Filter found there is what Reserve takes.
            framework.filter_node_with_nominated(run.state, run.info, run.snapshot, row)
        self.assume(run)
        framework.run_reserve(run.state, run.info, node_name)
        run.waits = {plugin: max(0, until - self.now_ms) for plugin, until in until_ms.items()}
        self.wait(run)
        return run

    def _input(self, queued: QueuedPod, seen_revision: int) -> CycleInput:
        framework = self.configuration.frameworks[queued.pod.spec.scheduler_name]
        sampled = self.configuration.percentage_of(framework) < 100 or framework.rules.feasible_max is not None
        return CycleInput(
            seen_revision=seen_revision,
            attempt=queued.attempts,
            assumed=dict(self.assumed),
            nominations={info.uid: node_name for node_name, info in self.nominator.items()},
            waiting=tuple([waiting.info.uid for waiting in self.waiting.listed()]),
            start=self.start_row,
            order=self._snapshot.order if sampled else (),
            configuration=self.configuration.hash,
            profile=framework.name,
            now_ms=self.now_ms,
            volumes=self.volumes.volumes,
            claims=self.volumes.claims,
            devices=self.volumes.devices.under_way,
        )

    # What a cycle uses: see `peers.Core`.

    def percentage_of(self, framework: Framework) -> int:
        """Return percentageOfNodesToScore for a profile; 0 is adaptive."""
        return self.configuration.percentage_of(framework)

    def before_post_filter(self, run: Run) -> None:
        """Give PostFilter plugins the attempt's lots, and the pod as it is by now."""
        run.state.write(LOTS, Lots(self.seed, run.uid, run.given.attempt))
        run.state.write(PREEMPTOR, (self._read_afresh(run),))

    def _read_afresh(self, run: Run) -> PodInfo | None:
        """Return the pod's newest view, None where it is gone; one that has changed becomes part of the input."""
        known = run.given.preemptor
        if known is not None:
            return PodInfo.of(known) if known else None
        latest = self.pods.get(run.uid)
        if latest is None:
            run.given = replace(run.given, preemptor={})
            return None
        nominated = run.info.pod.status.nominated_node_name
        if latest.shape == run.info.shape and latest.pod.status.nominated_node_name == nominated:
            return run.info
        run.given = replace(run.given, preemptor=msgspec.to_builtins(latest.pod))
        return latest

    def searched(self, run: Run) -> None:
        """Let the next sampled search begin where this attempt's ended, whatever became of it."""
        if run.outcome is not None and not run.outcome.used_nominated_node:
            self.start_row = (run.given.start + run.outcome.processed) % len(run.snapshot)

    def assume(self, run: Run) -> None:
        """Count the pod on its chosen node; a nomination has served its purpose.

        Raises:
            CacheError: the watch has shown it on a node meanwhile.
        """
        assumed = run.info.placed(run.chosen)
        self.cache.assume_pod(assumed, run.chosen)
        run.assumed = assumed
        self.assumed[run.uid] = run.chosen
        self.nominator.delete(run.uid)

    def forget(self, run: Run) -> None:
        """Undo `assume`; a pod that the watch has confirmed meanwhile stays counted."""
        if self.cache.is_assumed(run.uid):
            self.cache.forget_pod(run.uid)
        self.assumed.pop(run.uid, None)

    def wait(self, run: Run) -> None:
        """Hold the pod at Permit."""
        assert run.assumed is not None
        self.waiting.add(run.assumed, run.chosen, run.waits, self.now_ms)

    def put_back(self, run: Run) -> PodInfo | None:
        """Return the pod to the queue, with its newest view; None: it is gone, or has a node by now."""
        current = self.pods.get(run.uid)
        if current is None or current.pod.spec.node_name or current.pod.is_terminating:
            self.queue.done(run.uid)
            return None
        if not self.is_mine(current):
            # Its profile went away meanwhile; it comes back to the queue with the profile.
            self.queue.done(run.uid)
            return current
        queued = run.queued
        queued.info = current
        queued.message = run.message
        if run.framework.rules.waits_for_events:
            queued.unschedulable_plugins = run.unschedulable_plugins
            queued.pending_plugins = run.pending_plugins
        self.queue.put_back(queued, self.now_ms)
        self.nominator.add(current, run.nominated_node_name)
        return current

    def activate(self, uid: str) -> None:
        """Move a pod to the active lane at once."""
        self.queue.activate(uid)

    def reject_waiting(self, uid: str, plugin: str, reason: str) -> bool:
        """Reject a pod that Permit holds; return whether there was one."""
        return self.waiting.reject(uid, plugin, reason)

    # What the queue asks of the profiles.

    def _framework_of(self, info: PodInfo) -> Framework | None:
        return self.configuration.frameworks.get(info.pod.spec.scheduler_name)

    def _sort_key(self, queued: QueuedPod) -> tuple[int, ...]:
        framework = self._framework_of(queued.info)
        if framework is None:
            return (0, queued.timestamp_ms, queued.order)
        return (*framework.queue_sort.sort_key(queued.info, queued.timestamp_ms), queued.order)

    def _pre_enqueue(self, info: PodInfo) -> Status:
        framework = self._framework_of(info)
        return SUCCESS if framework is None else framework.run_pre_enqueue(info)

    def _hints(self, scheduler_name: str, event: ClusterEvent) -> Sequence[tuple[str, EventRegistration]]:
        return self.configuration.hints(scheduler_name, event)
