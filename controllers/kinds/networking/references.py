"""References from networking kinds to objects of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.registry import fields
from scheduler_core.api.errors import Cause


def local_object(field: str, reference: Mapping[str, Any]) -> list[Cause]:
    """Check a TypedLocalObjectReference."""
    group = reference.get("apiGroup")
    causes = [] if group is None else fields.subdomain(f"{field}.apiGroup", group)
    for key in ("kind", "name"):
        value = reference.get(key) or ""
        where = f"{field}.{key}"
        causes += fields.path_segment(where, value) if value else [fields.required(where)]
    return causes
