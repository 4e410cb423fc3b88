"""Routes of the formal model: what it says of a pod, and the optimum beside the engine. docs/model.md explains both."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom import limits
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.scheduler.modelling import Kinds, Modelling
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.api.selector_text import parse_label_selector
from scheduler_core.api.selectors import matches_all

PODS_NAMED_MAX: Final = 200
"""Pods that one question about an optimum may name; more are refused with 422: choose them by namespace or selector."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/model?pod=<ns>/<name>`."""
    principal = call.principal
    namespace, _, name = call.request.GET.get("pod", "").partition("/")
    if not namespace or not name:
        raise refuse(Cause("pod", said("model.pod", "give pod=<namespace>/<name>")))
    limits.spend(limits.MODELS, principal.participant_id)
    return answer(_modelling(call).of_pod(namespace, name))


def optimum(call: Call) -> HttpResponse:
    """Answer `GET …/model/optimum`."""
    _ = call.principal
    asked = call.request.GET
    named = [key for key in asked.get("pods", "").split(",") if key]
    if len(named) > PODS_NAMED_MAX:
        raise refuse(
            Cause(
                "pods",
                said(
                    "model.podsMost",
                    "name at most {pods_named_max} pods, or choose by namespace and selector",
                    pods_named_max=PODS_NAMED_MAX,
                ),
            )
        )
    namespace, selector = asked.get("namespace", ""), parse_label_selector(asked.get("selector", ""))
    kinds = _kinds(asked.get("needs", ""), asked.get("has", ""))
    limits.spend(limits.OPTIMA, call.session.id)
    return answer(
        _modelling(call).optima(
            lambda pod: (
                (not named or pod.key in named)
                and namespace in ("", pod.pod.namespace)
                and matches_all(selector, pod.pod.metadata.labels)
            ),
            kinds,
        )
    )


def _modelling(call: Call) -> Modelling:
    text = call.request.GET.get("revision", "")
    newest = call.store.revision
    if text and not (text.isdecimal() and len(text) < 19 and 1 <= int(text) <= newest):
        raise refuse(
            Cause(
                "revision",
                said("give.revision", "give a whole number from 1 to {newest}, the newest revision", newest=newest),
            )
        )
    return Modelling(call.past(int(text) if text else newest))


def _kinds(needs: str, has: str) -> Kinds | None:
    """Return which pods need a kind of node and which nodes are of it, None where nobody asks."""
    if not needs and not has:
        return None
    if not needs or not has:
        raise refuse(
            Cause(
                "has" if needs else "needs", said("model.both", "give both: a label selector of pods, and one of nodes")
            )
        )
    pods, nodes = parse_label_selector(needs), parse_label_selector(has)
    return (
        lambda pod: matches_all(pods, pod.pod.metadata.labels),
        lambda node: matches_all(nodes, node.metadata.labels),
    )
