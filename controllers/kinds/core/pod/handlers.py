"""Rules of probes and of what is done when a container starts and stops.

Source: pkg/apis/core/validation (validateHandler, validateProbe, validateLifecycle), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api.errors import Cause

_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_SECONDS: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HEADER: Final = re.compile(r"[-A-Za-z0-9]+")
_HEADER_TEXT: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    "validation is '[-A-Za-z0-9]+')"
)
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def handler(where: str, given: Mapping[str, Any], grace: int | None) -> list[Cause]:
    """Check what is to be done; `grace`: the seconds that its pod has to end."""
    causes: list[Cause] = []
    found = [key for key in _HANDLERS if given.get(key) is not None]
    if not found:
        return [fields.required(where, "must specify a handler type")]
    causes += _one(f"{where}.{found[0]}", found[0], given[found[0]], grace)
    return causes + [
        fields.not_allowed(f"{where}.{key}", "may not specify more than 1 handler type") for key in found[1:]
    ]


def _one(where: str, key: str, action: Mapping[str, Any], grace: int | None) -> list[Cause]:
    if key == "exec":
        return fields.missing(where, action, "command")
    if key == "sleep":
        seconds = action.get("seconds") or 0
        if grace is None or 0 <= seconds <= grace:
            return []
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        return [fields.bad(where, seconds, why)]
    causes = fields.missing(where, action, "path") if key == "httpGet" else []
    causes += fields.port_or_name(f"{where}.port", action.get("port"))
    if key != "httpGet":
        return causes
    scheme = action.get("scheme") or ""
    if scheme not in ("HTTP", "HTTPS"):
        causes.append(fields.unsupported(f"{where}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        if not _HEADER.fullmatch(name):
            causes.append(fields.bad(f"{where}.httpHeaders", name, _HEADER_TEXT))
    return causes


def probe(where: str, key: str, given: Mapping[str, Any], grace: int | None) -> list[Cause]:
    """Check one probe: `key` is which."""
    causes = handler(where, {name: given.get(name) for name in _HANDLERS[:4]}, grace)
    for name in _SECONDS:
        causes += fields.non_negative(f"{where}.{name}", given.get(name))
    period = given.get("terminationGracePeriodSeconds")
    field = f"{where}.terminationGracePeriodSeconds"
    if period is not None and period <= 0:
        causes.append(fields.bad(field, period, "must be greater than 0"))
    if key == "readinessProbe":
        why = "must not be set for readinessProbes"
        return causes if period is None else [*causes, fields.bad(field, period, why)]
    threshold = given.get("successThreshold", 1)
    return causes if threshold == 1 else [*causes, fields.bad(f"{where}.successThreshold", threshold, "must be 1")]


def lifecycle(where: str, given: Mapping[str, Any], grace: int | None) -> list[Cause]:
    """Check what is done after a container's start and before its end."""
    causes: list[Cause] = []
    for key in ("postStart", "preStop"):
        if given.get(key) is not None:
            causes += handler(f"{where}.{key}", given[key], grace)
    return causes
