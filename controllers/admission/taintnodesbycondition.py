"""TaintNodesByCondition: a new node gets no pods until somebody says that it is ready.

The nodes that a session begins with were up before it began, but for those whose kubelet is silent.

Source: plugin/pkg/admission/nodetaint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.admission.common import on
from controllers.log.stamps import unix_ms_of
from controllers.registry.admission import Attempt, Plugin
from controllers.registry.context import SESSION

STOPPED: Final = "clustersim.io/kubelet-stopped-at"
"""Annotation of a Node: the RFC 3339 time since which its kubelet is silent. Removing it brings the kubelet back."""

NOT_READY: Final = "node.kubernetes.io/not-ready"
"""Key of the taint of a node whose kubelet has not said that it is ready."""


def _mutate(attempt: Attempt) -> str:
    document = attempt.document
    if attempt.context.actor == SESSION and not _is_silent(document, attempt.lookup.now):
        return ""
    taints = document["spec"].get("taints") or []
    if any(one.get("key") == NOT_READY and one.get("effect") == "NoSchedule" for one in taints):
        return ""
    document["spec"]["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]
    return f"taint {NOT_READY}:NoSchedule"


def _is_silent(document: Mapping[str, Any], now: str) -> bool:
    annotations = document["metadata"].get("annotations") or {}
    # Whatever the prefix is that kubelets obey: a machine that is not meant takes the taint away.
    if any(key.endswith("/kubelet") and value in ("off", "gone") for key, value in annotations.items()):
        return True
    stopped = annotations.get(STOPPED)
    return stopped is not None and _is_past(stopped, now)


def _is_past(text: str, now: str) -> bool:
    """Return whether a time is over; what is no time counts as over."""
    try:
        return unix_ms_of(text) <= unix_ms_of(now)
    except ValueError:
        return True


PLUGIN: Final = Plugin(
    "TaintNodesByCondition",
    "Taints a new node until its kubelet is ready.",
    watches=on("nodes"),
    mutate=_mutate,
)
