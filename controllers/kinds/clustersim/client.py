"""Clients: who sends requests, where to, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.kinds.clustersim.target import BadTarget, read_target
from controllers.registry import fields
from controllers.registry.kind import Column, Lookup
from controllers.registry.models.clustersim_v1 import ClientSpec
from controllers.registry.structs import beyond
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said

RESOURCE: Final = "clients.clustersim.io"

CLIENTS_MAX: Final = 20
"""Clients of one session; one more is refused with 422: each writes what came of its requests into the log."""

FROM: Final = ("cluster", "outside", "node/<name>", "pod/<name>")


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = beyond(spec, ClientSpec, "spec")
    place, _, name = str(spec.get("from", "")).partition("/")
    if place in ("node", "pod"):
        causes += fields.subdomain("spec.from", name) if name else [fields.bad("spec.from", spec["from"], _told())]
    elif spec.get("from") not in ("cluster", "outside"):
        causes.append(fields.bad("spec.from", spec.get("from"), _told()))
    causes += fields.label_name("spec.namespace", str(spec.get("namespace", "")))
    try:
        read_target(str(spec.get("target") or ""))
    except BadTarget as wrong:
        causes.append(fields.bad("spec.target", spec.get("target") or "", str(wrong)))
    return causes


def _told() -> str:
    return f"must be one of {', '.join(FROM)}"


def _defaults(document: dict[str, Any]) -> None:
    with_spec(document)
    spec = document["spec"]
    for name, value in (("from", "cluster"), ("namespace", "default"), ("rate", 1), ("timeout", 1), ("count", 0)):
        if spec.get(name) is None:
            spec[name] = value


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    if len(lookup.list(RESOURCE)) < CLIENTS_MAX:
        return []
    return [
        Cause(
            "metadata.name",
            said(
                "client.most", "a session has at most {clients_max} clients: delete one first", clients_max=CLIENTS_MAX
            ),
            "FieldValueForbidden",
        )
    ]


def _success(document: Mapping[str, Any], age: Any) -> str:
    rate = at(document, "status", "success")
    return "" if rate is None else f"{100 * rate:.0f} %"


KIND: Final = command(
    "Client",
    "clients",
    Column("From", "string", "Who sends.", shown("spec", "from")),
    Column("Target", "string", "Where requests go.", shown("spec", "target")),
    Column("Rate", "string", "Requests per simulated second.", shown("spec", "rate")),
    Column("Sent", "string", "Requests so far.", shown("status", "sent")),
    Column("Success", "string", "The part of the newest requests that was answered well.", _success),
    defaults=_defaults,
    admit=_admit,
    validate=_validate,
    page={"spec": True, "status": True},
)
