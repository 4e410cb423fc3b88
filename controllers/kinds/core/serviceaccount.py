"""ServiceAccounts: who asks the API from within the cluster, with tokens made on demand or kept in Secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import Column, Kind, Subresource

TOKEN: Final = Subresource(
    "token",
    verbs=("create",),
    body=("authentication.k8s.io", "v1", "TokenRequest"),
    schema="authentication_v1.TokenRequest",
    students=True,
)
"""The server around the registry answers it: nothing is stored."""

_ENFORCED: Final = "kubernetes.io/enforce-mountable-secrets"


def _warns(document: Mapping[str, Any]) -> list[str]:
    if _ENFORCED not in (document["metadata"].get("annotations") or {}):
        return []
    why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    return [f"metadata.annotations[{_ENFORCED}]: {why}"]


def _defaults(document: dict[str, Any]) -> None:
    """Keep of the Secrets that it names their names alone (pkg/registry/core/serviceaccount)."""
    if document.get("secrets"):
        document["secrets"] = [{"name": one["name"]} if one.get("name") else {} for one in document["secrets"]]


KIND: Final = Kind(
    "ServiceAccount",
    "serviceaccounts",
    short_names=("sa",),
    rank=3,
    subresources=(TOKEN,),
    whole_rules=True,
    defaults=_defaults,
    returned_when_deleted=True,
    warns_made=_warns,
    columns=(
        NAME,
        Column(
            "Secrets",
            "string",
            "Secrets it names.",
            lambda doc, age: len(doc.get("secrets") or ()),
            source="core_v1.ServiceAccount#secrets",
        ),
        AGE,
    ),
)
