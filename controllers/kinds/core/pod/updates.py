"""What may change in a pod that is there, and how upstream tells of the rest.

Source: pkg/apis/core/validation (ValidatePodUpdate), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core import scheduling
from controllers.kinds.core.pod.annotations import MIRROR
from controllers.registry import fields, internal
from scheduler_core.api.errors import Cause

_CHANGEABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_LISTS: Final = ("containers", "initContainers")
_APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"

Spec = Mapping[str, Any]


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check that a pod's change touches only what may change."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    causes = _annotations(new, old)
    if spec == before:
        return causes
    for key in _LISTS:
        listed = spec.get(key) or []
        if len(listed) != len(before.get(key) or []):
            return [*causes, fields.not_allowed(f"spec.{key}", "pod updates may not add or remove containers")]
        causes += _images(f"spec.{key}", listed)
    wrong, stops = _deadline(spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds"))
    causes += wrong
    if stops:
        return causes
    causes += _tolerations(spec.get("tolerations") or (), before.get("tolerations") or ())
    causes += _gates(spec.get("schedulingGates") or (), before.get("schedulingGates") or ())
    gated = bool(before.get("schedulingGates"))
    if gated:
        causes += _narrowed_selector(spec, before) + _narrowed_affinity(spec, before)
    still = _but_for_what_may_change(spec, before, gated=gated)
    if still != before:
        difference = internal.difference(before, still, "core.PodSpec")
        causes.append(fields.not_allowed("spec", f"{_CHANGEABLE}\n{difference}"))
    return causes


def _annotations(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    now = (new.get("metadata") or {}).get("annotations") or {}
    was = (old.get("metadata") or {}).get("annotations") or {}
    causes: list[Cause] = []
    for key in [*was, *(key for key in now if key not in was)]:
        if now.get(key) == was.get(key):
            continue
        done = "remove or update" if key in was else "add"
        if key.startswith(_APPARMOR):
            causes.append(fields.not_allowed(f"metadata.annotations[{key}]", f"may not {done} AppArmor annotations"))
        if key == MIRROR:
            causes.append(fields.not_allowed(f"metadata.annotations[{key}]", f"may not {done} mirror pod annotation"))
    return causes


def _images(field: str, listed: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    for index, container in enumerate(listed):
        where, image = f"{field}[{index}].image", container.get("image") or ""
        causes += [] if image else [fields.required(where)]
        if image.strip() != image:
            causes.append(fields.bad(where, image, "must not have leading or trailing whitespace"))
    return causes


def _deadline(now: int | None, was: int | None) -> tuple[list[Cause], bool]:
    """Return what is wrong with a change of the deadline, and whether nothing more is looked at."""
    field = "spec.activeDeadlineSeconds"
    if now is None:
        why = "must not update from a positive integer to nil value"
        return ([] if was is None else [fields.bad(field, None, why)]), False
    if not 0 <= now < 2**31:
        return fields.within(field, now, 0, 2**31 - 1), True
    if was is not None and was < now:
        return [fields.bad(field, now, "must be less than or equal to previous value")], True
    return [], False


def _tolerations(now: Sequence[Mapping[str, Any]], was: Sequence[Mapping[str, Any]]) -> list[Cause]:
    def without_seconds(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if key != "tolerationSeconds"}

    present = [without_seconds(entry) for entry in now]
    if any(without_seconds(entry) not in present for entry in was):
        why = "existing toleration can not be modified except its tolerationSeconds"
        return [fields.not_allowed("spec.tolerations", why)]
    return scheduling.tolerations("spec.tolerations", now)


def _gates(now: Sequence[Mapping[str, Any]], was: Sequence[Mapping[str, Any]]) -> list[Cause]:
    # Of a name that is given twice the last place is told.
    places = {gate.get("name") or "": index for index, gate in enumerate(now)}
    known = {gate.get("name") or "" for gate in was}
    return [
        fields.not_allowed(
            f"spec.schedulingGates[{index}].name", f"only deletion is allowed, but found new scheduling gate '{name}'"
        )
        for name, index in places.items()
        if name not in known
    ]


def _narrowed_selector(spec: Spec, before: Spec) -> list[Cause]:
    """Let a gated pod's node selector grow: it can only become harder to place."""
    now, was = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if all(now.get(key) == value for key, value in was.items()):
        return []
    why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [fields.bad("spec.nodeSelector", spec.get("nodeSelector"), why)]


def _node_affinity(spec: Spec) -> Mapping[str, Any] | None:
    return (spec.get("affinity") or {}).get("nodeAffinity")


def _terms(spec: Spec) -> list[Mapping[str, Any]]:
    return list(((_node_affinity(spec) or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _narrowed_affinity(spec: Spec, before: Spec) -> list[Cause]:
    """Let conditions be added to the terms by which a gated pod chooses nodes."""
    now, was = _terms(spec), _terms(before)
    if not was:
        return []
    if len(now) != len(was):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        shown = [internal.form(term, "core.NodeSelectorTerm") for term in now]
        return [fields.bad(_TERMS, fields.written(shown or None), why)]
    why = "only additions are allowed (no mutations or deletions)"
    return [
        fields.bad(f"{_TERMS}[{index}]", internal.shown(term, "core.NodeSelectorTerm"), why)
        for index, (term, old) in enumerate(zip(now, was, strict=True))
        if not _only_adds(term, old)
    ]


def _only_adds(now: Mapping[str, Any], was: Mapping[str, Any]) -> bool:
    keys = ("matchExpressions", "matchFields")
    if not any(was.get(key) for key in keys):
        return not any(now.get(key) for key in keys)
    return all(list(now.get(key) or ())[: len(was.get(key) or ())] == list(was.get(key) or ()) for key in keys)


def _but_for_what_may_change(spec: Spec, before: Spec, *, gated: bool) -> dict[str, Any]:
    """Return the new spec with what may change as it was."""
    still = dict(spec)

    def put_back(key: str) -> None:
        if key in before:
            still[key] = before[key]
        else:
            still.pop(key, None)

    for key in _LISTS:
        if still.get(key):
            pairs = zip(still[key], before[key], strict=True)
            still[key] = [{**container, "image": was.get("image")} for container, was in pairs]
        else:
            still.pop(key, None)
    for key in ("activeDeadlineSeconds", "tolerations", "schedulingGates", *(("nodeSelector",) if gated else ())):
        put_back(key)
    period = "terminationGracePeriodSeconds"
    if (before.get(period) or 0) < 0 and still.get(period) == 1:
        put_back(period)
    if gated and _node_affinity(spec) != _node_affinity(before):
        affinity = dict(spec.get("affinity") or {})
        affinity.pop("nodeAffinity", None)
        if _node_affinity(before) is not None:
            affinity["nodeAffinity"] = _node_affinity(before)
        still["affinity"] = affinity
        if not affinity and "affinity" not in before:
            del still["affinity"]
    return still
