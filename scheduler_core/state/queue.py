"""The scheduling queue: active, backoff, unschedulable and gated lanes, and the pods in the scheduler's hand.

Pure: every call takes `now_ms`. Moves follow kube-scheduler v1.34 (`pkg/scheduler/backend/queue`):

    new ──▶ active ──pop──▶ in flight ──bound──▶ gone
              ▲  ▲              │ rejected, or failed with an error
              │  └── backoff ◀──┤ an event came meanwhile, or an error
              │        ▲        ▼
              └────────┴── unschedulable    (an event whose queueing hint says that it may help; or five minutes)
    new ──▶ gated (a PreEnqueue plugin says no) ──▶ active, once an event of that plugin lets it pass
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_core.framework.events import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.backoff import INITIAL_BACKOFF_MS, MAX_BACKOFF_MS, Backoff
from scheduler_core.state.changes import is_changed
from scheduler_core.state.heap import PodHeap
from scheduler_core.state.hearing import PreEnqueue, QueueingHints, Requeue
from scheduler_core.state.in_flight import InFlight
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.parked import UNSCHEDULABLE_MAX_MS, Parked
from scheduler_core.state.queued import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    POD_ADDED,
    POD_UPDATED,
    POPPED_FROM_BACKOFF,
    Lane,
    QueuedPod,
    SortKeyOf,
)


class SchedulingQueue:
    """Every pod that waits for a node, each in exactly one lane or in flight."""

    def __init__(
        self,
        *,
        sort_key: SortKeyOf,
        pre_enqueue: PreEnqueue,
        hints: QueueingHints,
        nominator: Nominator,
        backoff_ms: tuple[int, int] = (INITIAL_BACKOFF_MS, MAX_BACKOFF_MS),
        pop_from_backoff: bool = True,
        change_activates: bool = False,
        unschedulable_max_ms: int = UNSCHEDULABLE_MAX_MS,
        on_incoming: Callable[[Lane, str], None] = lambda lane, label: None,
    ) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._sort_key = sort_key
        self._active = PodHeap(Lane.ACTIVE, sort_key)
        self._backoff = PodHeap(Lane.BACKOFF, self._backoff_key)
        self._error_backoff = PodHeap(Lane.BACKOFF, self._backoff_key)
        self._parked = Parked(unschedulable_max_ms)
        self._pre_enqueue = pre_enqueue
        self._hints = hints
        self._nominator = nominator
        self._waits = Backoff(*backoff_ms, windowed=pop_from_backoff)
        self._pop_from_backoff = pop_from_backoff
        self._change_activates = change_activates
        self._on_incoming = on_incoming
        """Told of every pod that comes into a lane, with the label of what moved it."""
        self._in_flight = InFlight()
        self._arrivals = 0

    # What is where.

    def __len__(self) -> int:
        """Return how many pods are in lanes (those in flight are not)."""
        return len(self._active) + len(self._backoff) + len(self._error_backoff) + len(self._parked)

    @property
    def active_count(self) -> int:
        """Return how many pods are in the active lane."""
        return len(self._active)

    @property
    def has_next(self) -> bool:
        """Return whether `pop` has a pod to give."""
        return bool(self._active) or (self._pop_from_backoff and bool(self._backoff))

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod if it is in a lane or in flight."""
        return self._pods.get(uid)

    def counts(self) -> dict[str, int]:
        """Return pods by lane."""
        gated = sum(1 for queued in self._parked if queued.is_gated)
        return {
            "active": len(self._active),
            "backoff": len(self._backoff) + len(self._error_backoff),
            "unschedulable": len(self._parked) - gated,
            "gated": gated,
        }

    def listed(self, lane: Lane, limit: int) -> list[QueuedPod]:
        """Return the first pods of a lane: in order of going, or of arrival where there is no such order."""
        match lane:
            case Lane.ACTIVE:
                return self._active.listed(limit)
            case Lane.BACKOFF:
                both = self._backoff.listed(limit) + self._error_backoff.listed(limit)
                return sorted(both, key=self._backoff_key)[:limit]
            case Lane.UNSCHEDULABLE | Lane.GATED:
                gated = lane is Lane.GATED
                found = [queued for queued in self._parked if queued.is_gated is gated]
                return found[:limit]
            case Lane.IN_FLIGHT:
                return [self._pods[uid] for uid in self._in_flight.uids if uid in self._pods][:limit]
            case Lane.GONE:
                return []

    def reconfigure(
        self,
        backoff_ms: tuple[int, int],
        *,
        pop_from_backoff: bool = True,
        change_activates: bool = False,
        unschedulable_max_ms: int = UNSCHEDULABLE_MAX_MS,
    ) -> None:
        """Order the lanes and reckon waits anew: what the profiles say of both has changed."""
        self._pop_from_backoff, self._change_activates = pop_from_backoff, change_activates
        self._parked.reconfigure(unschedulable_max_ms)
        self._waits = Backoff(*backoff_ms, windowed=self._pop_from_backoff)
        for queued in self._pods.values():
            queued.backoff_until_ms = None
        for heap in (self._active, self._backoff, self._error_backoff):
            for queued in heap.listed(len(heap)):
                heap.push(queued)

    # Pods come, change and go.

    def add(self, info: PodInfo, now_ms: int, *, label: str = POD_ADDED) -> None:
        """Take a new pod without a node. One that is known already is only updated."""
        known = self._pods.get(info.uid)
        if known is not None:
            known.info = info
            return
        self._arrivals += 1
        queued = QueuedPod(info, now_ms, self._arrivals)
        self._pods[info.uid] = queued
        self._to_active(queued, label)

    def update(self, old: PodInfo | None, new: PodInfo, events: Iterable[ClusterEvent], now_ms: int) -> None:
        """Take a changed pod; `events` say what of it changed (`pod_changes`)."""
        queued = self._pods.get(new.uid)
        if queued is None:
            self.add(new, now_ms, label=POD_UPDATED)
            return
        if queued.lane is Lane.IN_FLIGHT:
            # The attempt goes on with what it began with; what changed counts when the pod comes back.
            for event in events:
                self._in_flight.record(event, old, new, only=new.uid)
            return
        queued.info = new
        self._nominator.update(old, new)
        if queued.lane is Lane.ACTIVE:
            self._active.push(queued)
            return
        if queued.lane is Lane.BACKOFF:
            return
        if self._change_activates and old is not None and is_changed(old, new):
            self._to_active(queued, next((event.name for event in events), POD_UPDATED))
            return
        for event in events:
            strategy = self._worth(queued, event, old, new)
            if strategy is not Requeue.SKIP and self._requeue(queued, strategy, event.name, now_ms):
                break

    def delete(self, uid: str) -> None:
        """Forget a pod; one in flight is forgotten when its attempt ends."""
        self._nominator.delete(uid)
        queued = self._pods.get(uid)
        if queued is None or queued.lane is Lane.IN_FLIGHT:
            return
        self._leave_lane(queued)
        queued.lane = Lane.GONE
        del self._pods[uid]

    # Attempts.

    def pop(self, now_ms: int) -> QueuedPod | None:
        """Take the pod that goes next, from backoff when the active lane is empty; None: nothing may go now."""
        queued = self._active.pop()
        if queued is None and self._pop_from_backoff:
            queued = self._backoff.pop()
            if queued is not None:
                queued.moved_by = POPPED_FROM_BACKOFF
        if queued is None:
            return None
        return self._take_off(queued, queued.attempts + 1, now_ms)

    def take(self, uid: str, attempt: int, now_ms: int) -> QueuedPod | None:
        """Take one pod out of its lane to go on with an attempt that had begun elsewhere; None: it waits in none."""
        queued = self._pods.get(uid)
        if queued is None or queued.lane is Lane.IN_FLIGHT:
            return None
        self._leave_lane(queued)
        return self._take_off(queued, attempt, now_ms)

    def _take_off(self, queued: QueuedPod, attempt: int, now_ms: int) -> QueuedPod:
        if queued.first_attempt_ms is None:
            queued.first_attempt_ms = now_ms
        queued.lane = Lane.IN_FLIGHT
        queued.attempts = attempt
        queued.backoff_until_ms = None
        queued.unschedulable_plugins = queued.pending_plugins = frozenset()
        self._in_flight.begin(queued.uid)
        return queued

    def done(self, uid: str) -> None:
        """End an attempt that will not come back as unschedulable (past Permit, or its pod is gone)."""
        self._in_flight.drop(uid)
        queued = self._pods.get(uid)
        if queued is not None and queued.lane is Lane.IN_FLIGHT:
            queued.lane = Lane.GONE
            del self._pods[uid]

    def put_back(self, queued: QueuedPod, now_ms: int) -> Lane:
        """End an attempt that failed: `unschedulable_plugins` and `pending_plugins` say by whose no, none by an error.

        The pod takes the newest view that the caller knows in `info`. Returns the lane it went to.
        """
        if not queued.rejectors:
            queued.consecutive_errors += 1
        else:
            queued.rejections += 1
            queued.consecutive_errors = 0
        queued.timestamp_ms = now_ms
        queued.backoff_until_ms = None
        missed = self._in_flight.end(queued.uid)
        known = self._pods.get(queued.uid)
        if known is not None and known is not queued:
            # The pod came back by another way (its own event) while the attempt ran on: one entry is enough.
            return known.lane
        self._pods[queued.uid] = queued
        strategy = Requeue.AFTER_BACKOFF if not queued.rejectors else Requeue.SKIP
        label = ATTEMPT_FAILED
        for event, old, new in missed:
            worth = self._worth(queued, event, old, new)
            if worth is Requeue.SKIP:
                continue
            if strategy is Requeue.SKIP or worth is Requeue.IMMEDIATELY:
                label = event.name
            strategy = worth
            if worth is Requeue.IMMEDIATELY:
                break
        self._park(queued, ATTEMPT_FAILED)
        if strategy is not Requeue.SKIP:
            self._requeue(queued, strategy, label, now_ms)
        else:
            self._on_incoming(Lane.UNSCHEDULABLE, ATTEMPT_FAILED)
        return queued.lane

    # What happens around.

    def move(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        now_ms: int,
        *,
        spare_uid: str = "",
        priority_max: int | None = None,
    ) -> list[QueuedPod]:
        """Let parked pods go that an event may help, and keep it for pods in flight; return the pods that moved.

        Args:
            event: what happened.
            old: the object before, for queueing hints.
            new: the object after.
            now_ms: simulated time.
            spare_uid: stays where it is: the pod whose own failure the event is.
            priority_max: pods of a higher priority stay.
        """
        moved: list[QueuedPod] = []
        for queued in self._concerned(event):
            if queued.uid == spare_uid or (priority_max is not None and queued.priority > priority_max):
                continue
            if queued.is_gated and not self._ungates(queued, event):
                continue
            strategy = self._worth(queued, event, old, new)
            if strategy is not Requeue.SKIP and self._requeue(queued, strategy, event.name, now_ms):
                moved.append(queued)
        self._in_flight.record(event, old, new)
        return moved

    def _concerned(self, event: ClusterEvent) -> list[QueuedPod]:
        """Return the parked pods of which a plugin that holds them listens to the event."""
        if event.resource is EventResource.WILDCARD:
            return list(self._parked)
        return self._parked.under(
            [
                (name, plugin)
                for name, plugin in self._parked.places()
                if any(plugin == listener for listener, _ in self._hints(name, event))
            ]
        )

    def activate(self, uid: str) -> bool:
        """Move a pod to the active lane at once, whatever holds it but a gate; return whether it is there now."""
        queued = self._pods.get(uid)
        if queued is None:
            return False
        if queued.lane is Lane.IN_FLIGHT:
            self._in_flight.record(FORCE_ACTIVATE, None, queued.info, only=uid)
            return False
        if queued.lane is Lane.ACTIVE:
            return True
        return self._to_active(queued, FORCE_ACTIVATE.name)

    def flush(self, now_ms: int) -> None:
        """Let go what time alone frees: ended backoffs, and pods that no event helped for five minutes."""
        for heap in (self._backoff, self._error_backoff):
            while (queued := heap.peek()) is not None and self.ready_at_ms(queued) <= now_ms:
                self._to_active(queued, BACKOFF_COMPLETE)
        overdue = self._parked.overdue(now_ms)
        for queued in overdue:
            self._requeue(queued, Requeue.AFTER_BACKOFF, UNSCHEDULABLE_TIMEOUT.name, now_ms)
        if overdue:
            # Upstream tells it as an event for all: an attempt under way that fails is tried again, too.
            self._in_flight.record(UNSCHEDULABLE_TIMEOUT, None, None)

    def next_flush_ms(self) -> int | None:
        """Return when `flush` has something to do; None: nothing waits for time."""
        due = [self.ready_at_ms(queued) for heap in (self._backoff, self._error_backoff) if (queued := heap.peek())]
        if self._parked.due_ms is not None:
            due.append(self._parked.due_ms)
        return min(due, default=None)

    def ready_at_ms(self, queued: QueuedPod) -> int:
        """Return when the pod's backoff is over: at the end of the window in which its wait ends."""
        return self._waits.ready_at_ms(queued)

    # Inside.

    def _backoff_key(self, queued: QueuedPod) -> tuple[int, ...]:
        return (self._waits.until_ms(queued), *self._sort_key(queued))

    def _ungates(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        if event.resource is EventResource.WILDCARD:
            return True
        heard = self._hints(queued.pod.spec.scheduler_name, event)
        return any(plugin == queued.gating_plugin for plugin, _ in heard)

    def _worth(self, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any) -> Requeue:
        rejectors = queued.rejectors
        if not rejectors or event.resource is EventResource.WILDCARD:
            return Requeue.AFTER_BACKOFF
        strategy = Requeue.SKIP
        for plugin, registration in self._hints(queued.pod.spec.scheduler_name, event):
            if plugin not in rejectors or registration.ask(queued.info, old, new) is QueueingHint.SKIP:
                continue
            if plugin in queued.pending_plugins:
                return Requeue.IMMEDIATELY
            strategy = Requeue.AFTER_BACKOFF
            if not queued.pending_plugins:
                break
        return strategy

    def _requeue(self, queued: QueuedPod, strategy: Requeue, label: str, now_ms: int) -> bool:
        """Move a parked pod on; return whether it left (a gate may hold it back)."""
        if strategy is Requeue.AFTER_BACKOFF and self.ready_at_ms(queued) > now_ms:
            if self._pop_from_backoff and not self._passes_gates(queued):
                self._park(queued, label)
                return False
            self._leave_lane(queued)
            heap = self._backoff if queued.rejectors else self._error_backoff
            heap.push(queued)
            queued.moved_by = label
            self._on_incoming(Lane.BACKOFF, label)
            return True
        return self._to_active(queued, label)

    def _to_active(self, queued: QueuedPod, label: str) -> bool:
        # A pod in backoff has passed its gates on the way in.
        gates_passed = self._pop_from_backoff and queued.lane is Lane.BACKOFF
        if not gates_passed and not self._passes_gates(queued):
            self._leave_lane(queued)
            self._park(queued, label)
            self._on_incoming(Lane.UNSCHEDULABLE, label)  # Upstream counts the gated among them here.
            return False
        self._leave_lane(queued)
        self._active.push(queued)
        queued.moved_by = label
        self._on_incoming(Lane.ACTIVE, label)
        if label in (POD_ADDED, POD_UPDATED):
            # A gated pod hopes for no node until its own change lets it in.
            self._nominator.add(queued.info)
        return True

    def _passes_gates(self, queued: QueuedPod) -> bool:
        status = self._pre_enqueue(queued.info)
        if status.ok:
            queued.gating_plugin = queued.gate_message = ""
            return True
        queued.gating_plugin = status.plugin
        queued.gate_message = status.message
        # A gate's plugin is the one whose hints can lift it.
        queued.unschedulable_plugins = queued.unschedulable_plugins | {status.plugin}
        return False

    def _park(self, queued: QueuedPod, label: str) -> None:
        queued.moved_by = label
        self._parked.add(queued)

    def _leave_lane(self, queued: QueuedPod) -> None:
        heap = queued.heap
        if isinstance(heap, PodHeap):
            heap.remove(queued)
        else:
            self._parked.remove(queued)
