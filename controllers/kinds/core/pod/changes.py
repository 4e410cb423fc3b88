"""What changes in a pod by a way of its own: the amounts of its containers, and containers added to look into it.

Source: pkg/registry/core/pod/strategy.go, ValidatePodResize and ValidatePodEphemeralContainersUpdate, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core.pod.defaults import quality_of_service
from controllers.log.store import Stored
from controllers.registry import fields, internal
from controllers.registry.kind import Subresource
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause

_LISTS: Final = ("initContainers", "containers")
_RESIZED: Final = ("cpu", "memory")


def _whole(document: Mapping[str, Any]) -> Document:
    return dict(document)


def _spec_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = body.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _resized(stored: Stored, body: Mapping[str, Any]) -> Document:
    """Return the pod with the amounts that are sent; all else stays."""
    sent, spec = _spec_of(body), dict(stored.object["spec"])
    for key in _LISTS:
        before, after = spec.get(key) or [], sent.get(key) or []
        if _names(before) != _names(after):
            # The rules tell that containers come and go otherwise, the reader that these are none.
            spec[key] = after
        else:
            spec[key] = [_with_amounts(old, new) for old, new in zip(before, after, strict=True)]
        if not spec[key]:
            del spec[key]
    if sent.get("resources"):
        spec["resources"] = sent["resources"]
    return _answering(stored, body, spec)


def _names(containers: Any) -> list[Any] | None:
    """Return the names of what was sent as containers; None: it is no list of them."""
    if not isinstance(containers, list) or not all(isinstance(one, Mapping) for one in containers):
        return None
    return [one.get("name") for one in containers]


def _answering(stored: Stored, body: Mapping[str, Any], spec: Mapping[str, Any]) -> Document:
    """Return the pod with a spec; the version that the body was read from is kept as the precondition."""
    metadata = body.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, Mapping) else None
    asked = {**stored.object["metadata"], "resourceVersion": version or str(stored.revision)}
    return {**stored.object, "metadata": asked, "spec": dict(spec)}


def _with_amounts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Document:
    changed = {**old, "resources": new.get("resources") or {}}
    if "resizePolicy" in new:
        changed["resizePolicy"] = new["resizePolicy"]
    return changed


def _resize_rules(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    spec, before = new["spec"], old["spec"]
    for one in (spec, before):
        amounts = one.get("resources") or {}
        if amounts.get("requests") or amounts.get("limits"):
            return [fields.not_allowed("", "pods with pod-level resources cannot be resized")]
    causes: list[Cause] = []
    service = (old.get("status") or {}).get("qosClass") or quality_of_service(before)
    if quality_of_service(spec) != service:
        causes.append(fields.bad("spec", service, "Pod QOS Class may not change as a result of resizing"))
    for key in _LISTS:
        mine, theirs = spec.get(key) or (), before.get(key) or ()
        if [one.get("name") for one in mine] != [one.get("name") for one in theirs]:
            return [
                *causes,
                fields.not_allowed(f"spec.{key}", "containers may not be added, removed or renamed on resize"),
            ]
        for index, (fresh, was) in enumerate(zip(mine, theirs, strict=True)):
            causes += _amount_rules(f"spec.{key}[{index}].resources", fresh, was, initial=key == "initContainers")
    return causes


def _amount_rules(where: str, fresh: Mapping[str, Any], was: Mapping[str, Any], *, initial: bool) -> list[Cause]:
    sidecar = initial and was.get("restartPolicy") == "Always"
    if initial and not sidecar:
        same = fresh == was
        why = "resources for non-sidecar init containers are immutable"
        return [] if same else [fields.not_allowed("spec", why)]
    causes: list[Cause] = []
    now, before = fresh.get("resources") or {}, was.get("resources") or {}
    for key in ("requests", "limits"):
        if (before.get(key) or {}).keys() - (now.get(key) or {}).keys():
            what = key.removesuffix("s")
            causes.append(fields.not_allowed(f"{where}.{key}", f"resource {what}s cannot be removed"))
    # Where nothing was asked for upstream compares nothing.
    held = {key: value for key, value in now.items() if key not in ("requests", "limits") or before.get(key)}
    if _fixed(held) != _fixed(before) or (fresh.get("resizePolicy") or []) != (was.get("resizePolicy") or []):
        whose = "resources for sidecar containers are" if sidecar else "resources are"
        causes.append(fields.not_allowed("spec", f"only cpu and memory {whose} mutable"))
    return causes


def _fixed(resources: Mapping[str, Any]) -> Document:
    """Return what of a container's resources no resize changes."""
    kept = {key: value for key, value in resources.items() if key not in ("requests", "limits")}
    for key in ("requests", "limits"):
        kept[key] = {name: text for name, text in (resources.get(key) or {}).items() if name not in _RESIZED}
    return kept


def _looked_into(stored: Stored, body: Mapping[str, Any]) -> Document:
    """Return the pod with the ephemeral containers that are sent; all else stays."""
    spec = {key: value for key, value in stored.object["spec"].items() if key != "ephemeralContainers"}
    sent = _spec_of(body).get("ephemeralContainers")
    if sent:
        spec["ephemeralContainers"] = sent
    return _answering(stored, body, spec)


def _ephemeral_rules(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check that what was added stays as it is; each container is checked with the pod's spec."""
    listed: Sequence[Mapping[str, Any]] = new["spec"].get("ephemeralContainers") or ()
    causes: list[Cause] = []
    after = {one.get("name"): one for one in listed}
    for was in old["spec"].get("ephemeralContainers") or ():
        name = was.get("name")
        if after.get(name) != was:
            kind = "core.EphemeralContainer"
            told = f"changed\n{internal.difference(was, after[name], kind)}" if name in after else "removed\n"
            why = f'existing ephemeral containers "{name}" may not be {told}'
            causes.append(fields.not_allowed("spec.ephemeralContainers", why))
    return causes


RESIZE: Final = Subresource("resize", view=_whole, change=_resized, rules=_resize_rules, students=True)
EPHEMERAL: Final = Subresource(
    "ephemeralcontainers",
    view=_whole,
    change=_looked_into,
    rules=_ephemeral_rules,
    students=True,
)
