"""Judges nodes by their heartbeats, taints them by their conditions, and counts the pods of lost ones as not ready.

Upstream looks at every node each `node-monitor-period`. Here a look is taken at those times too, but only at those at
which it can find something: after a change of a node, and when a silence becomes too long.

Source: k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from controllers.admission.taintnodesbycondition import NOT_READY
from controllers.flags.controllermanager import (
    ERA,
    LARGE_CLUSTER_SIZE_THRESHOLD,
    NODE_EVICTION_RATE,
    NODE_MONITOR_GRACE_PERIOD,
    NODE_MONITOR_PERIOD,
    NODE_STARTUP_GRACE_PERIOD,
    SECONDARY_NODE_EVICTION_RATE,
    UNHEALTHY_ZONE_THRESHOLD,
)
from controllers.flags.flag import ERA_THEN
from controllers.kinds.coordination.heartbeat import is_running, renewed_unix_ms
from controllers.kit.informer import by_node
from controllers.kit.interest import NODE_NAME
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import ready_since_ms, status_patch
from controllers.log.operations import Operation, Patch, Result, Update
from controllers.log.stamps import wire_time
from controllers.nodelifecycle.health import unknown
from controllers.nodelifecycle.taints import (
    EXECUTE_TAINTS,
    UNREACHABLE,
    has_execute,
    missing_labels,
    no_schedule,
    patch,
    swapped,
    taints_of,
)
from controllers.nodelifecycle.zones import EXCLUDED, Emptying, ZoneState, state_of, zone_of
from scheduler_core.api.document import Document, condition

MONITOR: Final = "\x00monitor"
"""The key of a look at all nodes; `RESYNC_KEY` plans the next one."""

EMPTY: Final = "\x00empty"
"""The key under which nodes get the NoExecute taint they wait for."""

_POD: Final = "pod\x00"

RETRY_MS: Final = 20
"""After this long a look that met a conflict is taken again."""


class NodeLifecycleController:
    """Reconciles nodes by name, all of them at a look, and pods that come to a lost node."""

    NAME: ClassVar[str] = "node-lifecycle"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node and listen to both."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("node", by_node, of=(NODE_NAME,))
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed, reads=(NODE_NAME,))
        self._began_ms = -1
        self._looked_ms = -1
        self._known: dict[str, str] = {}
        self._zones: dict[str, Emptying] = {}
        self._states: dict[str, ZoneState] = {}
        self._heard_ms: dict[str, int] = {}
        """Unix milliseconds before which a node's silence does not count, by name."""

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if old is not None and new is not None and _judged(old) == _judged(new):
            return
        self._queue.add(RESYNC_KEY)
        if new is not None:
            self._queue.add(new["metadata"]["name"])

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        place = None if new is None else new["spec"].get("nodeName")
        if new is None or not place or (old is not None and old["spec"].get("nodeName") == place):
            return
        node = self._nodes.get("", place)
        if node is not None and _ready(node) not in ("True", ""):
            self._queue.add(_POD + key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Take a look, taint what may be tainted now, or bring one node's taints or one pod up to date."""
        if self._began_ms < 0:
            self._began_ms = work.now_ms
        if key == RESYNC_KEY:
            work.queue.add_at(MONITOR, self._look_at_ms(max(work.now_ms, self._looked_ms + 1), work))
        elif key == MONITOR:
            yield from self._look(work)
        elif key == EMPTY:
            yield from self._empty(work)
        elif key.startswith(_POD):
            pod = self._pods.get(*split_key(key.removeprefix(_POD)))
            node = None if pod is None else self._nodes.get("", pod["spec"].get("nodeName") or "")
            if pod is not None and node is not None and _ready(node) not in ("True", ""):
                yield from self._mark([pod], work)
        else:
            yield from self._settle(key, work)

    def _settle(self, name: str, work: Work) -> Reconcile:
        """Give a node the NoSchedule taints and the older labels that follow from what it is."""
        node = self._nodes.get("", name)
        if node is None:
            return
        change: Document = {}
        taints = no_schedule(node, work.unix_ms)
        if taints != taints_of(node):
            change["spec"] = {"taints": taints or None}
        labels = missing_labels(node)
        if labels:
            change["metadata"] = {"labels": labels}
        if change:
            _accepted((yield [patch(node, change)]))

    # -- a look at all nodes ------------------------------------------------------------------------------------

    def _look_at_ms(self, from_ms: int, work: Work) -> int:
        """Return the first time at or after `from_ms` at which upstream would look."""
        period_ms = work.flags[NODE_MONITOR_PERIOD]
        return self._began_ms + -(-(from_ms - self._began_ms) // period_ms) * period_ms

    def _look(self, work: Work) -> Reconcile:
        self._looked_ms = work.now_ms
        nodes = {node["metadata"]["name"]: node for node in self._nodes.all()}
        failed = _taken(nodes, (yield self._take_stock(nodes, work)))
        before = dict(nodes)
        silent = [write for node in nodes.values() if (write := self._silence(node, work)) is not None]
        unheard = _taken(nodes, (yield silent))
        for name in unheard:
            del nodes[name]
        changes = [
            change for name, node in nodes.items() if (change := self._execute(before[name], node, work)) is not None
        ]
        lost = [node for name, node in nodes.items() if _ready(before[name]) == "True" and _ready(node) != "True"]
        for node in lost:
            name = node["metadata"]["name"]
            about = {"apiVersion": "v1", "metadata": {"name": name, "uid": node["metadata"]["uid"]}}
            work.event(about, "Node", "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        names = [node["metadata"]["name"] for node in lost]
        work.tell(
            f"silent for too long, not ready any more: {', '.join(names)}" if names else "nodes are as they were",
            desired={"knownNodeSet": len(self._known)},
            actual={"ready": sum(1 for node in nodes.values() if _ready(node) == "True"), "nodeStore": len(before)},
        )
        pods = [pod for node in lost for pod in self._pods.indexed("node", node["metadata"]["name"])]
        yield from self._mark(pods, work)
        changes += self._disruption(list(nodes.values()), work)
        if _taken(nodes, (yield changes)) or failed or unheard:
            work.queue.add_at(MONITOR, work.now_ms + RETRY_MS)
        self._plan(list(nodes.values()), work)

    def _take_stock(self, nodes: Mapping[str, Document], work: Work) -> list[Operation]:
        """Tell which nodes have come and gone; one that is new begins without the taints of a lost one."""
        operations: list[Operation] = []
        for name, node in nodes.items():
            zone = zone_of(node)
            if zone not in self._states:
                self._states[zone] = "Initial"
                self._zones[zone] = Emptying(work.flags[NODE_EVICTION_RATE])
            if name not in self._known:
                self._known[name] = node["metadata"]["uid"]
                text = f"Registered Node {name} in Controller"
                self._tell(name, node["metadata"]["uid"], "RegisteredNode", text, work)
                cleared = swapped(node, work.unix_ms, remove=(NOT_READY, UNREACHABLE))
                operations += [] if cleared is None else [cleared]
        for name in [name for name in self._known if name not in nodes]:
            self._tell(name, self._known.pop(name), "RemovingNode", f"Removing Node {name} from Controller", work)
            self._heard_ms.pop(name, None)
        return operations

    @staticmethod
    def _tell(name: str, uid: str, reason: str, text: str, work: Work) -> None:
        about = {"apiVersion": "v1", "metadata": {"name": name, "uid": uid}}
        work.event(about, "Node", reason, f"Node {name} event: {text}")

    def _quiet_until_ms(self, node: Document, work: Work) -> int | None:
        """Return the Unix millisecond up to which a silent node's silence is not too long; None: it is not silent."""
        if is_running(node, work.unix_ms):
            return None
        # A renewal counts from when a look saw it, as upstream's clock may differ from the kubelet's.
        epoch_ms = work.unix_ms - work.now_ms
        seen_ms = epoch_ms + self._look_at_ms(max(renewed_unix_ms(node, work.unix_ms) - epoch_ms, self._began_ms), work)
        if not _ready(node):
            return renewed_unix_ms(node, work.unix_ms) + work.flags[NODE_STARTUP_GRACE_PERIOD]
        return max(seen_ms, self._heard_ms.get(node["metadata"]["name"], 0)) + work.flags[NODE_MONITOR_GRACE_PERIOD]

    def _silence(self, node: Document, work: Work) -> Update | None:
        until_ms = self._quiet_until_ms(node, work)
        return None if until_ms is None or work.unix_ms <= until_ms else unknown(node, work.unix_ms)

    def _execute(self, was: Document, node: Document, work: Work) -> Operation | None:
        """Let a node wait for its NoExecute taint, or return the write that swaps or removes one at once."""
        name, emptying = node["metadata"]["name"], self._zones[zone_of(node)]
        status = _ready(was)
        if not _ready(node):
            return None
        if work.flags[ERA] == ERA_THEN:
            # Pods are deleted by the era's node controller, after its own wait.
            emptying.waiting.pop(name, None)
            return swapped(node, work.unix_ms, remove=(NOT_READY, UNREACHABLE))
        if status == "True":
            emptying.waiting.pop(name, None)
            return swapped(node, work.unix_ms, remove=(NOT_READY, UNREACHABLE))
        wanted = EXECUTE_TAINTS.get(status or "Unknown", UNREACHABLE)
        other = NOT_READY if wanted == UNREACHABLE else UNREACHABLE
        if has_execute(node, other):
            return swapped(node, work.unix_ms, add=wanted, remove=(other,))
        if not has_execute(node, wanted):
            emptying.waiting.setdefault(name)
        return None

    def _mark(self, pods: Sequence[Document], work: Work) -> Reconcile:
        """A node that is not ready has no ready pods."""
        now = wire_time(work.unix_ms)
        ready = [pod for pod in pods if ready_since_ms(pod) is not None]
        writes: list[Operation] = []
        for pod in ready:
            known = condition(pod, "Ready") or {}
            writes.append(status_patch(pod, {"conditions": [{**known, "status": "False", "lastTransitionTime": now}]}))
            work.event(pod, "Pod", "NodeNotReady", "Node is not ready", event_type="Warning")
        if writes:
            _accepted((yield writes))

    def _plan(self, nodes: Sequence[Document], work: Work) -> None:
        """Plan the next look, if one can find anything without a change before it, and the next taint."""
        due: list[int] = []
        for node in nodes:
            wanted = EXECUTE_TAINTS.get(_ready(node))
            until_ms = self._quiet_until_ms(node, work)
            waits = node["metadata"]["name"] in self._zones[zone_of(node)].waiting
            if wanted and not has_execute(node, wanted) and not waits:
                due.append(self._look_at_ms(work.now_ms + 1, work))
            if until_ms is not None and _ready(node) != "Unknown":
                due.append(self._look_at_ms(until_ms - (work.unix_ms - work.now_ms) + 1, work))
        if due:
            work.queue.add_at(MONITOR, max(min(due), work.now_ms + 1))
        self._plan_emptying(work)

    # -- zones --------------------------------------------------------------------------------------------------

    def _disruption(self, nodes: Sequence[Document], work: Work) -> list[Operation]:
        """Set each zone's rate by its state; where nothing at all is ready, the fault is here: stop emptying nodes."""
        counts: dict[str, list[int]] = {}
        for node in nodes:
            if EXCLUDED not in (node["metadata"].get("labels") or {}):
                counts.setdefault(zone_of(node), [0, 0])[0 if _ready(node) == "True" else 1] += 1
        threshold = work.flags[UNHEALTHY_ZONE_THRESHOLD]
        states = {zone: state_of(ready, unready, threshold) for zone, (ready, unready) in counts.items()}
        for zone in [zone for zone in self._states if zone not in states]:
            del self._states[zone]
        all_lost = all(state == "FullDisruption" for state in states.values())
        all_were_lost = all(state == "FullDisruption" for state in self._states.values())
        if all_lost and all_were_lost:
            return []
        if all_lost:
            for zone in states:
                self._zones[zone].set_rate(0, work.now_ms)
                self._zones[zone].waiting.clear()
            self._states = states
            cleared = [swapped(node, work.unix_ms, remove=(NOT_READY, UNREACHABLE)) for node in nodes]
            return [write for write in cleared if write is not None]
        if all_were_lost:
            for node in nodes:
                self._heard_ms[node["metadata"]["name"]] = work.unix_ms
        for zone, state in states.items():
            if all_were_lost or self._states.get(zone) != state:
                self._zones[zone].set_rate(self._rate(state, sum(counts[zone]), work), work.now_ms)
        self._states = states
        return []

    @staticmethod
    def _rate(state: ZoneState, size: int, work: Work) -> float:
        if state != "PartialDisruption":
            return work.flags[NODE_EVICTION_RATE]
        return work.flags[SECONDARY_NODE_EVICTION_RATE] if size > work.flags[LARGE_CLUSTER_SIZE_THRESHOLD] else 0

    def _empty(self, work: Work) -> Reconcile:
        """Give NoExecute taints to the nodes whose turn it is."""
        writes: list[Operation] = []
        places: list[tuple[Emptying, str]] = []
        for _, emptying in sorted(self._zones.items()):
            while (name := emptying.take(work.now_ms)) is not None:
                node = self._nodes.get("", name)
                wanted = None if node is None else EXECUTE_TAINTS.get(_ready(node))
                if node is None or wanted is None:
                    continue
                other = NOT_READY if wanted == UNREACHABLE else UNREACHABLE
                write = swapped(node, work.unix_ms, add=wanted, remove=(other,))
                if write is not None:
                    writes.append(write)
                    places.append((emptying, name))
        if writes:
            for result, (emptying, name) in zip((yield writes), places, strict=True):
                if result.error is not None and result.error.code != 404:
                    emptying.waiting[name] = None
        self._plan_emptying(work)

    def _plan_emptying(self, work: Work) -> None:
        due = [at_ms for emptying in self._zones.values() if (at_ms := emptying.next_ms()) is not None]
        if due:
            work.queue.add_at(EMPTY, max(min(due), work.now_ms))


def _ready(node: Document) -> str:
    """Return the status of a node's Ready condition, empty where it has none."""
    ready = condition(node, "Ready")
    return "" if ready is None else str(ready["status"])


def _taken(nodes: dict[str, Document], results: Sequence[Result]) -> list[str]:
    """Take what was written into `nodes`; return the names of those whose write was refused."""
    refused = []
    for result in results:
        assert isinstance(result.operation, Patch | Update), "nodes are patched or updated here"
        if result.object is not None:
            nodes[result.operation.name] = result.object
        else:
            refused.append(result.operation.name)
    return refused


def _accepted(results: Sequence[Result]) -> None:
    """Raise what was refused, unless the object has gone."""
    for result in results:
        if result.error is not None and result.error.code != 404:
            must(result)


def _judged(node: Document) -> tuple[object, ...]:
    """Return what taints and looks follow from."""
    metadata, spec = node["metadata"], node.get("spec") or {}
    conditions = (node.get("status") or {}).get("conditions") or ()
    states = tuple((entry["type"], entry["status"]) for entry in conditions)
    return (
        bool(spec.get("unschedulable")),
        spec.get("taints"),
        states,
        metadata.get("labels"),
        metadata.get("annotations"),
    )
