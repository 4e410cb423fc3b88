"""Route that tries an expression on the session's cluster: its errors with their places, or what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import limits
from clustersim.sessionapi.http import Call, answer, refuse, text_field
from controllers.scheduler.expressions import KINDS, compiled, tried
from scheduler_core.api.errors import Cause, missing, one_of
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.said import said
from scheduler_core.cel.language import EXPRESSION_CHARS_MAX
from scheduler_core.plugins.cel import reads_of

NODES_TRIED_MAX: Final = 100
"""Nodes of one answer: the first by name, or those that are asked about; more are refused with 422."""


def try_it(call: Call) -> HttpResponse:
    """Answer `POST …/expressions`: anybody in the session may ask, nothing is changed."""
    principal = call.principal
    body = call.body(("expression", "kind", "pod", "nodes"))
    kind = body.get("kind", "filter")
    if not isinstance(kind, str) or kind not in KINDS:
        raise refuse(Cause("kind", one_of(KINDS)))
    source = text_field(body, "expression", EXPRESSION_CHARS_MAX)
    limits.spend(limits.EXPRESSIONS, principal.participant_id)
    program = compiled(source, kind)
    pod, names = _pod(call, body.get("pod")), _nodes(call, body.get("nodes"))
    try:
        nodes = tried(call.store, program, pod, names)
    except QuantityError as wrong:
        raise refuse(Cause("pod", str(wrong))) from wrong
    reads = sorted(".".join((root, *path)).rstrip(".") for root, path in program.reads)
    return answer({"kind": kind, "reads": reads, "dependsOn": reads_of([program]).value, "nodes": nodes})


def _pod(call: Call, asked: Any) -> Mapping[str, Any]:
    """Return the pod's document: that of a pod of the cluster, or one that is written out."""
    if isinstance(asked, dict):
        return asked
    namespace, _, name = asked.partition("/") if isinstance(asked, str) else ("", "", "")
    if not namespace or not name:
        raise refuse(Cause("pod", said("expression.pod", "give <namespace>/<name> of a pod, or a pod's document")))
    stored = call.store.get("pods", namespace, name)
    if stored is None:
        raise missing("pods", name)
    return stored.object


def _nodes(call: Call, asked: Any) -> list[str]:
    if asked is None:
        return [one.name for one in call.store.list("nodes")[0]][:NODES_TRIED_MAX]
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise refuse(Cause("nodes", said("give.names", "give a list of names")))
    if len(asked) > NODES_TRIED_MAX:
        raise refuse(
            Cause(
                "nodes",
                said("expression.nodesMost", "name at most {nodes_tried_max} nodes", nodes_tried_max=NODES_TRIED_MAX),
            )
        )
    return list(dict.fromkeys(asked))
