"""metrics.k8s.io/v1beta1, for `kubectl top`: computed when it is read, listed and got, never watched or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clustersim.apiserver.messages import Request, Response, json_response
from clustersim.apiserver.routes import COMPUTED, Target
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.virtual import ReadView
from controllers.kubelet.heartbeat import is_running
from controllers.kubelet.usage import WINDOW_MS, container_usage, node_usage, running_containers
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.kind import Kind
from scheduler_core.api.errors import method_not_allowed, not_found
from scheduler_core.api.selector_text import parse_label_selector
from scheduler_core.api.selectors import matches_all


def is_computed(kind: Kind) -> bool:
    """Return whether a kind is answered here."""
    return kind in COMPUTED


def answer(view: ReadView, request: Request, target: Target, verb: str) -> Response:
    """Answer a GET of usage: of a collection, or of one pod or node.

    Raises:
        ApiError: 400 (a selector that cannot be read), 404, 405.
    """
    if verb not in ("get", "list"):
        raise method_not_allowed()
    unix_ms = session_unix_ms(view.store)
    labels = parse_label_selector(request.query.get("labelSelector", ""))
    found = _nodes(view, unix_ms) if target.kind.kind == "NodeMetrics" else _pods(view, target.namespace, unix_ms)
    items = [
        _document(target.kind, stored, usage, unix_ms)
        for stored, usage in found
        if (not target.name or stored.name == target.name)
        and matches_all(labels, stored.object["metadata"].get("labels") or {})
    ]
    if target.name:
        if not items:
            raise not_found(target.kind.resource, target.name)
        return json_response(items[0])
    kind = target.kind
    metadata = {"resourceVersion": str(view.revision)}
    return json_response(
        {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": items}
    )


def _pods(view: ReadView, namespace: str | None, unix_ms: int) -> Iterator[tuple[Stored, dict[str, Any]]]:
    """Yield pods with a running container; others have no usage yet, as upstream."""
    for stored in view.list("pods", namespace)[0]:
        running = running_containers(stored.object)
        if running:
            yield (
                stored,
                {
                    "containers": [
                        {
                            "name": one["name"],
                            "usage": container_usage(stored.object, one, unix_ms).quantities(),
                        }
                        for one in running
                    ]
                },
            )


def _nodes(view: ReadView, unix_ms: int) -> Iterator[tuple[Stored, dict[str, Any]]]:
    """Yield nodes whose kubelet is alive."""
    by_node: dict[str, list[Mapping[str, Any]]] = {}
    for stored in view.list("pods")[0]:
        by_node.setdefault((stored.object.get("spec") or {}).get("nodeName") or "", []).append(stored.object)
    for stored in view.list("nodes")[0]:
        if is_running(stored.object, unix_ms):
            yield stored, {"usage": node_usage(by_node.get(stored.name, ()), unix_ms).quantities()}


def _document(kind: Kind, stored: Stored, usage: Mapping[str, Any], unix_ms: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": stored.name, "creationTimestamp": wire_time(unix_ms)}
    if stored.namespace:
        metadata["namespace"] = stored.namespace
    labels = stored.object["metadata"].get("labels")
    if labels:
        metadata["labels"] = labels
    return {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": metadata,
        "timestamp": wire_time(unix_ms // WINDOW_MS * WINDOW_MS),
        "window": f"{WINDOW_MS / 1000:g}s",
        **usage,
    }
