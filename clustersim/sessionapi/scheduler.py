"""Routes of the session's scheduler: which era and configuration it runs, and another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from django.http import HttpResponse

from clustersim import extenders
from clustersim.classroom import manifests
from clustersim.classroom.auth import TEACHER
from clustersim.classroom.roles import guard_for
from clustersim.plugins import installed
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, answer
from controllers.kinds.clustersim import schedulerconfig
from controllers.scheduler.settings import spec_of
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, invalid, missing
from scheduler_core.api.said import said
from scheduler_core.eras import ERAS, read_spec
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.profiles.era import refused

SCHEDULERS: Final = "schedulerconfigs.clustersim.io"
NAME: Final = "default"


def current(call: Call, observed: Document | None = None) -> Document:
    """Return the body of `GET …/scheduler`; `observed` is the configuration object, read when it is not given.

    Raises:
        ApiError: 404.
    """
    if observed is None:
        stored = call.store.get(SCHEDULERS, "", NAME)
        if stored is None:
            raise missing(SCHEDULERS, NAME)
        observed = stored.object
    spec, status = observed.get("spec") or {}, observed.get("status") or {}
    era = spec.get("era") or CURRENT_ERA
    return {
        "era": era,
        "title": ERAS[era].title if era in ERAS else "",
        "configuration": spec.get("configuration"),
        "policy": spec.get("policy"),
        "provider": spec.get("provider"),
        "hash": status.get("hash", ""),
        "percentageOfNodesToScore": status.get("percentageOfNodesToScore"),
        "podInitialBackoffSeconds": status.get("podInitialBackoffSeconds"),
        "podMaxBackoffSeconds": status.get("podMaxBackoffSeconds"),
        "registered": status.get("registered") or [],
        "profiles": status.get("profiles") or [],
        "installed": [one.as_dict() for one in installed().listed],
        "eras": [{"name": one.name, "title": one.title} for one in ERAS.values()],
    }


def show(call: Call) -> HttpResponse:
    """Answer `GET …/scheduler`."""
    _ = call.principal
    return answer(current(call))


def change(call: Call) -> HttpResponse:
    """Answer `PUT …/scheduler`, after the owner has obeyed; it takes effect at the next cycle."""
    principal = call.require(TEACHER)
    spec, path = _spec(call.request.body)
    try:
        read_spec(spec, call.store.plugins)
        causes = extenders.refusals(schedulerconfig.calls_of(spec))
        if causes:
            raise refused(*causes)
    except ApiError as wrong:
        raise _above(wrong, path) from wrong

    def mutate(document: Document) -> None:
        document["spec"] = spec

    observed = commands.ask(
        principal.session_id, SCHEDULERS, NAME, mutate, actor=principal.actor, guard=guard_for(principal, commands=True)
    )
    return answer(current(call, observed))


def _spec(data: bytes) -> tuple[Document, str]:
    """Return the spec that a body asks for, and the path in it at which the body itself stands.

    Raises:
        ApiError: 400 for what cannot be read, 422 for another kind of document.
    """
    documents = manifests.read(data)
    if len(documents) != 1:
        raise bad_request(
            said("body.documents", "the body holds {documents} documents; send one", documents=len(documents))
        )
    return spec_of(documents[0])


def _above(wrong: ApiError, path: str) -> ApiError:
    """Return a refusal whose causes name the fields as the body has them, not as the spec around it does."""
    prefix = f"{path}." if path else ""
    causes = [replace(cause, field=cause.field.removeprefix(prefix)) for cause in wrong.causes]
    return invalid("SchedulerConfig", "clustersim.io", NAME, causes)
