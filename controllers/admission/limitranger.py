"""LimitRanger: containers get what LimitRanges give them, and nothing asks for more or less than these allow.

Source: plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.admission.common import on
from controllers.quota.pods import asked_in_all
from controllers.quota.usage import Usage, read
from controllers.registry.admission import Attempt, Plugin, Verb
from controllers.registry.kind import Kind
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.quantity import Amount

RANGES: Final = "limitranges"
PODS: Final = "pods"
CLAIMS: Final = "persistentvolumeclaims"
ANNOTATION: Final = "kubernetes.io/limit-ranger"

_MILLI_MAX: Final = (2**63 - 1) // 1000
"""Amounts above it are compared in whole units."""

_pods = on(PODS, verbs=("create", "update"))
_claims = on(CLAIMS, verbs=("create", "update"))


def _watches(verb: Verb, kind: Kind, subresource: str) -> bool:
    return _pods(verb, kind, subresource) or _claims(verb, kind, subresource)


def _limits(attempt: Attempt) -> Iterator[list[Document]]:
    """Yield the limits of each LimitRange of the namespace, in order of name: of a pod's changes a resize is asked."""
    if attempt.kind.resource == PODS and attempt.verb == "update" and attempt.part != "resize":
        return
    for found in attempt.lookup.list(RANGES, attempt.namespace):
        yield at(found, "spec", "limits") or []


# -- what is given --------------------------------------------------------------------------------------------------


def _mutate(attempt: Attempt) -> str:
    if attempt.kind.resource != PODS:
        return ""
    said = ""
    spec = child(attempt.document, "spec")
    for limits in _limits(attempt):
        requests: dict[str, str] = {}
        most: dict[str, str] = {}
        for limit in limits:
            if limit.get("type") == "Container":
                requests.update(limit.get("defaultRequest") or {})
                most.update(limit.get("default") or {})
        told = [
            text
            for part, title in _CONTAINERS
            for one in spec.get(part) or ()
            for text in _give(one, title, requests, most)
        ]
        if told:
            said = f"LimitRanger plugin set: {'; '.join(told)}"
            child(attempt.document["metadata"], "annotations")[ANNOTATION] = said
    return said


_CONTAINERS: Final = (("containers", "container"), ("initContainers", "init container"))


def _give(container: Document, title: str, requests: Mapping[str, str], limits: Mapping[str, str]) -> Iterator[str]:
    """Give a container what it does not say, and yield what it was given."""
    for part, given, word in (("requests", requests, "request"), ("limits", limits, "limit")):
        present = at(container, "resources", part) or {}
        missing = sorted(given.keys() - present.keys())
        if missing:
            child(container, "resources")[part] = {**present, **{name: given[name] for name in missing}}
            yield f"{', '.join(missing)} {word} for {title} {container.get('name', '')}"


# -- what is allowed ------------------------------------------------------------------------------------------------


def _validate(attempt: Attempt) -> None:
    for limits in _limits(attempt):
        if attempt.kind.resource == PODS:
            wrong = list(_wrong_in_pod(attempt.document, limits))
        else:
            wrong = list(_wrong_in_claim(attempt.document, limits))
        if wrong:
            # Several are told as Go's aggregated errors are: each once.
            texts = list(dict.fromkeys(wrong))
            raise attempt.refuse(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _wrong_in_pod(pod: Mapping[str, Any], limits: list[Document]) -> Iterator[str]:
    spec = pod.get("spec") or {}
    for limit in limits:
        of = str(limit.get("type") or "")
        if of == "Container":
            for part, _ in _CONTAINERS:
                for container in spec.get(part) or ():
                    yield from _wrong(of, limit, *(read(at(container, "resources", what)) for what in _WHATS))
        elif of == "Pod":
            yield from _wrong(of, limit, asked_in_all(spec, "requests"), asked_in_all(spec, "limits"))


_WHATS: Final = ("requests", "limits")


def _wrong_in_claim(claim: Mapping[str, Any], limits: list[Document]) -> Iterator[str]:
    requests = read(at(claim, "spec", "resources", "requests"))
    for limit in limits:
        of = str(limit.get("type") or "")
        if of == "PersistentVolumeClaim":
            yield from _bounds(limit, "min", lambda name, bound, of=of: _too_small(of, name, bound, requests, {}))
            yield from _bounds(limit, "max", lambda name, bound, of=of: _asks_too_much(of, name, bound, requests))


def _wrong(of: str, limit: Mapping[str, Any], requests: Usage, limits: Usage) -> Iterator[str]:
    yield from _bounds(limit, "min", lambda name, bound: _too_small(of, name, bound, requests, limits))
    yield from _bounds(limit, "max", lambda name, bound: _too_large(of, name, bound, requests, limits))
    yield from _bounds(limit, "maxLimitRequestRatio", lambda name, bound: _too_far(of, name, bound, requests, limits))


def _bounds(limit: Mapping[str, Any], key: str, check: Any) -> Iterator[str]:
    bounds = read(limit.get(key))
    for name in sorted(bounds):
        why = check(name, bounds[name])
        if why:
            yield why


def _compared(*amounts: Amount | None) -> list[int]:
    """Return amounts in thousandths, or in whole units where one is too large for that; absent ones are 0."""
    units = [0 if amount is None else -(-amount.nano // 10**9) for amount in amounts]
    if all(unit <= _MILLI_MAX for unit in units):
        return [0 if amount is None else -(-amount.nano // 10**6) for amount in amounts]
    return units


def _too_small(of: str, name: str, bound: Amount, requests: Usage, limits: Usage) -> str:
    request, limit = requests.get(name), limits.get(name)
    start = f"minimum {name} usage per {of} is {bound}"
    if request is None:
        return f"{start}.  No request is specified"
    asked, most, enforced = _compared(request, limit, bound)
    if asked < enforced:
        return f"{start}, but request is {request}"
    return f"{start}, but limit is {limit}" if limit is not None and most < enforced else ""


def _too_large(of: str, name: str, bound: Amount, requests: Usage, limits: Usage) -> str:
    request, limit = requests.get(name), limits.get(name)
    start = f"maximum {name} usage per {of} is {bound}"
    if limit is None:
        return f"{start}.  No limit is specified"
    asked, most, enforced = _compared(request, limit, bound)
    if most > enforced:
        return f"{start}, but limit is {limit}"
    return f"{start}, but request is {request}" if request is not None and asked > enforced else ""


def _asks_too_much(of: str, name: str, bound: Amount, requests: Usage) -> str:
    request = requests.get(name)
    start = f"maximum {name} usage per {of} is {bound}"
    if request is None:
        return f"{start}.  No request is specified"
    asked, enforced = _compared(request, bound)
    return f"{start}, but request is {request}" if asked > enforced else ""


def _too_far(of: str, name: str, bound: Amount, requests: Usage, limits: Usage) -> str:
    request, limit = requests.get(name), limits.get(name)
    start = f"{name} max limit to request ratio per {of} is {bound}"
    asked, most, _ = _compared(request, limit, bound)
    if not asked:
        return f"{start}, but no request is specified or request is 0"
    if not most:
        return f"{start}, but no limit is specified or limit is 0"
    ratio = most / asked
    # Small ratios are compared in thousandths, large ones in whole units.
    allowed = -(-bound.nano // 10**6) / 1000 if bound.nano <= 1000 * 10**9 else -(-bound.nano // 10**9)
    return f"{start}, but provided ratio is {ratio:f}" if ratio > allowed else ""


PLUGIN: Final = Plugin(
    "LimitRanger",
    "Gives containers what the namespace's LimitRanges say, and refuses what is beyond them.",
    watches=_watches,
    mutate=_mutate,
    validate=_validate,
    rules=RANGES,
)
