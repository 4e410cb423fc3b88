"""CustomResourceDefinitions: kinds that a session gives itself (`controllers.custom`).

Source: k8s.io/apiextensions-apiserver (apis/apiextensions: defaults, validation; registry/customresourcedefinition;
controller/status/naming_controller.go, establish, apiapproval), v1.34. What upstream's controllers inside its API
server write of a new definition is written right after it (`Kind.follow`): a clock that stands does not hold it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.custom import definition
from controllers.custom.kinds import FINALIZER
from controllers.custom.naming import Told, settled, with_condition
from controllers.custom.reading import checked
from controllers.kinds.columns import CREATED_AT, NAME
from controllers.registry.kind import Kind, Lookup
from controllers.registry.subresources import STATUS_ONLY
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
    storage = next((one.get("name") for one in spec.get("versions") or () if one.get("storage")), None)
    stored = status.get("storedVersions") or []
    if storage is not None and storage not in stored:
        status["storedVersions"] = [*stored, storage]
    if not status.get("conditions"):
        status["conditions"] = None
    status.setdefault("acceptedNames", {"plural": "", "kind": ""})


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
    subresources=(STATUS_ONLY,),
    key="apiextensions.k8s.io/customresourcedefinitions",
    rank=4,
    generation=True,
    asks=False,
    whole_rules=True,
    unconditional=False,
    metadata_checks=(0, 1),
    any_finalizers=True,
    check=checked,
    prepare=_prepare,
    defaults=_defaults,
    rule_checks=0,
    validate=definition.validate,
    validate_update=definition.validate_update,
    follow=_follow,
    delete_finalizer=FINALIZER,
    mark_deleted=_mark_deleted,
    columns=(NAME, CREATED_AT),
)
