"""Parts of a Job's status."""

from __future__ import annotations

from scheduler_core.api.document import Document


def ending(kind: str, reason: str, message: str, now: str) -> Document:
    """Return a condition that holds since `now`."""
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    return {"type": kind, "status": "True", **times, "reason": reason, "message": message}


def put(conditions: list[Document], fresh: Document) -> list[Document]:
    """Return conditions with `fresh` in the place of the one of its type, or at the end."""
    if any(one["type"] == fresh["type"] for one in conditions):
        return [fresh if one["type"] == fresh["type"] else one for one in conditions]
    return [*conditions, fresh]


def set_count(status: Document, name: str, value: int) -> None:
    """Set a count; the wire omits those that are 0."""
    if value:
        status[name] = value
    else:
        status.pop(name, None)
