"""Routes of a pod's probes: what they find, and a word on it. Nothing is asked in a simulated container but this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import writing
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.flags.held import flags_of
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kubelet.orders import PROBES, failing_of
from controllers.log.operations import Patch
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, missing, one_of
from scheduler_core.api.said import said

PODS: Final = "pods"
FINDINGS: Final = ("succeed", "fail")
TRIES: Final = 5
"""How often a pod is read again that somebody else has changed meanwhile."""

_KINDS: Final = tuple(sorted(PROBES))


def show(call: Call, namespace: str, name: str) -> HttpResponse:
    """Answer `GET …/probes/<namespace>/<name>`."""
    _ = call.principal
    return answer(_told(_pod(call, namespace, name), _annotation(call)))


def change(call: Call, namespace: str, name: str) -> HttpResponse:
    """Answer `PUT …/probes/<namespace>/<name>`: what it names finds this from now on, the rest stays."""
    principal, annotation = call.principal, _annotation(call)
    asked = call.body(("container", *_KINDS))
    findings = {kind: asked[kind] for kind in _KINDS if kind in asked}
    causes = [Cause(kind, one_of(FINDINGS)) for kind, found in findings.items() if found not in FINDINGS]
    if not findings:
        causes = [
            Cause(kind, said("probe.finds", "say of a probe what it finds: {known}", known=", ".join(FINDINGS)))
            for kind in _KINDS
        ]
    if causes:
        raise refuse(*causes)
    for left in reversed(range(TRIES)):
        pod = _pod(call, namespace, name)
        text = _said(pod, annotation, asked.get("container"), findings)
        version = {"resourceVersion": pod["metadata"]["resourceVersion"]}
        patch = {"metadata": {**version, "annotations": {annotation: text or None}}}
        try:
            context = writing.context_for(principal, call.store)
            stored = writing.apply(call.store, Patch(PODS, namespace, name, patch), context)
        except ApiError as error:
            if error.code != 409 or not left:
                raise
        else:
            return answer(_told(stored.object, annotation))
    raise AssertionError("the last try answers or raises")


def _said(pod: Mapping[str, Any], annotation: str, container: Any, findings: Mapping[str, str]) -> str:
    """Return the annotation's text with other findings.

    Raises:
        ApiError: 422, there is no such container or probe.
    """
    places = set(_places(pod))
    failing = _failing(pod, annotation)
    for kind, found in findings.items():
        meant = {place for place in places if place[1] == kind and container in (None, place[0])}
        if not meant:
            where = "no container" if container is None else f"no container {str(container)[:63]!r}"
            text = said(
                "probe.none",
                "{where} of this pod has a {kind} probe: give it a {kind}Probe in its manifest",
                where=where,
                kind=kind,
            )
            raise refuse(Cause(kind, text))
        failing = failing | meant if found == "fail" else failing - meant
    return ",".join(f"{one}/{kind}" for one, kind in sorted(failing))


def _failing(pod: Mapping[str, Any], annotation: str) -> set[tuple[str, str]]:
    """Return (container, kind) of each probe that fails."""
    said = set(failing_of((pod["metadata"].get("annotations") or {}).get(annotation)))
    return {(one, kind) for one, kind in _places(pod) if kind in said or f"{one}/{kind}" in said}


def _places(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (container, kind) of each probe of a pod."""
    for key in ("initContainers", "containers"):
        for container in pod["spec"].get(key) or ():
            for kind in _KINDS:
                if container.get(f"{kind}Probe"):
                    yield container["name"], kind


def _told(pod: Mapping[str, Any], annotation: str) -> Document:
    failing = _failing(pod, annotation)
    containers: dict[str, dict[str, str]] = {}
    for one, kind in _places(pod):
        containers.setdefault(one, {})[kind] = "fail" if (one, kind) in failing else "succeed"
    metadata = pod["metadata"]
    return {"namespace": metadata["namespace"], "name": metadata["name"], "containers": containers}


def _pod(call: Call, namespace: str, name: str) -> Mapping[str, Any]:
    stored = call.store.get(PODS, namespace, name)
    if stored is None:
        raise missing(PODS, name[:253])
    return stored.object


def _annotation(call: Call) -> str:
    return f"{flags_of(call.store)[ANNOTATION_PREFIX]}/failing-probes"
