"""What a KubeSchedulerConfiguration says of the process itself: elections, client, debugging. Checked, kept, not run.

The simulator's replicas have elections and clients of their own; a configuration that upstream would refuse is refused
here too (`component-base/config/validation`, and the scheduler's own rule for the lock).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Final

from scheduler_core.api.errors import Cause

_Errors = Iterator[Cause]

_ELECTION: Final[Mapping[str, Any]] = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    "retryPeriod": "2s",
    "resourceLock": "leases",
    "resourceName": "kube-scheduler",
    "resourceNamespace": "kube-system",
}
"""Fields of `leaderElection` and their defaults."""

_CLIENT: Final[Mapping[str, Any]] = {
    "kubeconfig": "",
    "acceptContentTypes": "",
    "contentType": "application/vnd.kubernetes.protobuf",
    "qps": 50.0,
    "burst": 100,
}
"""Fields of `clientConnection` and their defaults."""

_FLAGS: Final = ("delayCacheUntilActive", "enableProfiling", "enableContentionProfiling")

_UNITS_NS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


def component_errors(document: Mapping[str, Any]) -> _Errors:
    """Yield what is wrong with the parts of a configuration that concern the process."""
    client = yield from _section(document, "clientConnection", _CLIENT)
    if client is not None and client["burst"] < 0:
        yield Cause("clientConnection.burst", f"Invalid value: {client['burst']}: must be non-negative")
    election = yield from _section(document, "leaderElection", _ELECTION)
    if election is not None and election["leaderElect"]:
        yield from _election(election)
    for field in _FLAGS:
        if not isinstance(document.get(field, False), bool):
            yield Cause(field, f"Invalid value: {document[field]!r}: must be true or false", "FieldValueTypeInvalid")


def _election(settings: Mapping[str, Any]) -> _Errors:
    path = "leaderElection"
    durations: dict[str, int] = {}
    for field in ("leaseDuration", "renewDeadline", "retryPeriod"):
        # As upstream: a duration of zero, and an empty text below, is one that was left out.
        written = settings[field] if duration_ns(settings[field]) != 0 else _ELECTION[field]
        found = duration_ns(written)
        if found is None:
            yield Cause(f"{path}.{field}", f'Invalid value: "{written}": must be a duration such as 15s')
        elif found <= 0:
            yield Cause(f"{path}.{field}", f'Invalid value: "{written}": must be greater than zero')
        durations[field] = found or 0
    if durations["leaseDuration"] <= durations["renewDeadline"]:
        text = f'Invalid value: "{settings["renewDeadline"]}": must be greater than `RenewDeadline`'
        yield Cause(f"{path}.leaseDuration", text)
    lock = settings["resourceLock"] or _ELECTION["resourceLock"]
    if lock != "leases":
        yield Cause(f"{path}.resourceLock", f'Invalid value: "{lock}": resourceLock value must be "leases"')


def _section(
    document: Mapping[str, Any], field: str, defaults: Mapping[str, Any]
) -> Generator[Cause, None, dict[str, Any] | None]:
    """Yield what has the wrong shape in a section; return it with its defaults, None where it cannot be read on."""
    written = document.get(field)
    if written is None:
        return dict(defaults)
    if not isinstance(written, Mapping):
        yield Cause(field, "Invalid value: must be an object", "FieldValueTypeInvalid")
        return None
    readable = True
    for name, value in written.items():
        where = f"{field}.{name}"
        if name not in defaults:
            yield Cause(where, f'unknown field "{where}"', "FieldValueNotSupported")
        elif value is not None and not _alike(value, defaults[name]):
            said = _SAID[type(defaults[name])]
            yield Cause(where, f"Invalid value: {value!r}: must be {said}", "FieldValueTypeInvalid")
            readable = False
    given = {name: value for name, value in written.items() if value is not None}
    return {**defaults, **given} if readable else None


_SAID: Final = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}


def _alike(value: Any, default: Any) -> bool:
    """Return whether a value has its default's type; an integer is a number, true is no integer."""
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def duration_ns(text: str) -> int | None:
    """Return the nanoseconds of a duration as Go writes it (`1m30s`, `-2s`, `0`); None for what is none."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        return None
    return sign * round(sum(float(number) * _UNITS_NS[unit] for number, unit in parts))
