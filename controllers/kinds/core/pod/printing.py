"""What the table of pods says of each: containers that are ready, the word of its status, restarts.

Source: pkg/printers/internalversion (`printPod`), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from controllers.kinds.columns import NONE
from controllers.registry.kind import Mask
from scheduler_core.api.document import at

_ENDED: Final[Mapping[str, list[dict[str, str]]]] = {
    "Succeeded": [
        {
            "type": "Completed",
            "status": "True",
            "reason": "Succeeded",
            "message": "The pod has completed successfully.",
        }
    ],
    "Failed": [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}],
}
"""The conditions of a row by phase: printers may show it apart."""

_STATUSES: Final[Mask] = {
    "name": True,
    "ready": True,
    "started": True,
    "restartCount": True,
    "state": True,
    "lastState": True,
}

READ: Final[Mask] = {
    "spec": {
        "containers": {},
        "initContainers": {"name": True, "restartPolicy": True},
        "nodeName": True,
        "readinessGates": {"conditionType": True},
    },
    "status": {
        "phase": True,
        "reason": True,
        "podIP": True,
        "nominatedNodeName": True,
        "conditions": {"type": True, "status": True, "reason": True},
        "initContainerStatuses": _STATUSES,
        "containerStatuses": _STATUSES,
    },
}
"""What the columns of pods read besides the metadata."""


class Printed(NamedTuple):
    """What the columns Ready, Status and Restarts are made of."""

    ready: int
    total: int
    word: str
    restarts: int
    restarted: str
    """When the last restart ended what ran before; empty: nobody knows."""


def printed(document: Mapping[str, Any]) -> Printed:
    """Go through a pod's containers as upstream does: init containers until one is not done, then the others."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    word, ready, restarts, restarted = _word(status), 0, 0, ""
    sidecars = _sidecars(spec)
    of_sidecars = 0, ""
    for entry, name in _init_states(spec, status) if status.get("initContainerStatuses") else ():
        restarts, restarted = _restarted(restarts, restarted, entry)
        if entry.get("name") in sidecars:
            of_sidecars = _restarted(*of_sidecars, entry)
            if entry.get("started") and name:
                ready += bool(entry.get("ready"))
                continue
        if name:
            word = name
            break
    else:
        name = ""
    if not name or _true(status, "Initialized"):
        word, ready, (restarts, restarted) = _of_containers(status, word, ready, of_sidecars)
    total = len(spec.get("containers") or ()) + len(sidecars)
    return Printed(ready, total, _of_deletion(document, status, word), restarts, restarted)


def ready_cell(told: Printed, age: Any) -> str:
    """Return the cell of READY."""
    return f"{told.ready}/{told.total}"


def status_cell(told: Printed, age: Any) -> str:
    """Return the cell of STATUS: the phase, or the more telling reason of a container."""
    return told.word


def restarts_cell(told: Printed, age: Callable[[str | None], str]) -> str:
    """Return the cell of RESTARTS."""
    return f"{told.restarts} ({age(told.restarted)} ago)" if told.restarts and told.restarted else str(told.restarts)


def gates_cell(document: Mapping[str, Any], age: Any) -> str:
    """Return the cell of READINESS GATES."""
    gates = (document.get("spec") or {}).get("readinessGates") or ()
    if not gates:
        return NONE
    return f"{sum(1 for gate in gates if _true(document.get('status') or {}, gate.get('conditionType')))}/{len(gates)}"


def row_conditions(document: Mapping[str, Any]) -> list[dict[str, str]] | None:
    """Return the conditions of the row of a pod that has ended."""
    return _ENDED.get((document.get("status") or {}).get("phase") or "")


def _word(status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return str(status.get("reason") or status.get("phase") or "")


def _sidecars(spec: Mapping[str, Any]) -> set[str]:
    return {
        container.get("name", "")
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    }


def _init_states(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield (status, what the pod is called for it) of the init containers; empty: it is done, and the next counts."""
    total = len(spec.get("initContainers") or ())
    for index, entry in enumerate(status.get("initContainerStatuses") or ()):
        waiting, ended = _state(entry)
        if ended is not None:
            yield entry, f"Init:{_end(ended)}" if ended.get("exitCode") else ""
        elif waiting and waiting.get("reason") not in (None, "", "PodInitializing"):
            yield entry, f"Init:{waiting['reason']}"
        else:
            yield entry, f"Init:{index}/{total}"


def _of_containers(
    status: Mapping[str, Any], word: str, ready: int, of_sidecars: tuple[int, str]
) -> tuple[str, int, tuple[int, str]]:
    restarts, restarted = of_sidecars
    running = False
    for entry in reversed(status.get("containerStatuses") or ()):
        restarts, restarted = _restarted(restarts, restarted, entry)
        waiting, ended = _state(entry)
        if waiting and waiting.get("reason"):
            word = waiting["reason"]
        elif ended is not None:
            word = _end(ended)
        elif entry.get("ready") and (entry.get("state") or {}).get("running") is not None:
            running = True
            ready += 1
    if word == "Completed" and running:
        word = "Running" if _true(status, "Ready") else "NotReady"
    return word, ready, (restarts, restarted)


def _of_deletion(document: Mapping[str, Any], status: Mapping[str, Any], word: str) -> str:
    if "deletionTimestamp" not in document["metadata"]:
        return word
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return word if status.get("phase") in _ENDED else "Terminating"


def _state(entry: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    state = entry.get("state") or {}
    return state.get("waiting"), state.get("terminated")


def _end(ended: Mapping[str, Any]) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _restarted(count: int, newest: str, entry: Mapping[str, Any]) -> tuple[int, str]:
    last = entry.get("lastState")
    ended = (at(last, "terminated", "finishedAt") or "") if last else ""
    return count + (entry.get("restartCount") or 0), max(newest, ended)


def _true(status: Mapping[str, Any], kind: Any) -> bool:
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind:
            return bool(condition.get("status") == "True")
    return False
