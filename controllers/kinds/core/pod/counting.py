"""What the scheduler counts for a pod, for a page that knows its containers' requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import pod_requests

_RESIZES: Final = "PodResize"
"""Begins the types of the conditions that a pod has while its containers hold other than they ask for."""


def counted_otherwise(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return `counts`, by resource, of a pod that is resized in place or asks as a whole; of any other nothing."""
    conditions = (document.get("status") or {}).get("conditions") or ()
    resizes = any(str(one.get("type", "")).startswith(_RESIZES) for one in conditions)
    if not resizes and not (document.get("spec") or {}).get("resources"):
        return {}
    try:
        counted = pod_requests(msgspec.convert(document, Pod))
    except (msgspec.ValidationError, QuantityError):
        # What no strategy would have let in, as a recording of another version may have it.
        return {}
    return {"counts": {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in counted.items()}}
