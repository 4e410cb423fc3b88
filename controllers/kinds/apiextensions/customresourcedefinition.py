"""CustomResourceDefinitions: kinds that a session gives itself (`controllers.custom`).

Source: k8s.io/apiextensions-apiserver (apis/apiextensions: defaults, validation; registry/customresourcedefinition;
controller/status/naming_controller.go, establish, apiapproval), v1.34. What upstream's controllers inside its API
server write of a new definition is written right after it (`Kind.follow`): a clock that stands does not hold it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.custom import definition
from controllers.custom.kinds import FINALIZER
from controllers.custom.naming import Told, settled, with_condition
from controllers.custom.reading import checked
from controllers.custom.schemas import unknown_formats
from controllers.kinds.columns import CREATED_AT, NAME
from controllers.registry.gotext import quoted
from controllers.registry.kind import Kind, Lookup
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, child, condition

GROUP: Final = "apiextensions.k8s.io"

_PENDING: Final[Told] = (
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)


def _prepare(document: Document) -> None:
    document["status"] = {}


def _defaults(document: Document) -> None:
    spec = child(document, "spec")
    names = child(spec, "names")
    kind = names.get("kind") or ""
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = ((spec["conversion"].get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None and service.get("port") is None:
        service["port"] = 443
    status = child(document, "status")
    storage = next((one.get("name") or "" for one in spec.get("versions") or () if one.get("storage")), None)
    stored = status.get("storedVersions") or []
    if storage is not None and storage not in stored:
        status["storedVersions"] = [*stored, storage]
    if not status.get("conditions"):
        status["conditions"] = None
    status.setdefault("acceptedNames", {"plural": "", "kind": ""})


def _formats(document: Mapping[str, Any]) -> list[str]:
    """Return the formats that nobody looks at; what all versions have alike stands in the definition itself."""
    schemas = [(one.get("schema") or {}).get("openAPIV3Schema") for one in document["spec"].get("versions") or ()]
    found = [unknown_formats(one) for one in schemas if one is not None]
    alike = found[:1] if schemas and all(one == schemas[0] for one in schemas) else found
    return [name for names in alike for name in names]


def _warns(document: Mapping[str, Any]) -> list[str]:
    return [f"unrecognized format {quoted(name)}" for name in _formats(document)]


def _warns_changed(document: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    before = _formats(old)
    return [f"unrecognized format {quoted(name)}" for name in _formats(document) if name not in before]


def _follow(document: Mapping[str, Any], lookup: Lookup) -> Document | None:
    """Say which of its names it has got, and whether its instances are served."""
    others = lookup.list(f"customresourcedefinitions.{GROUP}")
    return settled(document, others, lookup.now)


def _mark_deleted(document: Document) -> Document:
    if condition(document, "Terminating") is not None:
        return document
    now = document["metadata"]["deletionTimestamp"]
    return {**document, "status": with_condition(document.get("status") or {}, _PENDING, now)}


KIND: Final = Kind(
    "CustomResourceDefinition",
    "customresourcedefinitions",
    group=GROUP,
    namespaced=False,
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    kept_as="v1beta1",
    subresources=(replace(STATUS, owns_carried=False),),
    key="apiextensions.k8s.io/customresourcedefinitions",
    rank=4,
    generation=True,
    asks=False,
    whole_rules=True,
    unconditional=False,
    metadata_looks="c",
    any_finalizers=True,
    check=checked,
    prepare=_prepare,
    defaults=_defaults,
    rule_checks=0,
    validate=definition.validate,
    validate_update=definition.validate_update,
    warns_made=_warns,
    warns_changed=_warns_changed,
    follow=_follow,
    delete_finalizer=FINALIZER,
    mark_deleted=_mark_deleted,
    columns=(NAME, CREATED_AT),
)
