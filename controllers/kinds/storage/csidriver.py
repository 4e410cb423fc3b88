"""CSIDrivers: what a CSI driver can do.

Source: pkg/apis/storage (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, UNSET
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")

_LIFECYCLES: Final = ("Persistent", "Ephemeral")


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
    causes = fields.set_one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _POLICIES)
    causes += _tokens(spec.get("tokenRequests") or ())
    for mode in spec.get("volumeLifecycleModes") or ():
        causes += fields.set_one_of("spec.volumeLifecycleModes", mode, _LIFECYCLES, ordered=False)
    return causes


def _tokens(requests: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, request in enumerate(requests):
        where, audience = f"spec.tokenRequests[{index}]", request.get("audience") or ""
        if audience in seen:
            causes.append(fields.duplicate(f"{where}.audience", audience))
            continue
        seen.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < 600:
            why = "may not specify a duration less than 10 minutes"
            causes.append(fields.bad(f"{where}.expirationSeconds", seconds, why))
        if seconds is not None and seconds > 2**32:
            why = "may not specify a duration larger than 2^32 seconds"
            causes.append(fields.bad(f"{where}.expirationSeconds", seconds, why))
    return causes


def _driver_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key, told in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        causes += fields.immutable(f"spec.{told}", new["spec"].get(key), old["spec"].get(key))
    return causes


def _spec(name: str, usual: Any = False) -> Any:
    return lambda document, age: usual if at(document, "spec", name) is None else at(document, "spec", name)


def _audiences(document: Mapping[str, Any], age: Any) -> str:
    requests = at(document, "spec", "tokenRequests")
    return ",".join(one.get("audience", "") for one in requests) if requests else UNSET


KIND: Final = Kind(
    "CSIDriver",
    "csidrivers",
    group="storage.k8s.io",
    namespaced=False,
    rank=7,
    whole_rules=True,
    defaults=_driver_defaults,
    validate=_driver,
    validate_update=_driver_update,
    returned_when_deleted=True,
    metadata_looks="c",
    generation=True,
    first_generation=0,
    unconditional=False,
    columns=(
        NAME,
        Column(
            "AttachRequired",
            "boolean",
            "",
            _spec("attachRequired", usual=True),
            source="storage_v1.CSIDriverSpec#attachRequired",
        ),
        Column(
            "PodInfoOnMount", "boolean", "", _spec("podInfoOnMount"), source="storage_v1.CSIDriverSpec#podInfoOnMount"
        ),
        Column(
            "StorageCapacity",
            "boolean",
            "",
            _spec("storageCapacity"),
            source="storage_v1.CSIDriverSpec#storageCapacity",
        ),
        Column(
            "TokenRequests",
            "string",
            "",
            _audiences,
            source="storage_v1.CSIDriverSpec#tokenRequests",
        ),
        Column(
            "RequiresRepublish",
            "boolean",
            "",
            _spec("requiresRepublish"),
            source="storage_v1.CSIDriverSpec#requiresRepublish",
        ),
        Column(
            "Modes",
            "string",
            "",
            lambda doc, age: ",".join(at(doc, "spec", "volumeLifecycleModes") or ()) or NONE,
            source="storage_v1.CSIDriverSpec#volumeLifecycleModes",
        ),
        AGE,
    ),
)
