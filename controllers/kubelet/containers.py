"""The containers of one pod as its kubelet holds them: read from the status, and written into it.

Source: pkg/kubelet/kubelet_pods.go (getPhase) and pkg/kubelet/status/generate.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from controllers.kubelet.images import normalised
from controllers.log.stamps import wire_time
from scheduler_core.api.containers import STATUSES
from scheduler_core.api.document import Document

State = Literal["waiting", "running", "terminated"]


@dataclass(slots=True)
class Container:
    """One container: what is asked of it, and how it stands."""

    spec: Mapping[str, Any]
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
    """What runs, or ran last."""
    held: Document | None = None
    allocated: Document | None = None
    """What it has and was promised of cpu and memory, told once that was changed while it ran."""

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.spec["name"])

    @property
    def sidecar(self) -> bool:
        """Return whether it is an init container that runs on."""
        return self.init and self.spec.get("restartPolicy") == "Always"

    @property
    def done(self) -> bool:
        """Return whether an init container lets the next one begin."""
        if self.sidecar:
            return self.state == "running" and self.started
        return self.state == "terminated" and self.exit_code == 0

    def start(self, now: str) -> None:
        """It runs."""
        if self.state == "terminated" or self.last or self.restarts:
            self.restarts += 1
        if self.state == "terminated":
            self.last = {"terminated": self.ended()}
        self.state, self.reason, self.message = "running", "", ""
        self.started_at, self.finished_at, self.exit_code = now, "", 0
        self.started = self.ready = False
        self.image = str(self.spec.get("image", ""))

    def end(self, now: str, code: int, reason: str = "", message: str = "") -> None:
        """It has ended."""
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
        }
        return {key: value for key, value in told.items() if key != "message" or value}


class Containers:
    """All containers of a pod."""

    def __init__(self, pod: Mapping[str, Any]) -> None:
        """Read them from the pod."""
        spec, status = pod["spec"], pod.get("status") or {}
        self.uid = str(pod["metadata"]["uid"])
        told = {(key, one.get("name")): one for key in STATUSES for one in status.get(key) or ()}
        self.inits = [
            _read(one, told.get(("initContainerStatuses", one.get("name"))), init=True)
            for one in spec.get("initContainers") or ()
        ]
        self.mains = [_read(one, told.get(("containerStatuses", one.get("name")))) for one in spec["containers"]]
        self.ephemerals = [
            _read(one, told.get(("ephemeralContainerStatuses", one.get("name"))), ephemeral=True)
            for one in spec.get("ephemeralContainers") or ()
        ]

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
        begun = not over and any(one.state == "running" or one.last or one.finished_at for one in self.all)
        initialized: Document = {"status": "True", **({"reason": over} if over == "PodCompleted" else {})}
        if waiting:
            text = f"containers with incomplete status: [{' '.join(waiting)}]"
            initialized = {"status": "False", "reason": "ContainersNotInitialized", "message": text}
        ready = containers if containers["status"] == "False" else _gated(pod)
        return [
            {"type": "PodReadyToStartContainers", "status": "True" if begun else "False"},
            {"type": "Initialized", **initialized},
            {"type": "Ready", **ready},
            {"type": "ContainersReady", **containers},
        ]

    def statuses(self, containers: Iterable[Container]) -> list[Document]:
        """Return what the wire tells of containers."""
        return [self._status(one) for one in containers]

    def _status(self, one: Container) -> Document:
        image = one.image or str(one.spec.get("image", ""))
        entry: Document = {
            "name": one.name,
            "image": image,
            "imageID": "",
            "ready": one.ready,
            "restartCount": one.restarts,
            "started": one.started,
            "state": {},
            "lastState": one.last,
        }
        if one.ephemeral:
            del entry["started"]
        if one.state != "waiting" or one.last:
            entry["imageID"] = f"sha256:{sha256(normalised(image).encode()).hexdigest()}"
            place = f"{self.uid}/{one.name}/{one.restarts}" if one.restarts else f"{self.uid}/{one.name}"
            entry["containerID"] = f"containerd://{sha256(place.encode()).hexdigest()}"
        if one.held is not None:
            entry["resources"], entry["allocatedResources"] = one.held, one.allocated or {}
        if one.state == "running":
            entry["state"] = {"running": {"startedAt": one.started_at}}
        elif one.state == "terminated":
            entry["state"] = {"terminated": {**one.ended(), "containerID": entry["containerID"]}}
        else:
            entry["state"] = {"waiting": {"reason": one.reason, **({"message": one.message} if one.message else {})}}
        return entry


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


def _read(
    spec: Mapping[str, Any], status: Mapping[str, Any] | None, *, init: bool = False, ephemeral: bool = False
) -> Container:
    one = Container(spec, init, ephemeral)
    if status is None:
        return one
    one.known = True
    one.restarts = int(status.get("restartCount") or 0)
    one.last = dict(status.get("lastState") or {})
    one.ready, one.started = bool(status.get("ready")), bool(status.get("started"))
    one.image = str(status.get("image") or "")
    one.held, one.allocated = status.get("resources"), status.get("allocatedResources")
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
