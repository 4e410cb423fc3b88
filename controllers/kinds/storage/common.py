"""What several kinds of storage have in common."""

from __future__ import annotations

from controllers.registry import fields
from scheduler_core.api.errors import Cause


def driver_name(field: str, name: str) -> list[Cause]:
    """Return what is wrong with a CSI driver's name."""
    if not name:
        return [fields.required(field)]
    if len(name) > fields.LABEL_LENGTH_MAX:
        return [fields.bad(field, name, f"must be no more than {fields.LABEL_LENGTH_MAX} bytes")]
    return fields.subdomain(field, name.lower())
