"""Routes of clients: who sends requests into the cluster, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom import limits, writing
from clustersim.classroom.auth import CREATED_BY, STUDENT, TEACHER, Principal
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.log.draft import Draft
from controllers.log.operations import Create, Delete, Operation
from controllers.log.store import Stored
from controllers.registry.context import Guard
from controllers.registry.models.clustersim_v1 import ClientSpec, ClientStatus
from controllers.registry.structs import read
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, forbidden, missing
from scheduler_core.api.said import said

STUDENT_CLIENTS_MAX: Final = 2
"""Clients of one student; one more is refused with 403."""

STUDENT_RATE_MAX: Final = 5
"""Requests per simulated second of a student's client; more are refused with 403."""

_FIELDS: Final = ("name", "from", "namespace", "target", "rate", "timeout", "count")
_AT: Final = "atMs"


def show(call: Call) -> HttpResponse:
    """Answer `GET …/clients`."""
    _ = call.principal
    return answer([_told(stored.object) for stored in call.store.list(CLIENTS)[0]])


def one(call: Call, name: str) -> HttpResponse:
    """Answer `GET …/clients/<name>`."""
    _ = call.principal
    stored = call.store.get(CLIENTS, "", name)
    if stored is None:
        raise missing(CLIENTS, name)
    return answer(_told(stored.object, whole=True))


def create(call: Call) -> HttpResponse:
    """Answer `POST …/clients`."""
    principal = call.require_acting(TEACHER, STUDENT)
    body = call.body(_FIELDS)
    name = body.pop("name", None)
    if name is not None and not isinstance(name, str):
        raise refuse(Cause("name", said("give.text", "give a text")))
    if principal.role == STUDENT:
        limits.spend(limits.STUDENT_WRITES, principal.participant_id)
        body.setdefault("namespace", principal.namespace)
    metadata = {"name": name} if name else {"generateName": "client-"}
    spec = {field: value for field, value in body.items() if value is not None}
    document = {"apiVersion": "clustersim.io/v1", "kind": "Client", "metadata": metadata, "spec": spec}
    return answer(_told(_apply(call, principal, Create(CLIENTS, "", document)).object), 201)


def remove(call: Call, name: str) -> HttpResponse:
    """Answer `DELETE …/clients/<name>`."""
    _apply(call, call.require_acting(TEACHER, STUDENT), Delete(CLIENTS, "", name))
    return HttpResponse(status=204)


def _apply(call: Call, principal: Principal, operation: Operation) -> Stored:
    """Write one client in a person's name.

    Raises:
        ApiError: 403, 404, 409; 422 with the fields of the body.
    """
    context = writing.web_context(
        principal.actor,
        call.store,
        creator=principal.creator,
        field_validation="Strict",
        guard=_guard(call, principal) if principal.role == STUDENT else None,
    )
    try:
        return writing.apply(call.store, operation, context)
    except ApiError as error:
        if error.code not in (400, 422) or not error.causes:
            raise
        known = [replace(cause, field=_field(cause.field)) for cause in error.causes]
        raise refuse(*known) from error


def _field(path: str) -> str:
    """Return the field of the body that a path of the object means."""
    return path.removeprefix("spec.").removeprefix("metadata.")


def _guard(call: Call, principal: Principal) -> Guard:
    """Return what a student's clients have to keep to: they send from the student's own namespace, and slowly."""

    def guard(operation: Operation, old: Stored | None, new: Draft | None) -> None:
        name = "" if old is None else old.name
        if old is not None and _author(old.object) != principal.slug:
            raise forbidden(CLIENTS, name, said("client.others", "this client is somebody else's"))
        if new is None:
            return
        spec = read(new.object["spec"], ClientSpec)
        name = str(new.object["metadata"]["name"])
        if spec.namespace != principal.namespace:
            raise forbidden(
                CLIENTS,
                name,
                said(
                    "client.namespace",
                    "namespace: a student's clients send from {namespace}",
                    namespace=principal.namespace,
                ),
            )
        if spec.source.startswith("node/"):
            raise forbidden(
                CLIENTS, name, said("client.from", "from: nodes are the teacher's; give cluster, outside or pod/<name>")
            )
        if spec.rate > STUDENT_RATE_MAX:
            why = said(
                "client.rate",
                "rate: a student's client sends at most {student_rate_max} requests a second",
                student_rate_max=STUDENT_RATE_MAX,
            )
            raise forbidden(CLIENTS, name, why)
        own = [stored for stored in call.store.list(CLIENTS)[0] if _author(stored.object) == principal.slug]
        if old is None and len(own) >= STUDENT_CLIENTS_MAX:
            raise forbidden(
                CLIENTS,
                name,
                said(
                    "client.studentsMost",
                    "a student has at most {student_clients_max} clients: delete one first",
                    student_clients_max=STUDENT_CLIENTS_MAX,
                ),
            )

    return guard


def _author(document: Mapping[str, Any]) -> str:
    return str((document["metadata"].get("annotations") or {}).get(CREATED_BY, ""))


def _told(document: Document, *, whole: bool = False) -> Document:
    """Return a client as the session API shows it; `whole`: with windows, pods and its newest requests."""
    status = read(document.get("status"), ClientStatus)
    told: Document = {
        "name": document["metadata"]["name"],
        "createdBy": _author(document),
        **msgspec.to_builtins(read(document.get("spec"), ClientSpec)),
        "state": status.state or "Waiting",
        "message": status.message,
        "sent": status.sent,
        "success": status.success,
        "results": status.results,
    }
    if whole:
        told["windows"] = [_timed(window) for window in status.windows]
        told["pods"] = status.pods
        told["newest"] = [_timed(record) for record in reversed(status.newest)]
    return told


def _timed(entry: Document) -> Document:
    """Return an entry with its times in simulated seconds."""
    found = {"simTime": int(entry.get(_AT) or 0) / 1000, **entry}
    found.pop(_AT, None)
    waited_ms = found.pop("afterMs", None)
    return found if waited_ms is None else {**found, "waited": waited_ms / 1000}
