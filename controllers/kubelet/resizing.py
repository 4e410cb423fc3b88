"""Amounts that change while a pod runs: whether its node has room, what is told meanwhile, and who has to start again.

Source: pkg/kubelet/allocation/allocation_manager.go, pkg/kubelet/kuberuntime (computePodResizeAction), KEP-1287, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.kubelet import says
from controllers.kubelet.containers import OWN, RESIZING, Container, merged_conditions
from controllers.kubelet.given import is_same
from controllers.kubelet.home import Act, Steps, Write
from controllers.kubelet.life import Life
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.quantity import QuantityError, amount

PENDING, IN_PROGRESS = RESIZING
RETRY_MS: Final = 180_000
"""How long a resize waits for room before the node is looked at again (upstream: three minutes)."""

NAMES: Final = ("memory", "cpu")
"""What can be resized, in the order in which upstream tells that there is no room."""

Again = Callable[[Life, Container], Steps]


def acts(life: Life, again: Again) -> Iterator[Act]:
    """Yield what follows a resize that is not in force yet."""
    changed = [one for one in life.containers.all if one.held is not None and not is_same(one.held, one.resources)]
    told = _condition(life, PENDING)
    if not changed and not told and not _condition(life, IN_PROGRESS):
        return
    due_ms = life.now_ms
    if changed and told.get("observedGeneration") == life.generation:
        # What cannot be waits for nothing but another change; what waits for room is looked at again.
        if told.get("reason") != "Deferred":
            return
        due_ms = max(due_ms, life.home.retry_ms(life.uid))
    yield Act(due_ms, lambda: _resize(life, changed, again))


def _resize(life: Life, changed: Sequence[Container], again: Again) -> Steps:
    if not changed:
        # It was taken back.
        yield Write(_status(life, None))
        return
    reason, message = _no_room(life)
    if reason:
        life.home.retry_at(life.uid, life.now_ms + RETRY_MS)
        yield Write(_status(life, {"type": PENDING, "status": "True", "reason": reason, "message": message}))
        return
    for one in changed:
        one.allocated = dict(one.resources.get("requests") or {})
    yield Write(_status(life, {"type": IN_PROGRESS, "status": "True"}))
    yield from life.wait(life.home.stages.waits.tell, "resize")
    for one in changed:
        if one.state == "running" and _needs_restart(one):
            yield from again(life, one)
        one.held = one.resources
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
    return not has_ended(pod)


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


def _needs_restart(one: Container) -> bool:
    names = [
        str(policy.get("resourceName"))
        for policy in one.spec.get("resizePolicy") or ()
        if policy.get("restartPolicy") == "RestartContainer"
    ]
    return bool(names) and not is_same(one.held or {}, one.resources, *names)


def _condition(life: Life, kind: str) -> Mapping[str, Any]:
    known: Sequence[Mapping[str, Any]] = (life.pod.get("status") or {}).get("conditions") or ()
    return next((one for one in known if one.get("type") == kind), {})


def _status(life: Life, condition: Document | None) -> Document:
    """Return the pod's status with this word on its resize, or none."""
    status = life.status()
    own = [one for one in status["conditions"] if one["type"] in OWN]
    others = [one for one in status["conditions"] if one["type"] not in (*OWN, *RESIZING)]
    if condition is not None:
        condition = {**condition, "observedGeneration": life.generation}
        known = [one for one in status["conditions"] if one["type"] == condition["type"]]
        others += merged_conditions(known, [condition], life.unix_ms)
    return {**status, "conditions": [*others, *own]}


def _told(life: Life) -> str:
    """Return what a pod has now, as the kubelet tells it."""
    spec = life.pod["spec"]
    summary: Document = {}
    for key in ("initContainers", "containers"):
        listed = [{"name": one["name"], "resources": one.get("resources") or {}} for one in spec.get(key) or ()]
        if listed:
            summary[key] = listed
    return msgspec.json.encode(summary).decode()
