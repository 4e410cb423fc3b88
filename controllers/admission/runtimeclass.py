"""RuntimeClass: a pod gets its class' overhead, selector and tolerations. Source: plugin/pkg/admission/runtimeclass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.admission.common import on, unusable_name
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api import quantity
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import ApiError

CLASSES: Final = "runtimeclasses.node.k8s.io"
_UNLIKE: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def _class_of(attempt: Attempt) -> Mapping[str, Any] | None:
    name = at(attempt.document, "spec", "runtimeClassName")
    if name is None:
        return None
    found = attempt.lookup.get(CLASSES, "", name)
    if found is None and (why := unusable_name(name)):
        # Upstream's own client refuses to ask.
        raise ApiError(500, "", why)
    if found is None:
        raise attempt.refuse(f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _mutate(attempt: Attempt) -> str:
    found = _class_of(attempt)
    if found is None:
        return ""
    spec = child(attempt.document, "spec")
    changed = []
    overhead = at(found, "overhead", "podFixed")
    if found.get("overhead") is not None:
        asked = spec.get("overhead") or ({} if _is_empty(attempt) else None)
        if asked is not None and not _same(asked, overhead):
            raise attempt.refuse(_UNLIKE)
        if overhead:
            spec["overhead"] = dict(overhead)
            changed.append("overhead")
    scheduling = found.get("scheduling") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        selector = child(spec, "nodeSelector")
        if selector.get(key, value) != value:
            raise attempt.refuse(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
        selector[key] = value
        changed.append(f"nodeSelector {key}")
    present = spec.get("tolerations") or []
    added = [dict(one) for one in scheduling.get("tolerations") or () if one not in present]
    if added:
        spec["tolerations"] = [*present, *added]
        changed.append("tolerations")
    return ", ".join(changed)


def _validate(attempt: Attempt) -> None:
    found, overhead = _class_of(attempt), at(attempt.document, "spec", "overhead")
    if found is not None and found.get("overhead") is not None:
        if not _same(overhead or {}, at(found, "overhead", "podFixed") or {}):
            raise attempt.refuse(_UNLIKE)
    elif overhead is not None or _is_empty(attempt):
        raise attempt.refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _is_empty(attempt: Attempt) -> bool:
    """Return whether an overhead was sent in which there is nothing: it is one to upstream."""
    return "spec.overhead" in attempt.context.emptied


def _same(one: Mapping[str, Any], other: Mapping[str, Any] | None) -> bool:
    other = other or {}
    return one.keys() == other.keys() and all(quantity.nano(one[key]) == quantity.nano(other[key]) for key in one)


PLUGIN: Final = Plugin(
    "RuntimeClass",
    "Gives pods the overhead, node selector and tolerations of their RuntimeClass.",
    watches=on("pods"),
    mutate=_mutate,
    validate=_validate,
)
