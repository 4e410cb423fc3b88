"""What changes in a pod by a way of its own: the amounts of its containers, and containers added to look into it.

Source: pkg/registry/core/pod/strategy.go, ValidatePodResize and ValidatePodEphemeralContainersUpdate, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core.pod.annotations import MIRROR
from controllers.kinds.core.pod.defaults import quality_of_service
from controllers.log.store import Stored
from controllers.registry import fields, internal
from controllers.registry.kind import Subresource
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause, invalid

_LISTS: Final = ("initContainers", "containers")
_RESIZED: Final = ("cpu", "memory")
_IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion")


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
    if sent.get("resources") and any(
        len(_names(sent.get(key) or []) or ()) != len(stored.object["spec"].get(key) or ()) for key in _LISTS
    ):
        # Where containers come or go upstream looks at all that was sent.
        spec["resources"] = sent["resources"]
    never = _never_resized(spec, stored.object)
    if never and _is_meant(stored, body):
        # Whatever else is wrong is not told.
        cause = fields.not_allowed("[]", f"{never} cannot be resized")
        raise invalid("Pod", "", stored.name, [cause])
    return _answering(stored, body, spec)


def _is_meant(stored: Stored, body: Mapping[str, Any]) -> bool:
    """Return whether a body is of this pod as it is stored: of another one is told first."""
    metadata = body.get("metadata") or {}
    held = {"uid": stored.uid, "resourceVersion": str(stored.revision)}
    return all(metadata.get(key) in (None, "", value) for key, value in held.items())


def _names(containers: Any) -> list[Any] | None:
    """Return the names of what was sent as containers; None: it is no list of them."""
    if not isinstance(containers, list) or not all(isinstance(one, Mapping) for one in containers):
        return None
    return [one.get("name") for one in containers]


def _answering(stored: Stored, body: Mapping[str, Any], spec: Mapping[str, Any]) -> Document:
    """Return the pod with a spec; which pod, and which version of it, the body was read from is kept to be compared."""
    metadata = body.get("metadata") or {}
    asked = {**stored.object["metadata"], "resourceVersion": str(stored.revision)}
    asked |= {key: metadata[key] for key in _IDENTITY if metadata.get(key)}
    return {**stored.object, "metadata": asked, "spec": dict(spec)}


def _with_amounts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Document:
    changed = {**old, "resources": new.get("resources") or {}}
    if "resizePolicy" in new:
        changed["resizePolicy"] = new["resizePolicy"]
    return changed


def _resize_rules(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check a resize, in the order of upstream's ValidatePodResize; the containers' own rules are asked elsewhere.

    Whether the node's kubelet can resize is not asked, which upstream reads off the statuses: all kubelets here can.
    """
    spec, before = new["spec"], old["spec"]
    causes: list[Cause] = []
    service = (old.get("status") or {}).get("qosClass") or quality_of_service(before)
    if quality_of_service(spec) != service:
        causes.append(fields.bad("spec", service, "Pod QOS Class may not change as a result of resizing"))
    pairs: dict[str, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    misplaced: list[Cause] = []
    for key in ("containers", "initContainers"):
        mine, theirs = spec.get(key) or (), before.get(key) or ()
        misplaced += _misplaced(key, mine, theirs)
        pairs[key] = list(zip(mine, theirs, strict=False))
    if misplaced:
        return causes + misplaced
    for key in ("initContainers", "containers"):
        for index, (fresh, was) in enumerate(pairs[key]):
            if key == "containers" or _is_sidecar(was):
                causes += _taken_away(f"spec.{key}[{index}].resources", fresh, was)
    why = "only cpu and memory resources are mutable"
    causes += [fields.not_allowed("spec", why) for fresh, was in pairs["containers"] if _is_other(fresh, was)]
    for fresh, was in pairs["initContainers"]:
        if _is_sidecar(was) and _is_other(fresh, was):
            told = "only cpu and memory resources for sidecar containers are mutable"
            causes.append(fields.not_allowed("spec", told))
        elif not _is_sidecar(was) and fresh != was:
            causes.append(fields.not_allowed("spec", "resources for non-sidecar init containers are immutable"))
    return causes


def _never_resized(spec: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    """Return which pods are never resized, where this is one of them; empty: it is none."""
    for one in (spec, old["spec"]):
        amounts = one.get("resources") or {}
        if amounts.get("requests") or amounts.get("limits"):
            return "pods with pod-level resources"
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return "static pods"
    return "windows pods" if (old["spec"].get("os") or {}).get("name") == "windows" else ""


def _misplaced(key: str, mine: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> list[Cause]:
    if len(mine) != len(theirs):
        return [fields.not_allowed(f"spec.{key}", f"{key} may not be added or removed on resize")]
    return [
        fields.not_allowed(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")
        for index, (fresh, was) in enumerate(zip(mine, theirs, strict=True))
        if fresh.get("name") != was.get("name")
    ]


def _is_sidecar(container: Mapping[str, Any]) -> bool:
    return container.get("restartPolicy") == "Always"


def _taken_away(where: str, fresh: Mapping[str, Any], was: Mapping[str, Any]) -> list[Cause]:
    now, before = fresh.get("resources") or {}, was.get("resources") or {}
    return [
        fields.not_allowed(f"{where}.{key}", f"resource {key} cannot be removed")
        for key in ("requests", "limits")
        if (before.get(key) or {}).keys() - (now.get(key) or {}).keys()
    ]


def _is_other(fresh: Mapping[str, Any], was: Mapping[str, Any]) -> bool:
    """Return whether more of a container than its cpu and memory is another."""
    now, before = fresh.get("resources") or {}, was.get("resources") or {}
    # Where nothing was asked for upstream compares nothing, and it does not look at the claims that are sent.
    held = {key: value for key, value in now.items() if key in ("requests", "limits") and before.get(key)}
    return _fixed(held) != _fixed(before) or (fresh.get("resizePolicy") or []) != (was.get("resizePolicy") or [])


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
