"""What metrics of pods and of nodes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.metrics.load import Loads, loads_of, senders_of
from controllers.kinds.metrics.usage import WINDOW_MS
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.computed import Facts
from scheduler_core.api.document import Document


def loads_in(facts: Facts) -> Loads:
    """Return what requests make the session's pods use."""
    pods: dict[str, list[Document]] = {}
    for stored in facts.list("pods")[0]:
        pods.setdefault(stored.namespace, []).append(stored.object)
    clients = [stored.object for stored in facts.list(CLIENTS)[0]]
    return loads_of(
        senders_of((pod for listed in pods.values() for pod in listed), clients),
        lambda: (stored.object for stored in facts.list("services")[0]),
        lambda namespace: pods.get(namespace, ()),
    )


def metrics(kind: str, of: Stored, unix_ms: int, **usage: Any) -> Stored:
    """Return the metrics of a pod or a node in the window of `unix_ms`.

    Args:
        kind: of the metrics.
        of: what is measured; its labels are those of its metrics.
        unix_ms: what time it is.
        usage: the members that say it.
    """
    metadata: dict[str, Any] = {"name": of.name, "creationTimestamp": wire_time(unix_ms)}
    if of.namespace:
        metadata["namespace"] = of.namespace
    labels: Mapping[str, str] | None = of.object["metadata"].get("labels")
    if labels:
        metadata["labels"] = labels
    document = {
        "kind": kind,
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": metadata,
        "timestamp": wire_time(unix_ms // WINDOW_MS * WINDOW_MS),
        "window": f"{WINDOW_MS / 1000:g}s",
        **usage,
    }
    return Stored(f"{of.resource}.metrics.k8s.io", of.namespace, of.name, "", 0, msgspec.json.encode(document))
