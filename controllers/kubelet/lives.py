"""The pods of all hollow kubelets: which of them live, what each waits for, and what it writes.

Waits end on a grid of `GRID_MS`, so that thousands of pods that start together are written in few transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

from controllers.flags.flag import InForce
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kit.informer import Informers, by_node
from controllers.kit.interest import NODE_NAME, POD_VOLUMES
from controllers.kit.manager import key_of
from controllers.kit.pods import claims_of_pod
from controllers.kit.recorder import Recorder
from controllers.kubelet.admitting import Refusal
from controllers.kubelet.asking import Asking
from controllers.kubelet.home import Going, Remove, Sleep, Steps, Write
from controllers.kubelet.keeping import FILES, kept_by, text_of
from controllers.kubelet.life import Life, revision_of
from controllers.kubelet.machine import Machine
from controllers.kubelet.needs import SLICES
from controllers.kubelet.orders import Orders, orders_of
from controllers.kubelet.resizing import counts
from controllers.kubelet.scripts import Scripts, Watched
from controllers.kubelet.stages.pods import STAGES, STAGES_KEY, STAGES_NAME, STAGES_NAMESPACE, Stages, read
from controllers.kubelet.wants import Wants, service_of_slice
from controllers.kubelet.watching import live
from controllers.kubelet.wire import Present, Wire
from controllers.log.operations import Delete, Patch, Update
from controllers.loop.loop import Answer, Tick
from scheduler_core.api.document import ENDED_PHASES, Document, at, condition
from scheduler_core.framework.rules import CURRENT_ERA

GRID_MS: Final = 50
"""Steps of pods end on multiples of this."""

PODS_PER_EVENT: Final = 20
"""Pods that one event of the loop moves on; more that are due at once follow in the next events."""

SYNC_MS: Final = 10_000
"""A status whose write was refused is written again after this (upstream's pkg/kubelet/status, syncPeriod), unless news
of the pod comes first: at once it would be refused again."""

REPORT_MS: Final = 10_000
"""New images appear in a node's status this often at most."""

SCHEDULERS: Final = "schedulerconfigs.clustersim.io"
WATCHED: Final = ("configmaps", SLICES, "nodes", "persistentvolumeclaims", "pods", SCHEDULERS, "secrets", "services")
DUE: Final = "pods"
REPORT: Final = "report"
"""Timers: pods are due; images are reported."""


@dataclass(slots=True)
class _Living:
    """A pod whose life goes on."""

    life: Life
    steps: Steps
    matters: tuple[Any, ...]
    """What the pod looked like when this began, and after each write of its own."""
    due_ms: int | None = None
    writing: bool = False
    refused: bool = False
    """What it wrote last was refused: it begins anew with the next news of the pod, or when it is due."""

    def has_news(self, pod: Document) -> bool:
        """Return whether a pod is another than this life knows, in what matters to it."""
        if self.refused and revision_of(pod) > revision_of(self.life.pod):
            return True
        return self.matters != _matters(pod)


class Lives:
    """The lives of all pods; a `life.Home` for each of them."""

    def __init__(
        self,
        flags: InForce,
        informers: Informers,
        machines: Mapping[str, Machine],
        is_running: Callable[[Document, Tick], bool],
        refused: Callable[[Document], Refusal | None],
        wire: Wire | None,
    ) -> None:
        """Begin with empty memory.

        Args:
            flags: those in force.
            informers: over `WATCHED`.
            machines: node name → machine, as the component keeps them.
            is_running: whether a node's kubelet is alive.
            refused: why a pod's node takes no such pods now.
            wire: the network, for what containers ask; None: what comes of that is not known.
        """
        self._flags, self._informers, self._machines, self._is_running = flags, informers, machines, is_running
        self.refused = refused
        self._nodes, self._pods = informers["nodes"], informers["pods"]
        self._pods.add_index("node", by_node, of=(NODE_NAME,))
        self._pods.add_index("claim", claims_of_pod, of=(POD_VOLUMES,))
        self._pods.add_index("uid", _by_uid)
        informers["persistentvolumeclaims"].add_handler(self._claim_changed)
        for resource in ("configmaps", "secrets", "services"):
            informers[resource].add_handler(self._object_changed)
        informers[SLICES].add_handler(self._slice_changed)
        self._pods.add_handler(self._pod_changed)
        self._living: dict[str, _Living] = {}
        self._due: list[tuple[int, int, str]] = []
        self.wants = Wants(informers)
        self._asked: dict[str, int] = {}
        """Uid of a pod that is to end → since when its containers know."""
        self._going: dict[str, Going] = {}
        """Uid of a pod that has to go → why."""
        self._retries: dict[str, int] = {}
        """Uid of a pod whose resize waits for room → when its node is looked at again."""
        self._written: dict[str, int] = {}
        """Uid of a pod → the revision of its own last write, until that is seen."""
        self._taken_in: set[str] = set()
        """Uids of pods that their nodes have taken; of others startTime tells."""
        self._asking = Asking()
        self._gone: list[Document] = []
        """Pods that are there no longer; what they have left in volumes is to be kept."""
        self._stages_changed = False
        self.stages: Stages = STAGES
        self._facts, self._wire = Watched(informers), wire
        self.scripts = Scripts(self._facts, None if wire is None else self._present)
        self.tick: Tick
        self._sequence = 0
        self._touched: dict[tuple[str, str], None] = {}
        self.reporting = False

    def _present(self) -> Present:
        """Return the moment of the tick, and how scripts see the network then."""
        wire, tick = self._wire, self.tick
        assert wire is not None, "without a network nobody asks for the present"
        return Present(tick.epoch_ms + tick.now_ms, lambda: wire.now(tick, self._facts, self.stages.answers))

    def touch_node(self, name: str) -> None:
        """Look at all pods of a node anew."""
        for pod in self._pods.indexed("node", name):
            self._touch(pod)

    def begin_anew(self) -> None:
        """Look at all pods anew: other annotations count now."""
        self._living = {uid: living for uid, living in self._living.items() if living.writing}
        for pod in self._pods.all():
            self._pod_changed(pod, pod)

    def go(self, pod: Document, going: Going) -> None:
        """A pod has to go."""
        uid = pod["metadata"]["uid"]
        self._going.setdefault(uid, going)
        self._living.pop(uid, None)
        self._touch(pod)

    def _touch(self, pod: Document) -> None:
        self._touched[(pod["metadata"]["namespace"], pod["metadata"]["name"])] = None

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        node = pod["spec"].get("nodeName")
        if not node:
            return
        uid = pod["metadata"]["uid"]
        if new is None:
            for known in (self._living, self._asked, self._going, self._retries, self._written):
                known.pop(uid, None)
            self.wants.forget(uid)
            self._taken_in.discard(uid)
            self._asking.forget(uid)
            self._gone.append(pod)
            machine = self._machines.get(node)
            if machine is not None:
                machine.release(uid)
        else:
            if self._written.get(uid, 0) <= revision_of(pod):
                self._written.pop(uid, None)
            self._touch(pod)

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        claim = new or old
        assert claim is not None, "a change has a state before or after"
        written = kept_by(old) != kept_by(new)
        for pod in self._pods.indexed("claim", key_of(claim)):
            if written:
                self._disturb(pod["metadata"]["uid"])
            if pod["spec"].get("nodeName"):
                self._touch(pod)

    def _disturb(self, uid: str) -> None:
        """Have a pod's life begin anew, where it waits."""
        if uid in self._living and not self._living[uid].writing:
            del self._living[uid]

    def catch_up(self, tick: Tick) -> None:
        """Look at everything that has changed since the last call."""
        if self._stages_changed:
            self._take_stages(tick)
        gone, self._gone = self._gone, []
        for former in gone:
            self._keep(former, tick)
        touched, self._touched = self._touched, {}
        for place in touched:
            pod = self._pods.get(*place)
            if pod is not None and pod["spec"].get("nodeName"):
                self._consider(pod, tick)
        if self._due:
            tick.plan(DUE, self._due[0][0])

    def _keep(self, pod: Document, tick: Tick) -> None:
        """Keep beside its claims what a pod that is gone has written in their volumes."""
        namespace = pod["metadata"]["namespace"]
        self.tick = tick
        for name, left in self.scripts.left(pod, self.stages.answers, tick.epoch_ms + tick.now_ms).items():
            claim = tick.get("persistentvolumeclaims", namespace, name)
            if claim is not None:
                patch = {"metadata": {"annotations": {FILES: text_of([*kept_by(claim.object), *left])}}}
                tick.emit(Patch("persistentvolumeclaims", namespace, name, patch), actor="kubelet")
        self.scripts.forget(pod["metadata"]["uid"])

    def _consider(self, pod: Document, tick: Tick) -> None:
        """Begin or go on with the pod's life; begin anew where somebody else has changed the pod."""
        machine = self._machines.get(pod["spec"]["nodeName"])
        uid = pod["metadata"]["uid"]
        node = self._nodes.get("", pod["spec"]["nodeName"])
        if machine is None or node is None or not self._is_running(node, tick):
            self._living.pop(uid, None)
            return
        if (pod.get("status") or {}).get("podIP"):
            machine.pod_address(uid, pod["status"])
        if uid in self._written:
            # What was written last is not seen yet: a life would begin with what was before. It is touched then.
            return
        living = self._living.get(uid)
        # A node that was deleted and has come back is another machine: nothing goes on in the memory of the old one.
        same = living is not None and living.life.machine is machine
        if living is not None and (living.writing or (same and not living.has_news(pod))):
            return
        self.tick = tick
        self.wants.forget(uid)
        life = Life(self, machine, pod)
        living = self._living[uid] = _Living(life, live(life), _matters(pod))
        self._go_on(uid, living, tick)

    def _go_on(self, uid: str, living: _Living, tick: Tick) -> None:
        """Let a life run until it waits, writes or ends."""
        self.tick, living.due_ms = tick, None
        want = next(living.steps, None)
        metadata, actor = living.life.pod["metadata"], living.life.machine.actor
        place = (metadata["namespace"], metadata["name"])
        match want:
            case None:
                del self._living[uid]
            case Sleep(at_ms):
                self._wait(uid, living, at_ms, tick)
            case Write(status):
                living.writing = True
                # Over the version that it knows: what others have written meanwhile is neither lost nor overlooked.
                body = {"metadata": {"uid": uid, "resourceVersion": metadata["resourceVersion"]}, "status": status}
                tick.emit(Update("pods", *place, body, "status"), _Wrote(uid, place), actor=actor)
            case Remove():
                living.writing = True
                operation = Delete("pods", *place, uid=uid, grace_period_seconds=0)
                tick.emit(operation, _Wrote(uid, place), actor=actor)

    def _wait(self, uid: str, living: _Living, at_ms: int, tick: Tick) -> None:
        living.due_ms = -(-at_ms // GRID_MS) * GRID_MS if at_ms > tick.now_ms else tick.now_ms
        self._sequence += 1
        heappush(self._due, (living.due_ms, self._sequence, uid))

    def move_due(self, tick: Tick) -> None:
        """Let those go on whose waits are over."""
        moved = 0
        while self._due and self._due[0][0] <= tick.now_ms and moved < PODS_PER_EVENT:
            due_ms, _, uid = heappop(self._due)
            living, pod = self._living.get(uid), self.pod(uid)
            if living is None or living.due_ms != due_ms or pod is None:
                continue
            moved += 1
            if living.refused:
                del self._living[uid]
                self._touch(pod)
            else:
                self._go_on(uid, living, tick)

    def settled(self, answer: Answer, tick: Tick) -> None:
        """A write of a pod is answered: its life goes on, or is looked at anew."""
        if not isinstance(answer.token, _Wrote):
            return
        uid, place = answer.token
        living = self._living.get(uid)
        if living is None:
            return
        living.writing = False
        written = answer.result.object
        if answer.result.error is not None or written is None:
            living.refused = True
            self._wait(uid, living, tick.now_ms + SYNC_MS, tick)
            # News may have come while it wrote.
            self._touched[place] = None
            return
        living.matters = _matters(written)
        living.life.wrote(written)
        seen = self.pod(uid)
        if seen is not None and revision_of(seen) < revision_of(written):
            self._written[uid] = revision_of(written)
        elif seen is not None and revision_of(seen) > revision_of(written):
            # Somebody has changed the pod meanwhile.
            self._touched[place] = None
        self._go_on(uid, living, tick)

    # -- what a pod's life asks ---------------------------------------------------------------------------------

    def pod(self, uid: str) -> Document | None:
        """Return a pod by its uid."""
        return self._pods.first_indexed("uid", uid)

    def orders(self, pod: Mapping[str, Any]) -> Orders:
        """Return what annotations tell a pod."""
        return orders_of(pod, self._flags[ANNOTATION_PREFIX])

    def address(self, machine: Machine) -> str:
        """Return a node's address."""
        return _node_address(self._nodes.get("", machine.name), machine)

    def taken(self, pod: Document) -> list[Document]:
        """Return the other pods that a pod's node has taken and that are not over."""
        return [
            one
            for one in self._pods.indexed("node", pod["spec"]["nodeName"])
            if one["metadata"]["uid"] != pod["metadata"]["uid"] and self._is_taken(one)
        ]

    def overfull(self, pod: Document) -> Refusal | None:
        """Return why the pods that a pod's node has taken leave no room for it; None: they do.

        What a scheduler of old placed stays where it was put: what it overlooks is to be seen.
        """
        node = self._nodes.get("", pod["spec"]["nodeName"])
        if condition(pod, "PodScheduled") is not None and any(
            at(known, "spec", "era") not in (None, CURRENT_ERA) for known in self._informers[SCHEDULERS].all()
        ):
            return None
        return None if node is None else self._asking.refusal(pod, self.taken(pod), node)

    def taken_in(self, uid: str) -> None:
        """A pod's node has taken it, which its status does not tell yet."""
        self._taken_in.add(uid)

    def _is_taken(self, pod: Mapping[str, Any]) -> bool:
        status = pod.get("status") or {}
        begun = bool(status.get("startTime")) or pod["metadata"]["uid"] in self._taken_in
        return begun and status.get("phase") not in ENDED_PHASES

    def arrived(self, machine: Machine) -> None:
        """An image was pulled."""
        if machine.pulled and not self.reporting:
            self.reporting = True
            self.tick.plan(REPORT, self.tick.now_ms // REPORT_MS * REPORT_MS + REPORT_MS)

    def going(self, uid: str) -> Going | None:
        """Return why a pod has to go; None: it may stay."""
        return self._going.get(uid)

    def retry_at(self, uid: str, retry_ms: int) -> None:
        """A resize waits for room: it is looked at again then."""
        self._retries[uid] = retry_ms

    def retry_ms(self, uid: str) -> int:
        """Return when a resize that waits is looked at again."""
        return self._retries.get(uid, self.tick.now_ms)

    def room(self, machine: Machine, uid: str) -> tuple[Mapping[str, Any], list[Document]]:
        """Return (what a node can give, the pods that it gives to besides this one)."""
        node = self._nodes.get("", machine.name)
        others = [pod for pod in self._pods.indexed("node", machine.name) if pod["metadata"]["uid"] != uid]
        return ((node or {}).get("status") or {}).get("allocatable") or {}, [pod for pod in others if counts(pod)]

    def asked_ms(self, uid: str) -> int | None:
        """Return since when a pod is asked to end."""
        known = self._asked.get(uid)
        self._asked.setdefault(uid, self.tick.now_ms)
        return known

    def _slice_changed(self, old: Document | None, new: Document | None) -> None:
        """Endpoints of a Service changed: who waits for it is looked at again."""
        if not (self.wants or self.scripts.waiting):
            return
        for place in dict.fromkeys(key for one in (old, new) if one is not None for key in service_of_slice(one)):
            namespace, _, name = place.partition("/")
            self._wake(namespace, name)
            self.look_again((namespace, name))

    def _object_changed(self, old: Document | None, new: Document | None) -> None:
        """A ConfigMap, Secret or Service changed: who waits for it is looked at again."""
        document = new or old
        assert document is not None, "a change has a state before or after"
        metadata = document["metadata"]
        if (metadata["namespace"], metadata["name"]) == (STAGES_NAMESPACE, STAGES_NAME):
            self._stages_changed = True
        self._wake(metadata["namespace"], metadata["name"])
        if document.get("kind") == "Service":
            self.look_again((metadata["namespace"], metadata["name"]))

    def look_again(self, place: tuple[str, str] | None = None) -> None:
        """Let loops that wait ask anew: a Service has changed, or what may let through a request to any of them."""
        for uid in self.scripts.look_again(place):
            pod = self.pod(uid)
            if pod is not None:
                self._disturb(uid)
                self._touch(pod)

    def _wake(self, namespace: str, name: str) -> None:
        """Look again at the pods that wait for an object of this name."""
        for uid in self.wants.waiting_for(namespace, name):
            pod = self.pod(uid)
            if pod is not None:
                self._living.pop(uid, None)
                self._touch(pod)

    def _take_stages(self, tick: Tick) -> None:
        """Read the session's own stages."""
        self._stages_changed = False
        found = self._informers["configmaps"].get(STAGES_NAMESPACE, STAGES_NAME)
        try:
            self.stages = read((found.get("data") or {}).get(STAGES_KEY, "")) if found is not None else STAGES
        except ValueError as error:
            assert found is not None, "what comes with the project can be read"
            recorder = Recorder("kubelet", actor="kubelet")
            text = f"{STAGES_KEY} is not obeyed: {error}"
            recorder.event(tick, found, "ConfigMap", "InvalidStages", text, event_type="Warning")


class _Wrote(NamedTuple):
    """The token of a write for a pod's life."""

    uid: str
    place: tuple[str, str]


def _matters(pod: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a pod's life depends on; a change of it that is not its own makes it begin anew."""
    metadata = pod["metadata"]
    return (
        metadata.get("deletionTimestamp"),
        metadata.get("deletionGracePeriodSeconds"),
        metadata.get("annotations"),
        metadata.get("finalizers"),
        pod["spec"],
        pod.get("status"),
    )


def _by_uid(pod: Mapping[str, Any]) -> list[str]:
    return [pod["metadata"]["uid"]]


def _node_address(node: Mapping[str, Any] | None, machine: Machine) -> str:
    for entry in ((node or {}).get("status") or {}).get("addresses") or ():
        if entry.get("type") == "InternalIP":
            return str(entry["address"])
    return machine.address
