"""What metrics of pods and of nodes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from controllers.kinds.metrics.usage import WINDOW_MS
from controllers.log.stamps import wire_time
from controllers.log.store import Stored


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
