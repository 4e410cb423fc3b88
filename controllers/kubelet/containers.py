"""The containers of one pod as its kubelet holds them: read from the status, and written into it.

Source: pkg/kubelet/kubelet_pods.go (getPhase) and pkg/kubelet/status/generate.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Literal

from controllers.kubelet.given import as_run, is_same
from controllers.kubelet.images import image_of
from controllers.kubelet.users import user_of
from controllers.log.stamps import wire_time
from scheduler_core.api.containers import STATUSES
from scheduler_core.api.document import Document, condition

State = Literal["waiting", "running", "terminated"]

OWN: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
RESIZING: Final = ("PodResizePending", "PodResizeInProgress")
"""Conditions that are the kubelet's, in the order in which it writes them, and those that tell of a resize."""


@dataclass(slots=True)
class Container:
    """One container: what is asked of it, and how it stands."""

    spec: Mapping[str, Any]
    pod_uid: str
    init: bool = False
    ephemeral: bool = False
    """Whether it was added to look into the pod: it is started once, and counts for nothing."""
    state: State = "waiting"
    known: bool = False
    """Whether the status tells of it."""
    reason: str = ""
    message: str = ""
    started_at: str = ""
    finished_at: str = ""
    exit_code: int = 0
    restarts: int = 0
    last: Document = field(default_factory=dict)
    ready: bool = False
    started: bool = False
    image: str = ""
    image_id: str = ""
    """What runs, or ran last."""
    held: Document | None = None
    allocated: Document = field(default_factory=dict)
    """What it has and was promised of cpu and memory; nothing before it was started first."""

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.spec["name"])

    @property
    def has_run(self) -> bool:
        """Return whether it was ever started."""
        return self.state != "waiting" or bool(self.last)

    @property
    def sidecar(self) -> bool:
        """Return whether it is an init container that runs on."""
        return self.init and self.spec.get("restartPolicy") == "Always"

    @property
    def resources(self) -> Document:
        """Return what is asked for it."""
        return dict(self.spec.get("resources") or {})

    @property
    def container_id(self) -> str:
        """Return the name of what runs, or ran last."""
        place = f"{self.pod_uid}/{self.name}/{self.restarts}" if self.restarts else f"{self.pod_uid}/{self.name}"
        return f"containerd://{sha256(place.encode()).hexdigest()}"

    @property
    def done(self) -> bool:
        """Return whether an init container lets the next one begin."""
        if self.sidecar:
            return self.state == "running" and self.started
        return self.state == "terminated" and self.exit_code == 0

    def start(self, now: str) -> None:
        """It runs."""
        before = self.ended() if self.state == "terminated" else None
        if before is not None or self.last or self.restarts:
            self.restarts += 1
        if before is not None:
            self.last = {"terminated": before}
        self.state, self.reason, self.message = "running", "", ""
        self.started_at, self.finished_at, self.exit_code = now, "", 0
        self.started = self.ready = False
        self._made()

    def _made(self) -> None:
        """Its image was taken, and it was given what it asks for; what a resize has yet to change stays."""
        image = image_of(str(self.spec.get("image", "")))
        self.image, self.image_id = image.told, image.digest
        if self.held is None:
            self.held, self.allocated = self.resources, dict(self.resources.get("requests") or {})

    def end(self, now: str, code: int, reason: str = "", message: str = "") -> None:
        """It has ended."""
        if not self.has_run:
            self._made()
        self.state, self.exit_code, self.message = "terminated", code, message
        self.reason, self.finished_at = reason or ("Error" if code else "Completed"), now
        self.started_at = self.started_at or now
        self.ready = self.init and not self.sidecar and code == 0 and not self.ephemeral
        self.started = False

    def wait(self, reason: str, message: str = "") -> None:
        """It is not to run for now."""
        if self.state == "terminated":
            self.last = {"terminated": self.ended()}
        self.state, self.reason, self.message = "waiting", reason, message
        self.ready = self.started = False

    def ended(self) -> Document:
        """Return the state of having ended, as the wire has it."""
        told = {
            "exitCode": self.exit_code,
            "reason": self.reason,
            "message": self.message,
            "startedAt": self.started_at,
            "finishedAt": self.finished_at,
            "containerID": self.container_id,
        }
        return {key: value for key, value in told.items() if key != "message" or value}


class Containers:
    """All containers of a pod."""

    def __init__(self, pod: Mapping[str, Any]) -> None:
        """Read them from the pod."""
        spec, status = pod["spec"], pod.get("status") or {}
        self._pod_spec, uid = spec, str(pod["metadata"]["uid"])
        told = {(key, one.get("name")): one for key in STATUSES for one in status.get(key) or ()}
        self.inits = [
            _read(one, uid, told.get(("initContainerStatuses", one.get("name"))), init=True)
            for one in spec.get("initContainers") or ()
        ]
        self.mains = [_read(one, uid, told.get(("containerStatuses", one.get("name")))) for one in spec["containers"]]
        self.ephemerals = [
            _read(one, uid, told.get(("ephemeralContainerStatuses", one.get("name"))), ephemeral=True)
            for one in spec.get("ephemeralContainers") or ()
        ]
        ready = condition(pod, "PodReadyToStartContainers") or {}
        self.has_network = ready.get("status") == "True" or any(one.has_run for one in self.all)
        """Whether what all containers share is there: they can be started, and the pod has its address."""

    @property
    def all(self) -> Iterable[Container]:
        """Yield init containers, then the others, then those that were added to look into the pod."""
        yield from self.inits
        yield from self.mains
        yield from self.ephemerals

    @property
    def is_new(self) -> bool:
        """Return whether the kubelet has told nothing of them yet."""
        return not any(one.known for one in self.mains)

    @property
    def initialized(self) -> bool:
        """Return whether the containers proper may run."""
        return all(one.done for one in self.inits) or any(one.state != "waiting" or one.last for one in self.mains)

    def phase(self, policy: str) -> str:
        """Return the pod's phase (getPhase)."""
        if any(one.state == "terminated" and one.exit_code for one in self.inits if not one.sidecar):
            return "Failed" if policy == "Never" else "Pending"
        if not self.initialized:
            return "Pending"
        ended = [one for one in self.mains if one.state == "terminated" or (one.state == "waiting" and one.last)]
        if any(one.state == "waiting" and not one.last for one in self.mains):
            return "Pending"
        if len(ended) < len(self.mains) or policy == "Always":
            return "Running"
        codes = [one.exit_code if one.state == "terminated" else one.last["terminated"]["exitCode"] for one in ended]
        if not any(codes):
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"

    def conditions(self, pod: Mapping[str, Any], phase: str) -> list[Document]:
        """Return what the kubelet says of the pod, without times."""
        over = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "")
        waiting = [one.name for one in self.inits if not one.done] if not self.initialized else []
        unready = [one.name for one in (*(one for one in self.inits if one.sidecar), *self.mains) if not one.ready]
        containers: Document = {"status": "True"}
        if over:
            containers = {"status": "False", "reason": over}
        elif unready:
            text = f"containers with unready status: [{' '.join(unready)}]"
            containers = {"status": "False", "reason": "ContainersNotReady", "message": text}
        initialized: Document = {"status": "True", **({"reason": over} if over == "PodCompleted" else {})}
        if waiting:
            text = f"containers with incomplete status: [{' '.join(waiting)}]"
            initialized = {"status": "False", "reason": "ContainersNotInitialized", "message": text}
        ready = containers if containers["status"] == "False" else _gated(pod)
        network = {"status": "True" if self.has_network and not over else "False"}
        told = (network, initialized, ready, containers, {"status": "True"})
        seen = pod["metadata"].get("generation", 1)
        return [{"type": kind, "observedGeneration": seen, **one} for kind, one in zip(OWN, told, strict=True)]

    def statuses(self, containers: Iterable[Container]) -> list[Document]:
        """Return what the wire tells of containers: init containers as they follow each other, others by name."""
        return [self._status(one) for one in sorted(containers, key=lambda one: "" if one.init else one.name)]

    def _status(self, one: Container) -> Document:
        entry: Document = {
            "name": one.name,
            "image": one.image or str(one.spec.get("image", "")),
            "imageID": "",
            "ready": one.ready,
            "restartCount": one.restarts,
            "started": one.started,
            "state": {},
            "lastState": one.last,
        }
        if one.ephemeral:
            del entry["started"]
        mounts = [_mounted(mount) for mount in one.spec.get("volumeMounts") or ()]
        if mounts:
            entry["volumeMounts"] = mounts
        if one.has_run:
            self._tell_run(one, entry)
        if one.state == "running":
            entry["state"] = {"running": {"startedAt": one.started_at}}
        elif one.state == "terminated":
            entry["state"] = {"terminated": one.ended()}
        else:
            entry["state"] = {"waiting": {"reason": one.reason, **({"message": one.message} if one.message else {})}}
        return entry

    def _tell_run(self, one: Container, entry: Document) -> None:
        """Tell of a container that was started what its runtime knows."""
        entry["imageID"], entry["containerID"] = one.image_id, one.container_id
        held = one.resources if one.held is None else one.held
        entry["resources"] = as_run(held) if one.state == "running" else held
        if one.allocated:
            entry["allocatedResources"] = one.allocated
        if (self._pod_spec.get("os") or {}).get("name") != "windows":
            user = user_of(self._pod_spec, one.spec)
            entry["user"] = {"linux": {"uid": user.uid, "gid": user.gid, "supplementalGroups": list(user.groups)}}


def merged_conditions(before: Iterable[Mapping[str, Any]], after: Iterable[Document], unix_ms: int) -> list[Document]:
    """Return conditions with times; those of others stay, after the kubelet's own."""
    known = {entry["type"]: entry for entry in before}
    now = wire_time(unix_ms)
    fresh: list[Document] = []
    for entry in after:
        old = known.get(entry["type"])
        # A person may have written the condition, without a time.
        since = old.get("lastTransitionTime") if old is not None and old["status"] == entry["status"] else None
        rest = {key: value for key, value in entry.items() if key not in ("type", "status")}
        fresh.append({"type": entry["type"], "status": entry["status"], "lastTransitionTime": since or now, **rest})
    named = {entry["type"] for entry in fresh}
    return [*fresh, *(dict(entry) for entry in known.values() if entry["type"] not in named)]


def pod_conditions(before: Iterable[Mapping[str, Any]], own: list[Document], unix_ms: int) -> list[Document]:
    """Return the conditions of a pod with times: those of others, what is told of a resize, the kubelet's own."""
    merged = merged_conditions(before, own, unix_ms)
    others = merged[len(own) :]
    return [*sorted(others, key=lambda one: one["type"] in RESIZING), *merged[: len(own)]]


def _mounted(mount: Mapping[str, Any]) -> Document:
    """Return what a status tells of a volume in a container."""
    told: Document = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        asked = mount.get("recursiveReadOnly") or "Disabled"
        told |= {"readOnly": True, "recursiveReadOnly": "Disabled" if asked == "Disabled" else "Enabled"}
    return told


def _read(
    spec: Mapping[str, Any],
    uid: str,
    status: Mapping[str, Any] | None,
    *,
    init: bool = False,
    ephemeral: bool = False,
) -> Container:
    one = Container(spec, uid, init, ephemeral)
    if status is None:
        return one
    one.known = True
    one.restarts = int(status.get("restartCount") or 0)
    one.last = dict(status.get("lastState") or {})
    one.ready, one.started = bool(status.get("ready")), bool(status.get("started"))
    one.held, one.allocated = status.get("resources"), dict(status.get("allocatedResources") or {})
    if one.held is not None and is_same(one.held, one.resources):
        one.held = one.resources
    state = status.get("state") or {}
    if state.get("running") is not None:
        one.state, one.started_at = "running", str(state["running"].get("startedAt") or "")
    elif state.get("terminated") is not None:
        ended = state["terminated"]
        one.state, one.exit_code = "terminated", int(ended.get("exitCode") or 0)
        one.reason, one.message = str(ended.get("reason") or ""), str(ended.get("message") or "")
        one.started_at, one.finished_at = str(ended.get("startedAt") or ""), str(ended.get("finishedAt") or "")
    else:
        waiting = state.get("waiting") or {}
        one.reason, one.message = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
    if one.has_run:
        image = image_of(str(status.get("image") or spec.get("image", "")))
        one.image, one.image_id = image.told, str(status.get("imageID") or image.digest)
    return one


def _gated(pod: Mapping[str, Any]) -> Document:
    """Return the readiness of a pod whose containers are ready: others may have a say (readinessGates)."""
    known = {one["type"]: one["status"] for one in (pod.get("status") or {}).get("conditions") or ()}
    wrong: list[str] = []
    for gate in pod["spec"].get("readinessGates") or ():
        kind = gate.get("conditionType")
        if kind not in known:
            wrong.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif known[kind] != "True":
            wrong.append(f'the status of pod readiness gate "{kind}" is not "True", but {known[kind]}')
    if not wrong:
        return {"status": "True"}
    return {"status": "False", "reason": "ReadinessGatesNotReady", "message": ", ".join(wrong)}
