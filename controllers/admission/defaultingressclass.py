"""DefaultIngressClass: an Ingress that names no class gets the default one.

Source: plugin/pkg/admission/network/defaultingressclass.
"""

from __future__ import annotations

from typing import Final

from controllers.admission.common import on
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.document import child

CLASSES: Final = "ingressclasses.networking.k8s.io"
_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"
_OLD: Final = "kubernetes.io/ingress.class"


def _mutate(attempt: Attempt) -> str:
    spec, annotations = child(attempt.document, "spec"), attempt.document["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or _OLD in annotations:
        return ""
    defaults = [
        one
        for one in attempt.lookup.list(CLASSES)
        if (one["metadata"].get("annotations") or {}).get(_DEFAULT) == "true"
    ]
    if not defaults:
        return ""
    # The newest; the first by name of equally old ones.
    defaults.sort(key=lambda one: str(one["metadata"]["name"]))
    newest = max(defaults, key=lambda one: str(one["metadata"].get("creationTimestamp", "")))
    spec["ingressClassName"] = newest["metadata"]["name"]
    return f"ingressClassName {spec['ingressClassName']}"


PLUGIN: Final = Plugin(
    "DefaultIngressClass",
    "Gives Ingresses that name no class the default one.",
    watches=on("ingresses.networking.k8s.io"),
    mutate=_mutate,
)
