"""Routes that ask about the engine: decisions, replicas with their faults."""

from __future__ import annotations

from typing import Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.polls.sealing import refuse_pod
from clustersim.classroom.roles import guard_for
from clustersim.feed import hints
from clustersim.runtime import commands
from clustersim.runtime import metrics as runtime_metrics
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from controllers.faults.table import FAULTS
from controllers.log.stamps import unix_ms_of
from controllers.registry.models.clustersim_v1 import Fault, ReplicaSpec, ReplicaStatus
from controllers.registry.structs import bounds, read
from controllers.scheduler.decisions import find, whole
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, missing, one_of
from scheduler_core.api.said import said

LEASES: Final = "leases.coordination.k8s.io"
LEASE_NAMESPACE: Final = "kube-system"
REPLICAS: Final = "replicas.clustersim.io"
SCHEDULER: Final = "kube-scheduler"

DECISIONS_MAX: Final = 100
"""Decisions of one answer; more are refused with 422."""

DECISIONS_DEFAULT: Final = 20


def decisions(call: Call) -> HttpResponse:
    """Answer `GET …/decisions?pod=<ns>/<name>`: newest first."""
    _ = call.principal
    limit = call.count("limit", DECISIONS_DEFAULT, DECISIONS_MAX)
    past = call.past()
    kept = call.store.traces(_uid(call), limit)
    for envelope, _ in kept[:1]:
        refuse_pod(call.seal, envelope["pod"])
    return answer([whole(past, *found) for found in kept])


def _uid(call: Call) -> str:
    uid = call.request.GET.get("uid", "")
    if uid:
        return uid
    namespace, _, name = call.request.GET.get("pod", "").partition("/")
    if not namespace or not name:
        raise refuse(
            Cause("pod", said("decision.podOrUid", "give pod=<namespace>/<name>, or uid= of a pod that is gone"))
        )
    refuse_pod(call.seal, f"{namespace}/{name}")
    stored = call.store.get("pods", namespace, name)
    if stored is None:
        raise missing("pods", name)
    return stored.uid


def decision(call: Call, decision: str) -> HttpResponse:
    """Answer `GET …/decisions/<id>`."""
    _ = call.principal
    found = find(call.past(), decision)
    if found is None:
        raise unknown(decision)
    refuse_pod(call.seal, found["pod"])
    return answer(found)


def unknown(decision: str) -> ApiError:
    """Return the 404 of an id that names no decision."""
    return ApiError(
        404,
        "NotFound",
        said("decision.unknown", "there is no decision {decision!r}, or it is no longer kept", decision=decision[:80]),
    )


def shown(call: Call, document: Document) -> Document:
    """Return a replica as `GET …/replicas` lists it."""
    component = read(document.get("spec"), ReplicaSpec).component
    status = read(document.get("status"), ReplicaStatus)
    faults = [{name: value for name, value in one.items() if value is not None} for one in _told(status)]
    return {
        "identity": document["metadata"]["name"],
        "component": component,
        "state": status.state or "Running",
        "leading": status.leading,
        "lease": _lease(call, component, status.lease),
        "seenRevision": status.seen_revision,
        "clockSkewMs": status.clock_skew_ms,
        "clockRate": status.clock_rate,
        "lastBranch": status.last_branch,
        "restarts": status.restarts,
        "refused": status.refused,
        "lastExit": msgspec.to_builtins(status.last_exit),
        "callbacks": msgspec.to_builtins(status.callbacks),
        "beliefs": msgspec.to_builtins(status.beliefs),
        "tries": msgspec.to_builtins(status.tries),
        "refusals": msgspec.to_builtins(status.refusals),
        "fault": faults[-1] if faults else None,
        "faults": faults,
    }


def _told(status: ReplicaStatus) -> list[Document]:
    """Return the faults that a replica has; one told before replicas had several stands alone."""
    several = status.faults or ([] if status.fault is None else [status.fault])
    return [msgspec.to_builtins(one) for one in several]


def _lease(call: Call, component: str, observed: Document | None) -> Document | None:
    """Return the lease as the replica knows it; a renewal writes the Lease alone, so its time is read from there."""
    stored = call.store.get(LEASES, LEASE_NAMESPACE, component) if observed else None
    if observed is None or stored is None or stored.object["spec"].get("holderIdentity") != observed.get("holder"):
        return observed
    renewed = stored.object["spec"].get("renewTime")
    return observed if not renewed else {**observed, "renewedAtMs": unix_ms_of(renewed) - call.store.epoch_ms}


def replicas(call: Call) -> HttpResponse:
    """Answer `GET …/replicas`."""
    _ = call.principal
    return answer([shown(call, stored.object) for stored in call.store.list(REPLICAS)[0]])


def metrics(call: Call, identity: str) -> HttpResponse:
    """Answer `GET …/replicas/<identity>/metrics`: what it has counted and timed since it began."""
    principal = call.principal
    stored = call.store.get(REPLICAS, "", identity)
    if stored is None:
        raise ApiError(
            404,
            "NotFound",
            said("replica.unknown", "there is no replica {identity!r}; …/replicas lists them", identity=identity[:80]),
        )
    if read(stored.object.get("spec"), ReplicaSpec).component == SCHEDULER:
        text = runtime_metrics.ask(principal.session_id).get(identity)
    else:
        panels = runtime_metrics.ask(principal.session_id, hints.PANELS).get(identity)
        text = None if panels is None else _workqueues(msgspec.json.decode(panels, type=list[Document]))
    if text is None:
        raise ApiError(
            503,
            "ServiceUnavailable",
            said("replica.down", "{identity} is down: let it recover, then ask again", identity=identity),
        )
    response = HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")
    response["Cache-Control"] = "no-store"
    return response


def _workqueues(panels: list[Document]) -> str:
    """Return what a controller manager counts, in Prometheus' text format and upstream's families."""
    lines: list[str] = []
    for family, kind, member in (
        ("workqueue_depth", "gauge", "length"),
        ("workqueue_adds_total", "counter", "adds"),
        ("workqueue_retries_total", "counter", "retries"),
    ):
        lines.append(f"# TYPE {family} {kind}")
        lines += [f'{family}{{name="{panel["name"]}"}} {panel["queue"][member]}' for panel in panels]
    leads = int(any(panel["leading"] for panel in panels))
    lines += [
        "# TYPE leader_election_master_status gauge",
        f'leader_election_master_status{{name="kube-controller-manager"}} {leads}',
    ]
    return "".join(f"{line}\n" for line in lines)


def _asked(body: Document) -> Document:
    """Return the fault that a body asks for.

    Raises:
        ApiError: 422 with a cause for each field that is wrong, missing, or means nothing to this kind.
    """
    kind = body.get("kind")
    if not isinstance(kind, str) or kind not in FAULTS:
        raise refuse(Cause("kind", one_of(FAULTS), "FieldValueNotSupported"))
    row = FAULTS[kind]
    given = {name for name in ("seconds", "rate") if body.get(name) is not None}
    causes = [
        Cause(
            name,
            said("fault.needs", "{kind} needs {name}: {about}", kind=kind, name=name, about=row.about),
            "FieldValueRequired",
        )
        for name in row.needs
        if name not in given
    ]
    causes += [
        Cause(name, said("fault.takesNo", "{kind} takes no {name}; leave it out", kind=kind, name=name))
        for name in sorted(given - {*row.needs, *row.takes})
    ]
    if causes:
        raise refuse(*causes)
    lowest, highest = bounds(Fault, "seconds")
    asked: Document = {
        "kind": kind,
        "seconds": number_field(body, "seconds", lowest if kind == "skew" else 0, highest),
        "rate": number_field(body, "rate", *bounds(Fault, "rate")),
    }
    return {name: value for name, value in asked.items() if value is not None}


def fault(call: Call, identity: str) -> HttpResponse:
    """Answer `POST …/replicas/<identity>/fault`."""
    principal = call.require(TEACHER)
    asked = _asked(call.body(("kind", "seconds", "rate")))

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        spec["fault"] = {"id": int((spec.get("fault") or {}).get("id") or 0) + 1, **asked}

    observed = commands.ask(
        principal.session_id,
        REPLICAS,
        identity,
        mutate,
        actor=principal.actor,
        guard=guard_for(principal, commands=True),
    )
    return answer(shown(call, observed))
