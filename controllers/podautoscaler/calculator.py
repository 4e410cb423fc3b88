"""How many replicas the usage of pods asks for.

Source: pkg/controller/podautoscaler/replica_calculator.go and metrics/utilization.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from controllers.kinds.autoscaling.metrics import milli
from controllers.kinds.metrics.load import Loads
from controllers.kinds.metrics.usage import WINDOW_MS, container_usage, running_containers
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.document import Document, condition
from scheduler_core.api.quantity import QuantityError, amount


class Unknown(Exception):
    """No number of replicas can be computed."""


class Proposal(NamedTuple):
    """So many replicas, since pods use so much on average (milli units), of their requests so many percent."""

    replicas: int
    usage: int
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What flags say: a tolerance as a share, times in milliseconds."""

    tolerance: float
    initialization_ms: int
    readiness_delay_ms: int


def propose(
    current: int,
    pods: Sequence[Document],
    resource: str,
    target: Mapping[str, Any],
    container: str,
    settings: Settings,
    unix_ms: int,
    loads: Loads,
) -> Proposal:
    """Return what one resource of pods asks for.

    Args:
        current: replicas now.
        pods: all that the target's selector finds.
        resource: `cpu` or `memory`.
        target: the metric's target.
        container: only containers of this name; empty: whole pods.
        settings: the flags.
        unix_ms: the present wire time.
        loads: what requests make pods use.

    Raises:
        Unknown: nothing can be said; the text is upstream's.
    """
    metrics = _usage(pods, resource, container, unix_ms, loads)
    if not metrics:
        text = "no metrics returned from resource metrics API"
        raise Unknown(f"unable to get metrics for resource {resource}: {text}")
    if not pods:
        raise Unknown("no pods returned by selector while calculating replica count")
    ready, unready, missing, ignored = _grouped(pods, metrics, resource, settings, unix_ms)
    for name in (*ignored, *unready):
        metrics.pop(name, None)
    if not metrics:
        raise Unknown("did not receive metrics for targeted pods (pods might be unready)")
    aim = target.get("averageUtilization")
    requests = {} if target.get("averageValue") is not None else _requests(pods, resource, container)
    wanted = milli(target["averageValue"]) if target.get("averageValue") is not None else int(aim or 0)
    share = aim is not None and target.get("averageValue") is None
    ratio, usage, percent = _ratio(metrics, requests, wanted, share)
    within = 1.0 - settings.tolerance <= ratio <= 1.0 + settings.tolerance
    up_unready = bool(unready) and ratio > 1.0
    if not up_unready and not missing:
        return Proposal(current if within else ceil(ratio * ready), usage, percent)
    for name in missing:
        if ratio < 1.0:
            metrics[name] = requests[name] * max(100, wanted) // 100 if share else wanted
        elif ratio > 1.0:
            metrics[name] = 0
    if up_unready:
        metrics.update(dict.fromkeys(unready, 0))
    again, _, _ = _ratio(metrics, requests, wanted, share)
    turned = (ratio < 1.0 < again) or (again < 1.0 < ratio)
    if turned or 1.0 - settings.tolerance <= again <= 1.0 + settings.tolerance:
        return Proposal(current, usage, percent)
    replicas = ceil(again * len(metrics))
    if (again < 1.0 and replicas > current) or (again > 1.0 and replicas < current):
        replicas = current
    return Proposal(replicas, usage, percent)


def _usage(pods: Sequence[Document], resource: str, container: str, unix_ms: int, loads: Loads) -> dict[str, int]:
    """Return pod → what its containers use, in milli units, of those of which it is known."""
    found: dict[str, int] = {}
    for pod in pods:
        running = [one for one in running_containers(pod) if container in ("", one["name"])]
        if running:
            load = loads.get(pod["metadata"]["uid"], 0)
            used = [container_usage(pod, one, unix_ms, load) for one in running]
            total = sum(one.cpu for one in used) if resource == "cpu" else 1000 * sum(one.memory for one in used)
            found[pod["metadata"]["name"]] = total
    return found


def _requests(pods: Sequence[Document], resource: str, container: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pod in pods:
        sidecars = [one for one in pod["spec"].get("initContainers") or () if one.get("restartPolicy") == "Always"]
        total = 0
        for one in (*pod["spec"]["containers"], *sidecars):
            if container not in ("", one["name"]):
                continue
            asked = ((one.get("resources") or {}).get("requests") or {}).get(resource)
            if asked is None:
                name = pod["metadata"]["name"]
                raise Unknown(f"missing request for {resource} in container {one['name']} of Pod {name}")
            total += _milli_of(resource, asked)
        found[pod["metadata"]["name"]] = total
    return found


def _milli_of(resource: str, quantity: Any) -> int:
    try:
        return int(amount(resource, quantity)) * (1 if resource == "cpu" else 1000)
    except (QuantityError, TypeError):
        return 0


def _ratio(
    metrics: Mapping[str, int], requests: Mapping[str, int], wanted: int, share: bool
) -> tuple[float, int, int | None]:
    """Return (usage to target, average usage, percentage of requests)."""
    total = sum(metrics.values())
    if not share:
        average = total // len(metrics)
        return average / wanted, average, None
    known = [name for name in metrics if name in requests]
    asked, used = sum(requests[name] for name in known), sum(metrics[name] for name in known)
    if not asked:
        raise Unknown("no metrics returned matched known pods")
    percent = used * 100 // asked
    return percent / wanted, used // len(known), percent


def _grouped(
    pods: Sequence[Document], metrics: Mapping[str, int], resource: str, settings: Settings, unix_ms: int
) -> tuple[int, set[str], set[str], set[str]]:
    """Return (how many pods count, those not ready, those without metrics, those left out)."""
    ready = 0
    unready: set[str] = set()
    missing: set[str] = set()
    ignored: set[str] = set()
    for pod in pods:
        name, phase = pod["metadata"]["name"], (pod.get("status") or {}).get("phase")
        if "deletionTimestamp" in pod["metadata"] or phase == "Failed":
            ignored.add(name)
        elif phase in (None, "Pending"):
            unready.add(name)
        elif name not in metrics:
            missing.add(name)
        elif resource == "cpu" and _is_unready(pod, settings, unix_ms):
            unready.add(name)
        else:
            ready += 1
    return ready, unready, missing, ignored


def _is_unready(pod: Document, settings: Settings, unix_ms: int) -> bool:
    """Return whether a pod's processor usage says nothing yet: it has just begun."""
    state, started = condition(pod, "Ready"), (pod.get("status") or {}).get("startTime")
    if state is None or not started or not state.get("lastTransitionTime"):
        return True
    since_ms, started_ms = unix_ms_of(state["lastTransitionTime"]), unix_ms_of(started)
    if started_ms + settings.initialization_ms > unix_ms:
        return state["status"] == "False" or unix_ms // WINDOW_MS * WINDOW_MS < since_ms + WINDOW_MS
    return state["status"] == "False" and started_ms + settings.readiness_delay_ms > since_ms
