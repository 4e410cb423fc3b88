"""Route of pods that Permit holds: a person's word on one of them."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, answer, refuse, text_field
from controllers.registry.models.clustersim_v1 import Verdict
from controllers.registry.structs import options
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, one_of
from scheduler_core.api.said import said

REPLICAS: Final = "replicas.clustersim.io"
QUEUES: Final = "queues.clustersim.io"
SCHEDULER: Final = "kube-scheduler"

VERDICTS: Final = options(Verdict, "verdict")

MESSAGE_LENGTH_MAX: Final = 200
"""Characters of a rejection's reason; longer ones are refused with 422."""


def judge(call: Call, uid: str) -> HttpResponse:
    """Answer `POST …/waiting/<uid>`, after the owner has obeyed."""
    principal = call.require(TEACHER)
    body = call.body(("plugin", "verdict", "message"))
    verdict = body.get("verdict")
    if verdict not in VERDICTS:
        raise refuse(Cause("verdict", one_of(VERDICTS)))
    plugin = text_field(body, "plugin", MESSAGE_LENGTH_MAX) if body.get("plugin") is not None else ""
    message = f"rejected by {principal.name}"
    if body.get("message") is not None:
        message = text_field(body, "message", MESSAGE_LENGTH_MAX)
    asked = {"uid": uid, "plugin": plugin, "verdict": verdict, "message": message}

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        spec["verdict"] = {"id": int((spec.get("verdict") or {}).get("id") or 0) + 1, **asked}

    identity = _holder(call, uid)
    if identity is None:
        raise _gone(uid, plugin)
    observed = commands.ask(
        principal.session_id,
        REPLICAS,
        identity,
        mutate,
        actor=principal.actor,
        guard=guard_for(principal, commands=True),
    )
    outcome = (observed["status"].get("verdict") or {}).get("outcome")
    if outcome == "gone":
        raise _gone(uid, plugin)
    return answer({"uid": uid, "replica": identity, "plugin": plugin, "verdict": verdict, "outcome": outcome})


def _holder(call: Call, uid: str) -> str | None:
    """Return the scheduler that holds the pod; of the many that no list names, the one that leads."""
    for stored in call.store.list(QUEUES)[0]:
        waiting = (stored.object.get("status") or {}).get("waiting") or ()
        if any(one.get("uid") == uid for one in waiting):
            return stored.name
    for stored in call.store.list(REPLICAS)[0]:
        spec, status = stored.object.get("spec") or {}, stored.object.get("status") or {}
        if spec.get("component") == SCHEDULER and status.get("leading"):
            return stored.name
    return None


def _gone(uid: str, plugin: str) -> ApiError:
    by = f" for {plugin}" if plugin else ""
    text = said(
        "waiting.gone",
        "no pod of uid {uid!r} waits at Permit{by} any more: look at the queue again",
        uid=uid[:80],
        by=by,
    )
    return ApiError(404, "NotFound", text, name=uid[:80])
