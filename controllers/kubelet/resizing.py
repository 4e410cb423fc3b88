"""Amounts that change while a pod runs: whether its node has room, what is told meanwhile, and who has to start again.

Source: pkg/kubelet/allocation/allocation_manager.go, pkg/kubelet/kuberuntime (computePodResizeAction), KEP-1287, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.kubelet import says
from controllers.kubelet.containers import Container, merged_conditions
from controllers.kubelet.home import Act, Steps, Write
from controllers.kubelet.life import FINAL, Life
from scheduler_core.api.document import Document
from scheduler_core.api.quantity import QuantityError, amount

PENDING: Final = "PodResizePending"
IN_PROGRESS: Final = "PodResizeInProgress"
RETRY_MS: Final = 180_000
"""How long a resize waits for room before the node is looked at again (upstream: three minutes)."""

NAMES: Final = ("memory", "cpu")
"""What can be resized, in the order in which upstream tells that there is no room."""

Again = Callable[[Life, Container], Steps]


def changed_resources(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Document]:
    """Return container → its resources before, of those that differ in two versions of a pod."""
    before = {one["name"]: one.get("resources") or {} for one in _sized(old["spec"])}
    after = {one["name"]: one.get("resources") or {} for one in _sized(new["spec"])}
    return {name: dict(held) for name, held in before.items() if after.get(name) != held}


def acts(life: Life, again: Again) -> Iterator[Act]:
    """Yield what follows a resize that is not in force yet."""
    before = life.home.resized(life.uid)
    if not before:
        return
    due_ms = life.now_ms
    if _condition(life, PENDING).get("reason") == "Deferred":
        due_ms = life.home.retry_ms(life.uid)
    yield Act(max(life.now_ms, due_ms), lambda: _resize(life, before, again))


def _resize(life: Life, before: Mapping[str, Document], again: Again) -> Steps:
    changed = [one for one in life.containers.all if one.name in before]
    if all((one.spec.get("resources") or {}) == before[one.name] for one in changed):
        # It was taken back.
        life.home.resize_told(life.uid, 0, keep=False)
        yield Write(_status(life, None))
        return
    reason, message = _no_room(life)
    for one in changed:
        one.held, one.allocated = before[one.name], dict(before[one.name].get("requests") or {})
    if reason:
        # What cannot be waits for nothing but another change; what waits for room is looked at again.
        life.home.resize_told(life.uid, life.now_ms + RETRY_MS, keep=reason == "Deferred")
        yield Write(_status(life, {"type": PENDING, "status": "True", "reason": reason, "message": message}))
        return
    for one in changed:
        one.allocated = dict((one.spec.get("resources") or {}).get("requests") or {})
    yield Write(_status(life, {"type": IN_PROGRESS, "status": "True"}))
    yield from life.wait(life.home.stages.waits.tell, "resize")
    life.home.resize_told(life.uid, 0, keep=False)
    for one in changed:
        if one.state == "running" and _needs_restart(one, before[one.name]):
            yield from again(life, one)
        one.held = dict(one.spec.get("resources") or {})
    life.say(says.RESIZED, why=_told(life))
    yield Write(_status(life, None))


def _no_room(life: Life) -> tuple[str, str]:
    """Return (Infeasible or Deferred, why) where the node cannot give what is asked for; else nothing."""
    allocatable, others = life.home.room(life.machine, life.uid)
    asked = {name: _requests(life.pod, name) for name in NAMES}
    for name in NAMES:
        capacity = _amount(name, allocatable.get(name))
        if asked[name] > capacity:
            text = f"{name}, requested: {asked[name]}, capacity: {capacity}"
            return "Infeasible", f"Node didn't have enough capacity: {text}"
    for name in reversed(NAMES):
        used, capacity = sum(_requests(pod, name) for pod in others), _amount(name, allocatable.get(name))
        if asked[name] + used > capacity:
            text = f"{name}, requested: {asked[name]}, used: {used}, capacity: {capacity}"
            return "Deferred", f"Node didn't have enough resource: {text}"
    return "", ""


def counts(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod takes of its node."""
    return (pod.get("status") or {}).get("phase") not in FINAL


def _sized(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the containers that can be resized: sidecars and the containers proper."""
    yield from (one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always")
    yield from spec["containers"]


def _requests(pod: Mapping[str, Any], name: str) -> int:
    parts: Sequence[Any] = [
        ((one.get("resources") or {}).get("requests") or {}).get(name) for one in _sized(pod["spec"])
    ]
    return sum(_amount(name, part) for part in parts)


def _amount(name: str, quantity: Any) -> int:
    try:
        return int(amount(name, quantity or "0"))
    except (QuantityError, TypeError):
        return 0


def _needs_restart(one: Container, before: Mapping[str, Any]) -> bool:
    after = one.spec.get("resources") or {}
    for policy in one.spec.get("resizePolicy") or ():
        name = policy.get("resourceName")
        same = all(
            (before.get(key) or {}).get(name) == (after.get(key) or {}).get(name) for key in ("requests", "limits")
        )
        if policy.get("restartPolicy") == "RestartContainer" and not same:
            return True
    return False


def _condition(life: Life, kind: str) -> Mapping[str, Any]:
    known: Sequence[Mapping[str, Any]] = (life.pod.get("status") or {}).get("conditions") or ()
    return next((one for one in known if one.get("type") == kind), {})


def _status(life: Life, condition: Document | None) -> Document:
    """Return the pod's status with this word on its resize, or none."""
    status = life.status()
    kept = [one for one in status["conditions"] if one.get("type") not in (PENDING, IN_PROGRESS)]
    if condition is not None:
        condition = {**condition, "observedGeneration": life.pod["metadata"].get("generation", 1)}
        known = [one for one in status["conditions"] if one.get("type") == condition["type"]]
        kept = [*kept, *merged_conditions(known, [condition], life.unix_ms)]
    return {**status, "conditions": kept}


def _told(life: Life) -> str:
    """Return what a pod has now, as the kubelet tells it."""
    spec = life.pod["spec"]
    summary: Document = {}
    for key in ("initContainers", "containers"):
        listed = [{"name": one["name"], "resources": one.get("resources") or {}} for one in spec.get(key) or ()]
        if listed:
            summary[key] = listed
    return msgspec.json.encode(summary).decode()
