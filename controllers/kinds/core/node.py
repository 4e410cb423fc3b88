"""Nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.kinds.core import resources, scheduling
from controllers.kinds.core.pod.defaults import round_resources
from controllers.kinds.masks import CONDITIONS
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

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


def _defaults(document: dict[str, Any]) -> None:
    status = document.get("status") or {}
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    for key in ("capacity", "allocatable"):
        round_resources(status.get(key))
    document.setdefault("spec", {})
    status.setdefault("daemonEndpoints", {}).setdefault("kubeletEndpoint", {}).setdefault("Port", 0)
    status["nodeInfo"] = {**_NO_INFO, **(status.get("nodeInfo") or {})}
    document["status"] = status


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes = scheduling.taints("spec.taints", at(document, "spec", "taints"))
    for key in ("capacity", "allocatable"):
        causes += resources.amounts(f"status.{key}", at(document, "status", key))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key in ("providerID", "podCIDR"):
        before = at(old, "spec", key)
        if before and at(new, "spec", key) != before:
            causes.append(fields.not_allowed(f"spec.{key}", "node updates may not change it once it is set"))
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


KIND: Final = Kind(
    "Node",
    "nodes",
    key="minions",
    short_names=("no",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="kubelet",
    rank=5,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
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
    page={
        "spec": {"unschedulable": True, "taints": {"key": True, "value": True, "effect": True}},
        "status": {"capacity": True, "allocatable": True, "conditions": CONDITIONS},
    },
)
