"""Namespaces: they hold a finalizer of their own, so that what is in them goes first."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry.strategy import Column, Strategy, at, child

NAMESPACE_FINALIZER: Final = "kubernetes"
NAME_LABEL: Final = "kubernetes.io/metadata.name"


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"phase": "Active"}
    document["spec"] = {"finalizers": [NAMESPACE_FINALIZER]}


def _defaults(document: dict[str, Any]) -> None:
    metadata = child(document, "metadata")
    metadata["labels"] = {**metadata.get("labels", {}), NAME_LABEL: metadata["name"]}


STRATEGY: Final = Strategy(
    prepare=_prepare,
    defaults=_defaults,
    names="label",
    columns=(
        NAME,
        Column("Status", "string", "Active or Terminating.", lambda doc, age: at(doc, "status", "phase") or ""),
        AGE,
    ),
    selectable={"status.phase": lambda doc: at(doc, "status", "phase") or ""},
)
