"""What CSI drivers say of themselves: CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment.

Source: pkg/apis/storage (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.registry import fields
from controllers.registry.strategy import Column, Strategy, at, child
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES: Final = ("Ephemeral", "Persistent")


def _driver_name(field: str, name: str) -> list[Cause]:
    if not name:
        return [fields.required(field)]
    if len(name) > fields.LABEL_LENGTH_MAX:
        return [fields.bad(field, name, f"must be no more than {fields.LABEL_LENGTH_MAX} bytes")]
    return fields.subdomain(field, name.lower())


def _node_defaults(document: dict[str, Any]) -> None:
    child(document, "spec").setdefault("drivers", [])


def _node(document: dict[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, driver in enumerate(document["spec"].get("drivers") or ()):
        where, name = f"spec.drivers[{index}]", driver.get("name") or ""
        causes += _driver_name(f"{where}.name", name)
        if name in seen:
            causes.append(fields.duplicate(f"{where}.name", name))
        seen.add(name)
        if not driver.get("nodeID"):
            causes.append(fields.required(f"{where}.nodeID"))
        causes += fields.non_negative(f"{where}.allocatable.count", at(driver, "allocatable", "count"))
        for key in driver.get("topologyKeys") or ():
            causes += fields.qualified_name(f"{where}.topologyKeys", key)
    return causes


def _node_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse to change what a driver once said; drivers come and go."""
    before = {driver["name"]: driver for driver in old["spec"].get("drivers") or ()}
    causes: list[Cause] = []
    for index, driver in enumerate(new["spec"].get("drivers") or ()):
        known = before.get(driver["name"])
        if known is not None and known != driver:
            causes.append(fields.bad(f"spec.drivers[{index}]", driver["name"], "field is immutable"))
    return causes


def _driver_defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("attachRequired", True)
    spec.setdefault("podInfoOnMount", False)
    spec.setdefault("storageCapacity", False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    spec.setdefault("volumeLifecycleModes", ["Persistent"])
    spec.setdefault("requiresRepublish", False)
    spec.setdefault("seLinuxMount", False)


def _driver(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = _driver_name("metadata.name", document["metadata"]["name"])
    causes += fields.one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _POLICIES)
    for mode in spec.get("volumeLifecycleModes") or ():
        causes += fields.one_of("spec.volumeLifecycleModes", mode, _LIFECYCLES, needed=True)
    return causes


def _driver_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key in ("attachRequired", "volumeLifecycleModes"):
        causes += fields.immutable(f"spec.{key}", new["spec"].get(key), old["spec"].get(key))
    return causes


def _capacity(document: dict[str, Any]) -> list[Cause]:
    name = document.get("storageClassName") or ""
    causes = fields.subdomain("storageClassName", name) if name else [fields.required("storageClassName")]
    causes += fields.label_selector("nodeTopology", document.get("nodeTopology"))
    for key in ("capacity", "maximumVolumeSize"):
        amount = document.get(key)
        if amount is not None and quantity.nano(amount) < 0:
            causes.append(fields.bad(key, amount, "must be greater than or equal to 0"))
    return causes


def _capacity_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = fields.immutable("nodeTopology", new.get("nodeTopology"), old.get("nodeTopology"))
    return causes + fields.immutable("storageClassName", new["storageClassName"], old["storageClassName"])


def _attachment_prepare(document: dict[str, Any]) -> None:
    document["status"] = {"attached": False}


def _attachment(document: dict[str, Any]) -> list[Cause]:
    spec = document.get("spec") or {}
    causes = _driver_name("spec.attacher", spec.get("attacher") or "")
    if not spec.get("nodeName"):
        causes.append(fields.required("spec.nodeName"))
    source = spec.get("source") or {}
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        causes.append(
            fields.required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        )
    elif name is not None and inline is not None:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        causes.append(fields.not_allowed("spec.source", why))
    elif name is not None:
        causes += fields.subdomain("spec.source.persistentVolumeName", name)
    return causes


def _attachment_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return fields.immutable("spec", new.get("spec"), old.get("spec"))


def _spec(*path: str) -> Any:
    return lambda document, age: at(document, "spec", *path)


def _word(*path: str) -> Any:
    return lambda document, age: at(document, *path) or ""


NODE: Final = Strategy(
    defaults=_node_defaults,
    validate=_node,
    validate_update=_node_update,
    columns=(
        NAME,
        Column(
            "Drivers", "integer", "How many drivers run there.", lambda doc, age: len(at(doc, "spec", "drivers") or ())
        ),
        AGE,
    ),
)
DRIVER: Final = Strategy(
    defaults=_driver_defaults,
    validate=_driver,
    validate_update=_driver_update,
    columns=(
        NAME,
        Column("AttachRequired", "boolean", "Whether volumes are attached first.", _spec("attachRequired")),
        Column("PodInfoOnMount", "boolean", "Whether it is told of the pod.", _spec("podInfoOnMount")),
        Column("StorageCapacity", "boolean", "Whether it tells how much there is.", _spec("storageCapacity")),
        Column(
            "TokenRequests",
            "string",
            "Audiences of its tokens.",
            lambda doc, age: (
                ",".join(one.get("audience", "") for one in at(doc, "spec", "tokenRequests") or ()) or UNSET
            ),
        ),
        Column("RequiresRepublish", "boolean", "Whether volumes are published again.", _spec("requiresRepublish")),
        Column(
            "Modes",
            "string",
            "Lifecycles of its volumes.",
            lambda doc, age: ",".join(at(doc, "spec", "volumeLifecycleModes") or ()),
        ),
        AGE,
    ),
)
CAPACITY: Final = Strategy(
    validate=_capacity,
    validate_update=_capacity_update,
    columns=(
        NAME,
        Column("StorageClassName", "string", "The class.", _word("storageClassName")),
        Column("Capacity", "string", "How much there is.", _word("capacity")),
        AGE,
    ),
)
ATTACHMENT: Final = Strategy(
    prepare=_attachment_prepare,
    validate=_attachment,
    validate_update=_attachment_update,
    columns=(
        NAME,
        Column("Attacher", "string", "The driver.", _word("spec", "attacher")),
        Column("PV", "string", "The volume.", _word("spec", "source", "persistentVolumeName")),
        Column("Node", "string", "Where to.", _word("spec", "nodeName")),
        Column("Attached", "boolean", "Whether it is there.", lambda doc, age: bool(at(doc, "status", "attached"))),
        AGE,
    ),
)
