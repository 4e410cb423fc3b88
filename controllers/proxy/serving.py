"""What a pod does with a connection: whether something listens there, and what it answers.

Nothing is executed: it follows from the pod's containers, from its probes as annotations tell of them, and from when it
was asked to end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controllers.kubelet.orders import Orders
from controllers.kubelet.stopping import pre_stop_ms
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.containers import told_of
from scheduler_core.api.document import Document


class Reply(NamedTuple):
    """What came back: `code` is an HTTP status, 0 where there is none."""

    result: str
    code: int
    reason: str
    message: str


def reply_of(pod: Document, port: int, orders: Orders, unix_ms: int, ends_unix_ms: int | None) -> Reply:
    """Return what a pod on a machine that runs does with a connection to one of its ports.

    Args:
        pod: as the API has it.
        port: where to.
        orders: what annotations tell of its probes.
        unix_ms: the present.
        ends_unix_ms: since when the pod is to end; None: it stays.
    """
    name = pod["metadata"]["name"]
    if ends_unix_ms is not None and unix_ms >= ends_unix_ms + _hook_ms(pod):
        return _refused("Ending", f"{name} has been told to end and listens no more")
    container = listener(pod, port)
    if container is None:
        return _refused("NotListening", f"no container of {name} listens on port {port}")
    status = told_of(pod, container["name"])
    running = (status.get("state") or {}).get("running")
    if running is None:
        state = next(iter(status.get("state") or {}), "waiting")
        reason = ((status.get("state") or {}).get(state) or {}).get("reason") or state
        return _refused("NotRunning", f"container {container['name']} of {name} does not run: {reason}")
    since = running.get("startedAt")
    begun_ms = unix_ms_of(since) if since else 0
    if orders.fails(container["name"], "startup") and container.get("startupProbe") is not None:
        return _refused("NotStarted", f"{name} runs, and what runs there has not started up")
    if unix_ms < begun_ms + 1000 * orders.listen_after:
        return _refused("NotStarted", f"{name} runs, and does not listen yet")
    if orders.fails(container["name"], "liveness") and container.get("livenessProbe") is not None:
        return Reply("timeout", 0, "Hangs", f"{name} takes the connection and does not answer")
    if orders.run == "unready" or orders.fails(container["name"], "readiness"):
        return Reply("error", 503, "Unhealthy", f"{name} answers that it cannot serve")
    return Reply("ok", 200, "", "")


def _refused(reason: str, message: str) -> Reply:
    return Reply("refused", 0, reason, message)


def _hook_ms(pod: Mapping[str, Any]) -> int:
    return min(pre_stop_ms(pod), 1000 * int(pod["metadata"].get("deletionGracePeriodSeconds") or 0))


def listener(pod: Mapping[str, Any], port: int) -> Mapping[str, Any] | None:
    """Return the container that listens: the one that declares the port; where none declares any, the first."""
    spec = pod["spec"]
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    containers: list[Mapping[str, Any]] = [*(spec.get("containers") or ()), *sidecars]
    declared = False
    for container in containers:
        for own in container.get("ports") or ():
            if own.get("protocol", "TCP") == "TCP":
                declared = True
                if own.get("containerPort") == port:
                    return container
    return None if declared else containers[0]


def listens_on_host(pod: Mapping[str, Any], port: int) -> int | None:
    """Return the port of its own on which a pod takes connections to a port of its node; None: it takes none."""
    for container in pod["spec"].get("containers") or ():
        for own in container.get("ports") or ():
            inner = int(own.get("containerPort") or 0)
            if own.get("protocol", "TCP") == "TCP" and port in (
                own.get("hostPort"),
                inner if pod["spec"].get("hostNetwork") else None,
            ):
                return inner
    return None
