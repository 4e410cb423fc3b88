"""What several kinds of storage have in common."""

from __future__ import annotations

from controllers.registry import fields
from scheduler_core.api import dns_names
from scheduler_core.api.errors import Cause


def driver_name(field: str, name: str) -> list[Cause]:
    """Return what is wrong with a CSI driver's name (ValidateCSIDriverName)."""
    causes = [] if name else [fields.required(field)]
    causes += [fields.too_long(field, dns_names.LABEL_LENGTH_MAX)] if len(name) > dns_names.LABEL_LENGTH_MAX else []
    wrong = fields.subdomain(field, name.lower())
    return causes + [fields.bad(field, name, one.message.split(": ", 2)[2]) for one in wrong]
