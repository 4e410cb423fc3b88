"""Nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.kinds.core import resources, scheduling
from controllers.kinds.core.pod.defaults import round_resources
from controllers.kinds.core.proxying import proxy, to_node
from controllers.kinds.masks import CONDITIONS
from controllers.kinds.metrics.usage import usual_of_node
from controllers.registry import addresses, decoding, fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

_AVOID: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"

_ROLE_PREFIX: Final = "node-role.kubernetes.io/"

SILENCED: Final = "clustersim.io/kubelet-off-since"
"""Annotation of a Node: since when its machine obeys `<prefix>/kubelet: "off"`. Kubelets write and remove it."""

_NO_INFO: Final = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)


def _status_defaults(document: dict[str, Any]) -> None:
    status = document.get("status") or {}
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    for key in ("capacity", "allocatable"):
        round_resources(status.get(key))
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": 0, **endpoint}}
    status["nodeInfo"] = {**_NO_INFO, **(status.get("nodeInfo") or {})}
    document["status"] = status


def _defaults(document: dict[str, Any]) -> None:
    _status_defaults(document)
    spec = document.setdefault("spec", {})
    first = spec.get("podCIDR")
    if first is not None and (spec.get("podCIDRs") or [""])[0] != first:
        spec["podCIDRs"] = [first]
    elif spec.get("podCIDRs") and not spec.get("podCIDR"):
        spec["podCIDR"] = spec["podCIDRs"][0]


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes = _avoided(at(document, "metadata", "annotations") or {})
    causes += scheduling.taints("metadata.taints", at(document, "spec", "taints"))
    causes += _resource_causes(document)
    blocks = at(document, "spec", "podCIDRs") or ()
    for index, block in enumerate(blocks):
        causes += addresses.block(f"spec.podCIDRs[{index}]", block)
    said = "invalid PodCIDRs. failed to check with dual stack with error"
    return causes + addresses.one_a_family("spec.podCIDRs", blocks, said, "CIDR")


def _resource_causes(document: Mapping[str, Any]) -> list[Cause]:
    """Check how much there is of what (ValidateNodeResources)."""
    causes: list[Cause] = []
    for key in ("capacity", "allocatable"):
        for name, text in (at(document, "status", key) or {}).items():
            causes += resources.quantity_of(f"status.{key}.{name}", name, text)
    return causes


def _address_causes(document: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: list[Mapping[str, Any]] = []
    for index, address in enumerate(at(document, "status", "addresses") or ()):
        if address in seen:
            shown = internal.shown(address, "core.NodeAddress")
            causes.append(fields.duplicate(f"status.addresses[{index}]", shown))
        seen.append(address)
    return causes


def _avoided(annotations: Mapping[str, str]) -> list[Cause]:
    """Check the annotation that names pods to keep away (ValidateAvoidPodsInNodeAnnotations)."""
    text = annotations.get(_AVOID)
    if not text:
        return []
    why = decoding.json_error(text)
    return [fields.bad("metadata.annotations.AvoidPods", _AVOID, why)] if why else []


def _warns(document: Mapping[str, Any]) -> list[str]:
    spec = document.get("spec") or {}
    told = ["spec.configSource: the feature is removed"] if spec.get("configSource") is not None else []
    if spec.get("externalID"):
        told.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, text in enumerate(spec.get("podCIDRs") or ()):
        told += addresses.block_warnings(f"spec.podCIDRs[{index}]", text)
    return told


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = _avoided(at(new, "metadata", "annotations") or {})
    causes += _address_causes(new) + scheduling.taints("metadata.taints", at(new, "spec", "taints"))
    blocks, before = at(new, "spec", "podCIDRs") or [], at(old, "spec", "podCIDRs") or []
    changed = [one for one, was in zip(blocks, before, strict=False) if one != was]
    if before and (len(blocks) != len(before) or changed):
        why = 'node updates may not change podCIDR except from "" to valid'
        causes += [fields.not_allowed("spec.podCIDRs", why) for _ in changed or (None,)]
    provider = at(old, "spec", "providerID")
    if provider and at(new, "spec", "providerID") != provider:
        why = 'node updates may not change providerID except from "" to valid'
        causes.append(fields.not_allowed("spec.providerID", why))
    if (at(new, "spec", "externalID") or "") != (at(old, "spec", "externalID") or ""):
        causes.append(fields.not_allowed("spec.externalID", "may not be updated"))
    return causes


def _status(document: Mapping[str, Any], age: Any) -> str:
    conditions = {entry.get("type"): entry.get("status") for entry in at(document, "status", "conditions") or ()}
    words = ["Ready" if conditions.get("Ready") == "True" else "NotReady" if "Ready" in conditions else "Unknown"]
    if at(document, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(document: Mapping[str, Any], age: Any) -> str:
    labels = at(document, "metadata", "labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    if labels.get("kubernetes.io/role"):
        roles.add(labels["kubernetes.io/role"])
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        for entry in at(document, "status", "addresses") or ():
            if entry.get("type") == kind:
                return str(entry.get("address"))
        return NONE

    return cell


def _info(key: str) -> Any:
    return lambda document, age: at(document, "status", "nodeInfo", key) or "<unknown>"


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    _status_defaults(document)


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status: upstream's rules of a whole Node's change (ValidateNodeUpdate)."""
    return _resource_causes(document) + _address_causes(document)


_STATUS: Final = replace(STATUS, complete=_complete_status, part_rules=_status_rules)

KIND: Final = Kind(
    "Node",
    "nodes",
    metadata_looks="wc",
    key="minions",
    short_names=("no",),
    namespaced=False,
    subresources=(_STATUS, proxy("NodeProxyOptions", to_node)),
    keeper="kubelet",
    rank=5,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    whole_rules=True,
    warns=_warns,
    columns=(
        NAME,
        Column("Status", "string", "The status of the node", _status),
        Column("Roles", "string", "The roles of the node", _roles),
        AGE,
        Column(
            "Version",
            "string",
            "",
            lambda doc, age: at(doc, "status", "nodeInfo", "kubeletVersion") or "",
            source="core_v1.NodeSystemInfo#kubeletVersion",
        ),
        Column("Internal-IP", "string", "", _address("InternalIP"), 1, source="core_v1.NodeStatus#addresses"),
        Column("External-IP", "string", "", _address("ExternalIP"), 1, source="core_v1.NodeStatus#addresses"),
        Column("OS-Image", "string", "", _info("osImage"), 1, source="core_v1.NodeSystemInfo#osImage"),
        Column(
            "Kernel-Version", "string", "", _info("kernelVersion"), 1, source="core_v1.NodeSystemInfo#kernelVersion"
        ),
        Column(
            "Container-Runtime",
            "string",
            "",
            _info("containerRuntimeVersion"),
            1,
            source="core_v1.NodeSystemInfo#containerRuntimeVersion",
        ),
    ),
    selectable={
        "spec.unschedulable": lambda doc: "true" if at(doc, "spec", "unschedulable") else "false",
    },
    page_worked_out=usual_of_node,
    page={
        "spec": {"unschedulable": True, "taints": True},
        "status": {"capacity": True, "allocatable": True, "conditions": CONDITIONS},
    },
)
