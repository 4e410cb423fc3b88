"""All hollow kubelets of a cluster as one component; what each writes carries the actor `kubelet/<node>`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from controllers.flags.flag import InForce
from controllers.flags.kubelet import ANNOTATION_PREFIX, ERA
from controllers.kinds.coordination.heartbeat import is_running, stopped_unix_ms
from controllers.kinds.core.node import SILENCED
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kubelet import shuttingdown
from controllers.kubelet.admitting import Refusal, refusal_under_pressure
from controllers.kubelet.home import Going
from controllers.kubelet.images import image_of, listed_names, size_bytes
from controllers.kubelet.lives import DUE, REPORT, WATCHED, Lives
from controllers.kubelet.machine import Machine, index_of
from controllers.kubelet.mounting import csi_node
from controllers.kubelet.orders import is_off, is_shut_down
from controllers.kubelet.pressure import pressed_conditions
from controllers.kubelet.relieving import Relief, tell
from controllers.kubelet.render import is_ready, node_status, with_era
from controllers.kubelet.shuttingdown import Shutdown
from controllers.kubelet.stages.node import NODE_LABELS
from controllers.kubelet.staticpods import MIRROR, missing_pods
from controllers.kubelet.wire import Wire
from controllers.log.operations import Create, Patch, Update
from controllers.log.stamps import wire_time
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from scheduler_core.api.document import Document, at, has_ended

_CSI_NODES: Final = "csinodes.storage.k8s.io"


class Kubelets:
    """`Component` of all hollow kubelets."""

    def __init__(self, flags: InForce, wire: Wire | None = None) -> None:
        """Begin with empty memory.

        Args:
            flags: those in force.
            wire: the network, for what containers ask; None: what comes of that is not known.
        """
        self._flags, self._wire = flags, wire
        self._informers = Informers(WATCHED, identity="kubelet")
        self._nodes = self._informers["nodes"]
        self._pods = self._informers["pods"]
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed)
        self._machines: dict[str, Machine] = {}
        self._lives = Lives(flags, self._informers, self._machines, self._is_running, self._refused, wire)
        self._relief = Relief(flags, self._nodes, self._pods, self._lives.go)
        self._nodes.add_handler(self._relief.node_changed)
        self._pods.add_handler(self._relief.pod_changed)
        self._shutdowns: dict[str, Shutdown] = {}
        self._taken: set[int] = set()
        self._next_index = 1
        self._unregistered: dict[str, None] = {}
        self._resized: dict[str, dict[str, str]] = {}
        """Node → what of its capacity somebody has changed, and its allocatable does not follow yet."""

    @property
    def resources(self) -> frozenset[str]:
        """Return what kubelets watch."""
        own = self._informers.resources
        return own if self._wire is None else own | self._wire.resources

    @property
    def informers(self) -> Informers | None:
        """Return its copies of what it watches."""
        return self._informers

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """List nodes and pods and play on from where they stand."""
        self._lives.tick = tick
        self._informers.start(tick)
        self._catch_up(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        wire = self._wire
        if wire is None:
            self._informers.observe(rows)
        else:
            self._lives.tick = tick
            wire.observe(rows, tick)
            self._informers.observe([row for row in rows if row.resource in WATCHED])
            if any(row.resource in wire.deciding for row in rows):
                self._lives.look_again()
        self._catch_up(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)
        if self._wire is not None:
            self._wire.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A written status carries its pod's life on; one that was refused waits for news of the pod, or a while."""
        for answer in answers:
            self._lives.settled(answer, tick)
        self._catch_up(tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Move on what is due."""
        if timer == RELIST_TIMER:
            self._lives.tick = tick
            self._informers.relist(tick)
            if self._wire is not None:
                self._wire.relist(tick)
        elif timer == DUE:
            self._lives.move_due(tick)
        elif timer == REPORT:
            self._report(tick)
        elif isinstance(timer, tuple):
            what, name = timer
            self._look_again(what, name, tick)
        self._catch_up(tick)

    def flags_changed(self, tick: Tick) -> None:
        """Look at all nodes and pods anew: other annotations and thresholds count now."""
        self._relief.flags_changed()
        for node in self._nodes.all():
            self._unregistered[node["metadata"]["name"]] = None
        self._lives.begin_anew()
        tick.plan(DUE, tick.now_ms)

    def _catch_up(self, tick: Tick) -> None:
        """Look at everything that has changed since the last call."""
        unregistered, self._unregistered = self._unregistered, {}
        for name in unregistered:
            self._register(name, tick)
        self._relief.plan(tick)
        self._lives.catch_up(tick)

    # -- nodes --------------------------------------------------------------------------------------------------

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            assert old is not None, "a deletion has a last state"
            machine = self._machines.pop(old["metadata"]["name"], None)
            self._shutdowns.pop(old["metadata"]["name"], None)
            if machine is not None:
                self._taken.discard(machine.index)
            return
        name = new["metadata"]["name"]
        self._unregistered[name] = None
        machine = self._machines.get(name)
        if machine is None:
            machine = Machine(name, self._index_for(new))
            self._machines[name] = machine
        if old is None or self._silent(old) != self._silent(new):
            self._lives.touch_node(name)
        if old is not None:
            self._note_resize(old, new)
        machine.learn(new)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        """A mirror pod that was deleted is made anew: what it shows still runs. A shutdown waits for its pods."""
        pod = new or old
        if pod is not None and pod["spec"].get("nodeName") in self._shutdowns:
            self._unregistered[pod["spec"]["nodeName"]] = None
        if new is None and old is not None and MIRROR in (old["metadata"].get("annotations") or {}):
            self._unregistered[old["spec"].get("nodeName") or ""] = None

    def _note_resize(self, old: Document, new: Document) -> None:
        before, after = old.get("status") or {}, new.get("status") or {}
        changed = {
            name: value
            for name, value in (after.get("capacity") or {}).items()
            if value != (before.get("capacity") or {}).get(name)
            and (after.get("allocatable") or {}).get(name) == (before.get("allocatable") or {}).get(name)
        }
        if before.get("capacity") and changed:
            self._resized[new["metadata"]["name"]] = changed

    def _silent(self, node: Document) -> tuple[bool, int | None]:
        return is_off(node, self._flags[ANNOTATION_PREFIX]), stopped_unix_ms(node)

    def _index_for(self, node: Document) -> int:
        known = index_of(node)
        if known is not None and known not in self._taken:
            self._taken.add(known)
            return known
        while self._next_index in self._taken:
            self._next_index += 1
        self._taken.add(self._next_index)
        return self._next_index

    def _register(self, name: str, tick: Tick) -> None:
        """Write what a registering kubelet says of its node, where the node does not say so yet."""
        node, machine = self._nodes.get("", name), self._machines.get(name)
        unix_ms = tick.epoch_ms + tick.now_ms
        if node is None or machine is None:
            return
        self._silence(node, machine, tick)
        if not self._is_running(node, tick):
            return
        metadata = node["metadata"]
        labels = {**NODE_LABELS, "kubernetes.io/hostname": name}
        missing = {key: value for key, value in labels.items() if key not in (metadata.get("labels") or {})}
        patch: Document = {"metadata": {"labels": missing}} if missing else {}
        if not (node.get("spec") or {}).get("podCIDR"):
            patch["spec"] = {"podCIDR": machine.network, "podCIDRs": [machine.network]}
        drivers = csi_node(node)
        if drivers is not None and tick.get(_CSI_NODES, "", name) is None:
            tick.emit(Create(_CSI_NODES, "", drivers), actor=machine.actor)
        for pod in missing_pods(node, lambda home, own: self._pods.get(home, own) is not None, unix_ms):
            tick.emit(Create("pods", pod["metadata"]["namespace"], pod), actor=machine.actor)
        if patch:
            # Its status is written over the version that comes of this.
            tick.emit(Patch("nodes", "", name, patch), actor=machine.actor)
            return
        if self._shuts_down(node, machine, tick):
            return
        if is_ready(node) and at(node, "status", "nodeInfo", "kubeletVersion"):
            self._follow(node, machine, tick)
            return
        address = machine.address
        # Others write a node's status, too: over theirs, which it has not read, it is not written; their news come.
        version = {key: metadata[key] for key in ("uid", "resourceVersion")}
        body = {"metadata": version, "status": node_status(node, unix_ms, address)}
        tick.emit(Update("nodes", "", name, body, "status"), actor=machine.actor)
        if not is_ready(node):
            text = f"Node {name} status is now: NodeReady"
            machine.recorder.event(tick, node, "Node", "NodeReady", text)

    def _follow(self, node: Document, machine: Machine, tick: Tick) -> None:
        """Let allocatable follow a changed capacity, and conditions the era."""
        resized = self._resized.pop(machine.name, None)
        if resized is not None:
            follow = {"status": {"allocatable": resized}}
            tick.emit(Patch("nodes", "", machine.name, follow, "merge", "status"), actor=machine.actor)
        unix_ms = tick.epoch_ms + tick.now_ms
        known = (node.get("status") or {}).get("conditions") or ()
        listed = with_era(known, self._flags[ERA], unix_ms)
        if len(listed) != len(known):
            status: Document = {"status": {"conditions": listed}}
            tick.emit(Patch("nodes", "", machine.name, status, "merge", "status"), actor=machine.actor)

    def _look_again(self, what: str, name: str, tick: Tick) -> None:
        """Look at what a node has left, or how far its shutdown is."""
        node, machine = self._nodes.get("", name), self._machines.get(name)
        if node is None or machine is None or not self._is_running(node, tick):
            return
        if what == "look":
            self._relief.look(node, machine, tick)
        else:
            self._unregistered[name] = None

    def _refused(self, pod: Document) -> Refusal | None:
        """Return why a pod's node takes no such pods now."""
        name = pod["spec"]["nodeName"]
        if name in self._shutdowns:
            return Refusal(shuttingdown.REFUSED_REASON, shuttingdown.REFUSED_MESSAGE)
        node = self._nodes.get("", name)
        return None if node is None else refusal_under_pressure(pod, pressed_conditions(node))

    def _shuts_down(self, node: Document, machine: Machine, tick: Tick) -> bool:
        """Go on with a shutdown: its pods end group by group, then the machine is silent. Whether there is one."""
        name = machine.name
        if not is_shut_down(node, self._flags[ANNOTATION_PREFIX]):
            former = self._shutdowns.pop(name, None)
            if former is not None and not former.over:
                machine.recorder.event(tick, node, "Node", "NodeShutdown", shuttingdown.CANCELLED)
            return False
        shutdown = self._shutdowns.setdefault(name, Shutdown())
        table = shuttingdown.periods(self._flags)
        if is_ready(node) and table:
            machine.recorder.event(tick, node, "Node", "NodeShutdown", shuttingdown.DETECTED)
            tell(node, machine, [(dict(shuttingdown.NOT_READY), "NodeNotReady")], tick)
        pods = [pod for pod in self._pods.indexed("node", name) if not has_ended(pod)]
        ending = shutdown.step(pods, table, tick.now_ms)
        if ending is None:
            now = wire_time(tick.epoch_ms + tick.now_ms)
            patch = {"metadata": {"annotations": {SILENCED: now}, "uid": node["metadata"]["uid"]}}
            tick.emit(Patch("nodes", "", name, patch), actor=machine.actor)
            return True
        for pod, seconds in ending:
            self._lives.go(pod, Going(shuttingdown.REASON, shuttingdown.MESSAGE, seconds))
        if shutdown.until_ms is not None:
            tick.plan(("shutdown", name), shutdown.until_ms)
        return True

    def _silence(self, node: Document, machine: Machine, tick: Tick) -> None:
        """Keep since when a machine is off: heartbeats are a function of that."""
        since = (node["metadata"].get("annotations") or {}).get(SILENCED)
        prefix = self._flags[ANNOTATION_PREFIX]
        if is_shut_down(node, prefix):
            # Who shuts down is silent at the end of that.
            return
        off = is_off(node, prefix)
        if off != (since is not None):
            now = wire_time(tick.epoch_ms + tick.now_ms) if off else None
            patch = {"metadata": {"annotations": {SILENCED: now}, "uid": node["metadata"]["uid"]}}
            tick.emit(Patch("nodes", "", machine.name, patch), actor=machine.actor)

    def _is_running(self, node: Document, tick: Tick) -> bool:
        return not is_off(node, self._flags[ANNOTATION_PREFIX]) and is_running(node, tick.epoch_ms + tick.now_ms)

    def _report(self, tick: Tick) -> None:
        """Write newly pulled images into the nodes' statuses."""
        self._lives.reporting = False
        for name, machine in self._machines.items():
            node = self._nodes.get("", name)
            if not machine.pulled or node is None:
                continue
            known = list((node.get("status") or {}).get("images") or ())
            listed = {image_of(name).full for entry in known for name in entry.get("names") or ()}
            fresh = [image for image in machine.pulled if image_of(image).full not in listed]
            machine.pulled.clear()
            images = known + [{"names": listed_names(image), "sizeBytes": size_bytes(image)} for image in fresh]
            images.sort(key=lambda one: -int(one.get("sizeBytes") or 0))
            if fresh:
                tick.emit(
                    Patch("nodes", "", name, {"status": {"images": images}}, "merge", "status"), actor=machine.actor
                )
