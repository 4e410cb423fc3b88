"""Rules of pods and pod templates, and of what may change in a pod."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.kinds.core import resources, scheduling
from controllers.kinds.core.pod import annotations as marks
from controllers.kinds.core.pod import containers, network, security, wholes
from controllers.kinds.core.pod import volumes as storage
from controllers.registry import fields
from controllers.registry.metadata import annotation_causes
from scheduler_core.api.errors import Cause
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector

_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")


def validate(document: Mapping[str, Any]) -> list[Cause]:
    """Check a pod (validatePodMetadataAndSpec)."""
    spec = document.get("spec") or {}
    causes = marks.validate(document)
    causes += pod_spec("spec", spec, pod=(document.get("metadata") or {}).get("name") or "pod")
    if not spec.get("serviceAccountName"):
        why = "must not be specified when serviceAccountName is not set"
        causes += [
            fields.not_allowed(f"spec.volumes[{index}].projected.sources[{position}].serviceAccountToken", why)
            for index, volume in enumerate(spec.get("volumes") or ())
            for position, source in enumerate((volume.get("projected") or {}).get("sources") or ())
            if source.get("serviceAccountToken") is not None
        ]
    return causes + containers.padded_images("spec", spec)


def validate_new(document: Mapping[str, Any]) -> list[Cause]:
    """Check what a new pod may not have."""
    spec = document.get("spec") or {}
    causes: list[Cause] = []
    if spec.get("ephemeralContainers"):
        causes.append(fields.not_allowed("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        causes.append(fields.not_allowed("spec.nodeName", why))
    return causes + marks.validate_new(document)


def annotations_of(field: str, document: Mapping[str, Any]) -> list[Cause]:
    """Check the annotations of a template of pods."""
    given = (document.get("metadata") or {}).get("annotations") or {}
    return annotation_causes(f"{field}.annotations", given) + marks.validate(document, f"{field}.annotations")


def template(field: str, document: Mapping[str, Any] | None, kind: str = "ReplicaSet") -> list[Cause]:
    """Check a pod template at `field` (`spec.template`) of a workload whose pods run for ever, worded for its kind."""
    document = document or {}
    metadata = document.get("metadata") or {}
    spec = document.get("spec") or {}
    causes = fields.labels(f"{field}.labels", metadata.get("labels"))
    causes += annotations_of(field, document)
    causes += pod_spec(f"{field}.spec", spec) + no_ephemeral(field, spec)
    return causes + runs_for_ever(field, spec, kind)


def runs_for_ever(field: str, spec: Mapping[str, Any], kind: str) -> list[Cause]:
    """Check that the pods of the template at `field` are not to end, worded for its workload's kind."""
    causes: list[Cause] = []
    restart = spec.get("restartPolicy")
    if restart and restart != "Always":
        causes.append(fields.unsupported(f"{field}.spec.restartPolicy", restart, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        causes.append(fields.not_allowed(f"{field}.spec.activeDeadlineSeconds", why))
    return causes


def no_ephemeral(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Refuse ephemeral containers in the pod template at `field`."""
    why = "ephemeral containers not allowed in pod template"
    return [fields.not_allowed(f"{field}.spec.ephemeralContainers", why)] if spec.get("ephemeralContainers") else []


def selects(spec: Mapping[str, Any]) -> bool:
    """Return whether a workload's selector can be read: upstream looks at no template that another would select."""
    return not fields.label_selector("", spec.get("selector"))


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
    cause = fields.bad("spec.selector", fields.shown_selector(asked), why)
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


def pod_spec(field: str, spec: Mapping[str, Any], pod: str = "") -> list[Cause]:
    """Check a pod's spec at `field`; one that was good before is good at every field.

    Args:
        field: where it lies.
        spec: the spec.
        pod: the name of the pod whose it is; empty: it is a template's.
    """
    key = _key_of(spec) + (b"pod" if pod else b"")
    if key in _GOOD_SPECS:
        return []
    # Only claims that are made for a pod depend on its name.
    told = pod if any("ephemeral" in volume for volume in spec.get("volumes") or ()) else ""
    causes = _pod_spec(field, spec, pod)
    if told:
        return causes
    if not causes and len(key) <= GOOD_SPEC_BYTES_MAX:
        if len(_GOOD_SPECS) >= GOOD_SPECS_MAX:
            _GOOD_SPECS.clear()
        _GOOD_SPECS.add(key)
    return causes


def _pod_spec(field: str, spec: Mapping[str, Any], pod: str) -> list[Cause]:
    """Check a pod spec at `field`, in upstream's order (ValidatePodSpec)."""
    period = "terminationGracePeriodSeconds"
    causes = [] if spec.get(period) is not None else [fields.required(f"{field}.{period}")]
    wrong, volumes = storage.volumes(f"{field}.volumes", spec.get("volumes") or (), pod)
    claims = spec.get("resourceClaims") or ()
    names = frozenset(name for claim in claims if (name := claim.get("name")))
    causes += wrong + _resource_claims(f"{field}.resourceClaims", claims)
    causes += containers.containers(field, containers.Around(spec, volumes, names))
    causes += wholes.pod_resources(field, spec, names)
    causes += containers.host_network(field, spec, pod=pod != "")
    policy = spec.get("restartPolicy")
    causes += fields.one_of(f"{field}.restartPolicy", policy, _RESTART_POLICIES, needed=True, ordered=False)
    causes += fields.one_of(f"{field}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES, needed=True, ordered=False)
    causes += fields.labels(f"{field}.nodeSelector", spec.get("nodeSelector"))
    causes += security.of_pod(field, spec)
    causes += scheduling.affinity(f"{field}.affinity", spec.get("affinity"))
    causes += network.dns(field, spec)
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        where = f"{field}.readinessGates[{index}].conditionType"
        causes += fields.qualified_name(where, gate.get("conditionType") or "")
    causes += _gates(f"{field}.schedulingGates", spec)
    causes += scheduling.spread(f"{field}.topologySpreadConstraints", spec.get("topologySpreadConstraints"))
    causes += security.host_process(field, spec) + security.host_users(field, spec)
    for key in ("serviceAccountName", "nodeName"):
        causes += fields.subdomain(f"{field}.{key}", spec[key]) if spec.get(key) else []
    causes += fields.within(f"{field}.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), 1, 2**31 - 1)
    for key in ("hostname", "subdomain"):
        causes += fields.label_name(f"{field}.{key}", spec[key]) if spec.get(key) else []
    causes += scheduling.tolerations(f"{field}.tolerations", spec.get("tolerations"))
    causes += network.host_aliases(f"{field}.hostAliases", spec.get("hostAliases") or ())
    if spec.get("priorityClassName"):
        causes += fields.subdomain(f"{field}.priorityClassName", spec["priorityClassName"])
    if spec.get("runtimeClassName") is not None:
        causes += fields.subdomain(f"{field}.runtimeClassName", spec["runtimeClassName"])
    policy = spec.get("preemptionPolicy")
    policies = ("PreemptLowerPriority", "Never")
    causes += fields.one_of(f"{field}.preemptionPolicy", policy, policies, needed=policy == "", ordered=False)
    if spec.get("overhead"):
        causes += resources.requirements(f"{field}.overhead", {"limits": spec["overhead"]})
    return causes + security.operating_system(field, spec)


def _resource_claims(field: str, claims: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    names: set[str] = set()
    keys = ("resourceClaimName", "resourceClaimTemplateName")
    for index, claim in enumerate(claims):
        where, name = f"{field}[{index}]", claim.get("name") or ""
        if not name:
            causes.append(fields.required(f"{where}.name"))
        elif name in names:
            causes.append(fields.duplicate(f"{where}.name", name))
        else:
            causes += fields.label_name(f"{where}.name", name)
        names.add(name)
        given = [key for key in keys if claim.get(key) is not None]
        shown = fields.written(
            {"Name": name, "ResourceClaimName": claim.get(keys[0]), "ResourceClaimTemplateName": claim.get(keys[1])}
        )
        if len(given) == 2:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            causes.append(fields.bad(where, shown, why))
        if not given:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            causes.append(fields.bad(where, shown, why))
        for key in given:
            causes += fields.subdomain(f"{where}.{key}", claim[key])
    return causes


def _gates(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name") or ""
        causes += fields.qualified_name(f"{field}[{index}]", name)
        if name in seen:
            causes.append(fields.duplicate(f"{field}[{index}]", name))
        seen.add(name)
    return causes
