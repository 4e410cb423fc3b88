"""Rules of pods and pod templates, and of what may change in a pod."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.kinds.core import resources, scheduling
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod.containers import containers
from controllers.log.store import copy_object
from controllers.registry import fields
from scheduler_core.api.errors import Cause
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector

_DNS_POLICIES: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")

_CHANGEABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


_SYSCTL: Final = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")


def validate(document: Mapping[str, Any]) -> list[Cause]:
    """Check a pod."""
    return pod_spec("spec", document.get("spec") or {})


def validate_new(document: Mapping[str, Any]) -> list[Cause]:
    """Check what a new pod may not have."""
    if (document.get("spec") or {}).get("ephemeralContainers"):
        return [fields.not_allowed("spec.ephemeralContainers", "cannot be set on create")]
    return []


def template(field: str, document: Mapping[str, Any] | None, kind: str = "ReplicaSet") -> list[Cause]:
    """Check a pod template at `field` (`spec.template`) of a workload whose pods run for ever, worded for its kind."""
    document = document or {}
    metadata = document.get("metadata") or {}
    spec = document.get("spec") or {}
    causes = fields.labels(f"{field}.labels", metadata.get("labels"))
    causes += pod_spec(f"{field}.spec", spec)
    if spec.get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        causes.append(fields.not_allowed(f"{field}.spec.ephemeralContainers", why))
    restart = spec.get("restartPolicy")
    if restart in ("OnFailure", "Never"):
        causes.append(fields.unsupported(f"{field}.spec.restartPolicy", restart, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        causes.append(fields.not_allowed(f"{field}.spec.activeDeadlineSeconds", why))
    return causes


def selector(document: Mapping[str, Any], kind: str, *, needed: bool = True, unread: str | None = "") -> list[Cause]:
    """Check that a workload's selector is there, not empty, and selects its template's labels.

    Args:
        document: the workload.
        kind: how it is called in the sentence about an empty selector.
        needed: whether it has to have one.
        unread: what is said of a selector that cannot be read, beside what is wrong in it; None: nothing.
    """
    spec = document.get("spec") or {}
    asked = spec.get("selector")
    causes = fields.label_selector("spec.selector", asked)
    if asked is None:
        causes += [fields.required("spec.selector")] if needed else []
    elif not asked.get("matchLabels") and not asked.get("matchExpressions"):
        return [*causes, fields.bad("spec.selector", {}, f"empty selector is invalid for {kind}")]
    elif causes:
        return causes if unread is None else [*causes, _unread_selector(asked, unread)]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if asked is None or not view(asked, LabelSelector).matches(labels or {}):
        why = "`selector` does not match template `labels`"
        causes.append(fields.bad("spec.template.metadata.labels", labels, why))
    return causes


def _unread_selector(asked: Mapping[str, Any], why: str) -> Cause:
    written = {
        "matchLabels": asked.get("matchLabels"),
        "matchExpressions": [
            {key: one[key] for key in ("key", "operator", "values") if one.get(key) or key != "values"}
            for one in ({"key": "", "operator": "", **entry} for entry in asked.get("matchExpressions") or ())
        ],
    }
    shown = {key: value for key, value in written.items() if value}
    cause = fields.bad("spec.selector", shown, why)
    return cause if why else Cause(cause.field, cause.message.removesuffix(": "), cause.reason)


GOOD_SPECS_MAX: Final = 1_000
"""Specs remembered as good, so that the pods of one template are checked once; past it all are forgotten."""

GOOD_SPEC_BYTES_MAX: Final = 16_384
"""Larger specs are checked each time."""

_GOOD_SPECS: set[bytes] = set()

_MOUNTED_TOKEN: Final = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')


def _key_of(spec: Mapping[str, Any]) -> bytes:
    """Return a spec as JSON, but for the name that admission drew for one volume: a byte that no JSON has."""
    written = msgspec.json.encode(spec)
    drawn = set(_MOUNTED_TOKEN.findall(written))
    return written.replace(drawn.pop(), b"\xff") if len(drawn) == 1 else written


def pod_spec(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check a pod's spec at `field`; one that was good before is good at every field."""
    key = _key_of(spec)
    if key in _GOOD_SPECS:
        return []
    causes = _pod_spec(field, spec)
    if not causes and len(key) <= GOOD_SPEC_BYTES_MAX:
        if len(_GOOD_SPECS) >= GOOD_SPECS_MAX:
            _GOOD_SPECS.clear()
        _GOOD_SPECS.add(key)
    return causes


def _pod_spec(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check a pod spec at `field`."""
    causes, volumes = _volumes(f"{field}.volumes", spec.get("volumes") or ())
    causes += containers(field, spec, volumes)
    causes += fields.one_of(f"{field}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES, needed=True)
    causes += fields.one_of(f"{field}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES, needed=True)
    causes += fields.non_negative(f"{field}.terminationGracePeriodSeconds", spec.get("terminationGracePeriodSeconds"))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        causes.append(
            fields.bad(f"{field}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
        )
    for key in ("nodeName", "serviceAccountName", "schedulerName", "priorityClassName"):
        if spec.get(key):
            causes += fields.subdomain(f"{field}.{key}", spec[key])
    if spec.get("hostname"):
        causes += fields.label_name(f"{field}.hostname", spec["hostname"])
    if spec.get("subdomain"):
        causes += fields.label_name(f"{field}.subdomain", spec["subdomain"])
    causes += fields.labels(f"{field}.nodeSelector", spec.get("nodeSelector"))
    causes += scheduling.affinity(f"{field}.affinity", spec.get("affinity"))
    causes += scheduling.tolerations(f"{field}.tolerations", spec.get("tolerations"))
    causes += scheduling.spread(f"{field}.topologySpreadConstraints", spec.get("topologySpreadConstraints"))
    causes += resources.amounts(f"{field}.overhead", spec.get("overhead"))
    causes += resources.requirements(f"{field}.resources", spec.get("resources"))
    causes += _sysctls(f"{field}.securityContext.sysctls", (spec.get("securityContext") or {}).get("sysctls") or ())
    policy = spec.get("preemptionPolicy")
    causes += fields.one_of(f"{field}.preemptionPolicy", policy, ("Never", "PreemptLowerPriority"))
    return causes + _gates(f"{field}.schedulingGates", spec)


def _sysctls(field: str, entries: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check the names of kernel parameters (validateSysctls)."""
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        name = entry.get("name") or ""
        where = f"{field}[{index}].name"
        if not name:
            causes.append(fields.required(where))
        elif len(name) > fields.SUBDOMAIN_LENGTH_MAX or not _SYSCTL.fullmatch(name):
            why = f"must have at most {fields.SUBDOMAIN_LENGTH_MAX} characters and match regex ^{_SYSCTL.pattern}$"
            causes.append(fields.bad(where, name, why))
        elif name in seen:
            causes.append(fields.duplicate(where, name))
        seen.add(name)
    return causes


def _gates(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    gates = spec.get("schedulingGates") or ()
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name") or ""
        causes += fields.qualified_name(f"{field}[{index}]", name)
        if name in seen:
            causes.append(fields.duplicate(f"{field}[{index}]", name))
        seen.add(name)
    if gates and spec.get("nodeName"):
        why = "cannot be set until all schedulingGates have been cleared"
        causes.append(fields.not_allowed(field.removesuffix("schedulingGates") + "nodeName", why))
    return causes


def _volumes(field: str, volumes: Sequence[Mapping[str, Any]]) -> tuple[list[Cause], frozenset[str]]:
    causes: list[Cause] = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{field}[{index}]"
        name = volume.get("name") or ""
        causes += fields.label_name(f"{where}.name", name) if name else [fields.required(f"{where}.name")]
        if name in names:
            causes.append(fields.duplicate(f"{where}.name", name))
        names.add(name)
        sources = sorted(key for key in volume if key != "name")
        if not sources:
            causes.append(fields.required(where, "must specify a volume type"))
        for key in sources[1:]:
            causes.append(fields.not_allowed(f"{where}.{key}", "may not specify more than 1 volume type"))
        claim, ephemeral = volume.get("persistentVolumeClaim"), volume.get("ephemeral")
        if claim is not None and not claim.get("claimName"):
            causes.append(fields.required(f"{where}.persistentVolumeClaim.claimName"))
        if ephemeral is not None:
            template = f"{where}.ephemeral.volumeClaimTemplate"
            spec = (ephemeral.get("volumeClaimTemplate") or {}).get("spec")
            causes += [fields.required(template)] if spec is None else storage.claim_spec(f"{template}.spec", spec)
    return causes, frozenset(names)


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check that a pod's change touches only what may change."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    if new_spec == old_spec:
        return []
    causes: list[Cause] = []
    allowed = copy_object(dict(old_spec))
    for key in ("containers", "initContainers"):
        fresh = new_spec.get(key) or []
        if len(fresh) != len(allowed.get(key) or []):
            return [fields.not_allowed(f"spec.{key}", "pod updates may not add or remove containers")]
        for mine, theirs in zip(allowed.get(key) or [], fresh, strict=True):
            mine["image"] = theirs.get("image")
    causes += _deadline(allowed, new_spec)
    causes += _added_tolerations(allowed, new_spec)
    causes += _removed_gates(allowed, new_spec)
    if old_spec.get("schedulingGates"):
        causes += _narrowed_selector(allowed, new_spec)
    period = old_spec.get("terminationGracePeriodSeconds")
    if period is not None and period < 0 and new_spec.get("terminationGracePeriodSeconds") == 1:
        allowed["terminationGracePeriodSeconds"] = 1
    if not causes and allowed != new_spec:
        causes.append(fields.not_allowed("spec", _CHANGEABLE))
    return causes


def _deadline(allowed: dict[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    old, new = allowed.get("activeDeadlineSeconds"), spec.get("activeDeadlineSeconds")
    if new == old:
        return []
    if new is None:
        return [fields.bad("spec.activeDeadlineSeconds", new, "must not update from a positive integer to nil value")]
    if old is not None and new > old:
        why = "must be less than or equal to previous value"
        return [fields.bad("spec.activeDeadlineSeconds", new, why)]
    allowed["activeDeadlineSeconds"] = new
    return []


def _added_tolerations(allowed: dict[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    old, new = allowed.get("tolerations") or [], spec.get("tolerations") or []
    if new == old:
        return []

    def without_seconds(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if key != "tolerationSeconds"}

    present = [without_seconds(entry) for entry in new]
    if any(without_seconds(entry) not in present for entry in old):
        return [
            fields.not_allowed(
                "spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"
            )
        ]
    allowed["tolerations"] = new
    return []


def _removed_gates(allowed: dict[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    old, new = allowed.get("schedulingGates") or [], spec.get("schedulingGates") or []
    if new == old:
        return []
    for index, gate in enumerate(new):
        if gate not in old:
            why = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            return [fields.not_allowed(f"spec.schedulingGates[{index}]", why)]
    if "schedulingGates" in spec:
        allowed["schedulingGates"] = new
    else:
        allowed.pop("schedulingGates", None)
    return []


def _narrowed_selector(allowed: dict[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    """Let a gated pod's node selector grow: it can only become harder to place."""
    old, new = allowed.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    if new == old:
        return []
    if any(new.get(key) != value for key, value in old.items()):
        return [
            fields.bad(
                "spec.nodeSelector", new, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            )
        ]
    allowed["nodeSelector"] = new
    return []
