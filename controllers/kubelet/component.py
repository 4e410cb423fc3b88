"""All hollow kubelets of a cluster as one component; what each writes carries the actor `kubelet/<node>`.

Waits end on a grid of `GRID_MS`, so that thousands of pods that start together are written in few transactions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final, Literal

from controllers.flags.flag import InForce
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kinds.core.node import SILENCED
from controllers.kit.informer import RELIST_TIMER, Informers, by_node
from controllers.kit.manager import key_of
from controllers.kit.pods import claims_of_pod
from controllers.kubelet.heartbeat import is_running, stopped_unix_ms
from controllers.kubelet.images import seconds_text, size_bytes
from controllers.kubelet.machine import Machine, index_of
from controllers.kubelet.mounting import csi_node, why_not_mounted
from controllers.kubelet.orders import is_off, orders_of
from controllers.kubelet.render import node_status, pod_status
from controllers.kubelet.stage import Say, Stage, Wait, choose, is_ready
from controllers.kubelet.stages.node import NODE_LABELS
from controllers.kubelet.stages.pod import COMPLETE, CREATE, CREATED, POD_STAGES, PRESENT, PULLED, PULLING, RAN
from controllers.log.operations import Create, Delete, Patch, Update
from controllers.log.stamps import wire_time
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw

GRID_MS: Final = 50
"""Steps of pods end on multiples of this."""

PODS_PER_EVENT: Final = 20
"""Pods that one event of the loop moves on; more that are due at once follow in the next events."""

REPORT_MS: Final = 10_000
"""New images appear in a node's status this often at most."""

_CSI_NODES: Final = "csinodes.storage.k8s.io"
_PODS: Final = "pods"
_REPORT: Final = "report"
_REGISTER: Final = "register"


@dataclass(slots=True)
class _Step:
    """One wait within a stage."""

    what: Literal["pull", "start", "complete", "next"]
    container: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Playing:
    """A pod in the middle of a stage."""

    stage: Stage
    steps: list[_Step]
    machine: Machine
    due_ms: int = 0
    began_ms: int = 0
    took_ms: int = 0
    announced: bool = False


class Kubelets:
    """`Component` of all hollow kubelets."""

    def __init__(self, flags: InForce) -> None:
        """Begin with empty memory. `flags` are those in force."""
        self._flags = flags
        self._informers = Informers(("nodes", "persistentvolumeclaims", "pods"), identity="kubelet")
        self._nodes = self._informers["nodes"]
        self._pods = self._informers["pods"]
        self._claims = self._informers["persistentvolumeclaims"]
        self._pods.add_index("node", by_node)
        self._pods.add_index("claim", claims_of_pod)
        self._claims.add_handler(self._claim_changed)
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed)
        self._machines: dict[str, Machine] = {}
        self._taken: set[int] = set()
        self._next_index = 1
        self._playing: dict[str, _Playing] = {}
        self._due: list[tuple[int, int, str, str, str]] = []
        self._sequence = 0
        self._touched: dict[tuple[str, str], None] = {}
        self._unregistered: dict[str, None] = {}
        self._reporting = False

    @property
    def resources(self) -> frozenset[str]:
        """Return what kubelets watch."""
        return self._informers.resources

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """List nodes and pods and play on from where they stand."""
        self._informers.start(tick)
        self._catch_up(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self._informers.observe(rows)
        self._catch_up(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A refused status is written again: the pod's next state is looked at anew."""
        for answer in answers:
            if answer.result.error is not None and isinstance(answer.token, tuple):
                self._touched[answer.token] = None
        self._catch_up(tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Move on what is due."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
        elif timer == _PODS:
            self._move_due(tick)
        elif timer == _REPORT:
            self._report(tick)
        self._catch_up(tick)

    def flags_changed(self, tick: Tick) -> None:
        """Look at all nodes and pods anew: other annotations count now."""
        for node in self._nodes.all():
            self._unregistered[node["metadata"]["name"]] = None
        for pod in self._pods.all():
            self._pod_changed(pod, pod)
        tick.plan(_PODS, tick.now_ms)

    # -- nodes --------------------------------------------------------------------------------------------------

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            assert old is not None, "a deletion has a last state"
            machine = self._machines.pop(old["metadata"]["name"], None)
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
            for pod in self._pods.indexed("node", name):
                self._touched[(pod["metadata"]["namespace"], pod["metadata"]["name"])] = None
        machine.learn(new)

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
        if patch:
            tick.emit(Patch("nodes", "", name, patch), actor=machine.actor)
        if is_ready(node) and (node.get("status") or {}).get("nodeInfo"):
            return
        address = machine.address
        body = {"metadata": {"uid": metadata["uid"]}, "status": node_status(node, unix_ms, address)}
        tick.emit(Update("nodes", "", name, body, "status"), actor=machine.actor)
        if not is_ready(node):
            text = f"Node {name} status is now: NodeReady"
            machine.recorder.event(tick, node, "Node", "NodeReady", text)

    def _silence(self, node: Document, machine: Machine, tick: Tick) -> None:
        """Keep since when a machine is off: heartbeats are a function of that."""
        since = (node["metadata"].get("annotations") or {}).get(SILENCED)
        off = is_off(node, self._flags[ANNOTATION_PREFIX])
        if off != (since is not None):
            now = wire_time(tick.epoch_ms + tick.now_ms) if off else None
            patch = {"metadata": {"annotations": {SILENCED: now}, "uid": node["metadata"]["uid"]}}
            tick.emit(Patch("nodes", "", machine.name, patch), actor=machine.actor)

    def _is_running(self, node: Document, tick: Tick) -> bool:
        return not is_off(node, self._flags[ANNOTATION_PREFIX]) and is_running(node, tick.epoch_ms + tick.now_ms)

    def _report(self, tick: Tick) -> None:
        """Write newly pulled images into the nodes' statuses."""
        self._reporting = False
        for name, machine in self._machines.items():
            node = self._nodes.get("", name)
            if not machine.pulled or node is None:
                continue
            known = list((node.get("status") or {}).get("images") or ())
            listed = {image for entry in known for image in entry.get("names") or ()}
            fresh = [image for image in machine.pulled if image not in listed]
            machine.pulled.clear()
            images = known + [{"names": [image], "sizeBytes": size_bytes(image)} for image in fresh]
            if fresh:
                tick.emit(
                    Patch("nodes", "", name, {"status": {"images": images}}, "merge", "status"), actor=machine.actor
                )

    # -- pods ---------------------------------------------------------------------------------------------------

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        node = pod["spec"].get("nodeName")
        if not node:
            return
        if new is None:
            uid = pod["metadata"]["uid"]
            self._playing.pop(uid, None)
            machine = self._machines.get(node)
            if machine is not None:
                machine.release(uid)
        else:
            self._touched[(pod["metadata"]["namespace"], pod["metadata"]["name"])] = None

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        claim = new or old
        assert claim is not None, "a change has a state before or after"
        for pod in self._pods.indexed("claim", key_of(claim)):
            if pod["spec"].get("nodeName"):
                self._touched[(pod["metadata"]["namespace"], pod["metadata"]["name"])] = None

    def _catch_up(self, tick: Tick) -> None:
        """Look at everything that has changed since the last call."""
        unregistered, self._unregistered = self._unregistered, {}
        for name in unregistered:
            self._register(name, tick)
        touched, self._touched = self._touched, {}
        for place in touched:
            pod = self._pods.get(*place)
            if pod is not None and pod["spec"].get("nodeName"):
                self._consider(pod, tick)
        if self._due:
            tick.plan(_PODS, self._due[0][0])

    def _consider(self, pod: Document, tick: Tick) -> None:
        """Begin the stage that the pod is in, unless it is being played."""
        machine = self._machines.get(pod["spec"]["nodeName"])
        uid = pod["metadata"]["uid"]
        node = self._nodes.get("", pod["spec"]["nodeName"])
        if machine is None or node is None or not self._is_running(node, tick):
            self._playing.pop(uid, None)
            return
        if (pod.get("status") or {}).get("podIP"):
            machine.pod_address(uid, pod["status"])
        stage = choose(POD_STAGES, pod, orders_of(pod, self._flags[ANNOTATION_PREFIX]))
        playing = self._playing.get(uid)
        if stage is None:
            self._playing.pop(uid, None)
            return
        if playing is not None and playing.stage is stage:
            return
        why = why_not_mounted(pod, self._claims) if stage.containers else ""
        if why:
            # A change of the claim brings the pod back here.
            self._playing.pop(uid, None)
            machine.recorder.event(tick, pod, "Pod", "FailedMount", why, event_type="Warning")
            return
        playing = _Playing(stage, _steps(stage, pod), machine)
        self._playing[uid] = playing
        for container in pod["spec"].get("containers") or () if stage.each else ():
            for say in stage.each:
                self._say(say, pod, playing, container, tick)
        self._begin_step(pod, playing, tick)

    def _begin_step(self, pod: Document, playing: _Playing, tick: Tick) -> None:
        """Begin the next wait of a stage."""
        step, now_ms, uid = playing.steps[0], tick.now_ms, pod["metadata"]["uid"]
        playing.began_ms = now_ms
        match step.what:
            case "pull":
                assert step.container is not None, "a pull is for a container"
                image = step.container.get("image", "")
                policy = step.container.get("imagePullPolicy", "")
                playing.announced, playing.took_ms, due_ms = playing.machine.begin_pull(image, policy, now_ms)
                if playing.announced:
                    self._say(PULLING, pod, playing, step.container, tick)
            case "start":
                due_ms = now_ms + _draw_wait(CREATE, f"start/{_name(step)}", uid, tick, pod)
            case "complete":
                due_ms = now_ms + _draw_wait(COMPLETE, f"complete/{_name(step)}", uid, tick, pod)
            case "next":
                due_ms = now_ms + _draw_wait(playing.stage.wait, playing.stage.name, uid, tick, pod)
                if playing.stage.wait.as_told:
                    due_ms += 1000 * (orders_of(pod, self._flags[ANNOTATION_PREFIX]).seconds or 0)
        playing.due_ms = -(-due_ms // GRID_MS) * GRID_MS if due_ms > now_ms else now_ms
        self._sequence += 1
        metadata = pod["metadata"]
        heappush(self._due, (playing.due_ms, self._sequence, uid, metadata["namespace"], metadata["name"]))

    def _move_due(self, tick: Tick) -> None:
        moved = 0
        while self._due and self._due[0][0] <= tick.now_ms and moved < PODS_PER_EVENT:
            due_ms, _, uid, namespace, name = heappop(self._due)
            playing, pod = self._playing.get(uid), self._pods.get(namespace, name)
            if playing is None or pod is None or pod["metadata"]["uid"] != uid or playing.due_ms != due_ms:
                continue
            if playing.steps:
                moved += 1
                self._end_step(pod, playing, tick)

    def _end_step(self, pod: Document, playing: _Playing, tick: Tick) -> None:
        """A wait is over: say so, then begin the next one or write what the stage makes true."""
        step = playing.steps.pop(0)
        if step.what == "pull":
            assert step.container is not None, "a pull is for a container"
            self._pulled(pod, playing, step.container, tick)
        elif step.what == "start":
            assert step.container is not None, "a start is of a container"
            self._say(CREATED, pod, playing, step.container, tick)
            self._say(RAN, pod, playing, step.container, tick)
        if playing.steps:
            self._begin_step(pod, playing, tick)
        elif step.what == "next":
            self._finish(pod, playing, tick)

    def _pulled(self, pod: Document, playing: _Playing, container: Mapping[str, Any], tick: Tick) -> None:
        if playing.announced:
            playing.machine.arrived(container.get("image", ""))
        self._say(PULLED if playing.announced else PRESENT, pod, playing, container, tick)
        if playing.machine.pulled and not self._reporting:
            self._reporting = True
            tick.plan(_REPORT, tick.now_ms // REPORT_MS * REPORT_MS + REPORT_MS)

    def _finish(self, pod: Document, playing: _Playing, tick: Tick) -> None:
        metadata, machine = pod["metadata"], playing.machine
        place = (metadata["namespace"], metadata["name"])
        after = playing.stage.next
        if after.removed:
            operation = Delete("pods", *place, uid=metadata["uid"], grace_period_seconds=0)
            tick.emit(operation, place, actor=machine.actor)
            del self._playing[metadata["uid"]]
            return
        host = _node_address(self._nodes.get("", machine.name), machine)
        shared = pod["spec"].get("hostNetwork")
        own = ""
        if after.addressed:
            own = host if shared else machine.pod_address(metadata["uid"], pod.get("status") or {})
        code = orders_of(pod, self._flags[ANNOTATION_PREFIX]).exit_code
        status = pod_status(pod, after, tick.epoch_ms + tick.now_ms, (host, own), code)
        body = {"metadata": {"uid": metadata["uid"]}, "status": status}
        tick.emit(Update("pods", *place, body, "status"), place, actor=machine.actor)
        del self._playing[metadata["uid"]]

    def _say(self, say: Say, pod: Document, playing: _Playing, container: Mapping[str, Any], tick: Tick) -> None:
        image = container.get("image", "")
        waited_ms = tick.now_ms - playing.began_ms
        message = say.message.format(
            image=image,
            container=container["name"],
            size=size_bytes(image),
            took=seconds_text(min(playing.took_ms, waited_ms) if playing.took_ms else waited_ms),
            waited=seconds_text(waited_ms),
        )
        playing.machine.recorder.event(tick, pod, "Pod", say.reason, message)


def _steps(stage: Stage, pod: Mapping[str, Any]) -> list[_Step]:
    """Return the waits of a stage, in order."""
    steps: list[_Step] = []
    if stage.containers:
        for container in pod["spec"].get("initContainers") or ():
            steps += [_Step("pull", container), _Step("start", container)]
            if container.get("restartPolicy") != "Always":
                steps.append(_Step("complete", container))
        for container in pod["spec"].get("containers") or ():
            steps += [_Step("pull", container), _Step("start", container)]
    return [*steps, _Step("next")]


def _name(step: _Step) -> str:
    assert step.container is not None, "only steps of containers have a name"
    return str(step.container["name"])


def _draw_wait(wait: Wait, purpose: str, uid: str, tick: Tick, pod: Mapping[str, Any]) -> int:
    """Return how long a wait is for this pod, in milliseconds."""
    wait_ms = wait.base_ms
    if wait.jitter_ms:
        wait_ms += draw(tick.seed, f"kubelet/{purpose}", uid, below=wait.jitter_ms)
    if wait.within_grace:
        wait_ms += 1000 * pre_stop_seconds(pod)
        wait_ms = min(wait_ms, 1000 * int(pod["metadata"].get("deletionGracePeriodSeconds") or 0))
    return wait_ms


def pre_stop_seconds(pod: Mapping[str, Any]) -> int:
    """Return the longest `lifecycle.preStop.sleep` of the pod's containers: so long they are not asked to end."""
    hooks = ((one.get("lifecycle") or {}).get("preStop") or {} for one in pod["spec"].get("containers") or ())
    return max((int((hook.get("sleep") or {}).get("seconds") or 0) for hook in hooks), default=0)


def _node_address(node: Mapping[str, Any] | None, machine: Machine) -> str:
    for entry in ((node or {}).get("status") or {}).get("addresses") or ():
        if entry.get("type") == "InternalIP":
            return str(entry["address"])
    return machine.address
