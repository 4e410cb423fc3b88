"""Pods: defaults, priority admission, graceful deletion, and the columns of `kubectl get pods`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.kinds.core.pod import annotations as marks
from controllers.kinds.core.pod import defaults, updates, warnings
from controllers.kinds.core.pod import validation as rules
from controllers.kinds.core.pod.binding import BINDING
from controllers.kinds.core.pod.changes import EPHEMERAL, RESIZE
from controllers.kinds.core.pod.counting import counted_otherwise
from controllers.kinds.core.pod.eviction import EVICTION
from controllers.kinds.core.pod.printing import (
    READ,
    gates_cell,
    printed,
    ready_cell,
    restarts_cell,
    row_conditions,
    status_cell,
)
from controllers.kinds.core.pod.statuses import STATUS_PART
from controllers.kinds.core.proxying import proxy, to_pod
from controllers.kinds.masks import CONDITIONS, CONTAINERS, INIT_STATE
from controllers.kinds.metrics.load import sent_by
from controllers.kinds.metrics.usage import usual_of_pod
from controllers.registry.kind import Column, Kind, Lookup, Subresource
from scheduler_core.api.document import at, child, has_ended
from scheduler_core.api.errors import Cause

DEFAULT_GRACE_SECONDS: Final = 30
"""Seconds a pod gets to end when neither it nor the request says otherwise."""

_GATED: Final[Mapping[str, str]] = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
"""The condition of a pod that is made with gates; the API server says so, the scheduler never looks at it."""


def _prepare(document: dict[str, Any]) -> None:
    status: dict[str, Any] = {"phase": "Pending"}
    sent = (document.get("status") or {}).get("qosClass")
    if sent:
        status["qosClass"] = sent
    spec, metadata = document.get("spec") or {}, document["metadata"]
    if spec.get("schedulingGates"):
        times = {"lastProbeTime": None, "lastTransitionTime": metadata["creationTimestamp"]}
        status["conditions"] = [{**_GATED, **times}]
    document["status"] = status
    marks.take_profiles(document)
    defaults.merge_label_keys(spec, metadata.get("labels") or {})


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    """Tell the quality of service, now that admission has said what containers may ask for."""
    child(document, "status").setdefault("qosClass", defaults.quality_of_service(document["spec"]))
    return []


def _defaults(document: dict[str, Any]) -> None:
    defaults.pod(document)


def _worked_out(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page is told of a pod besides: what it uses, and what is counted where requests do not say it."""
    return {**usual_of_pod(document), **sent_by(document), **counted_otherwise(document)}


def _text(*path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda document: str(at(document, *path) or "")


def _or_none(part: str, field: str) -> Callable[[Mapping[str, Any], Any], str]:
    return lambda document, age: str((document.get(part) or {}).get(field) or NONE)


def _grace_seconds(document: Mapping[str, Any], asked: int | None) -> int:
    spec = document.get("spec", {})
    if not spec.get("nodeName") or has_ended(document):
        # Nothing runs that would need time to end.
        return 0
    return max(0, int(spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS) if asked is None else asked))


def _connected(name: str, options: str) -> Subresource:
    verbs = ("create", "get")
    return Subresource(name, verbs=verbs, body=("", "v1", options), simulated=True, students=True)


_PROCESS: Final = (
    Subresource("log", verbs=("get",), simulated=True, students=True),
    *(_connected(name, f"Pod{name.title()}Options") for name in ("attach", "exec")),
    _connected("portforward", "PodPortForwardOptions"),
    proxy("PodProxyOptions", to_pod),
)
"""What only a running process could answer: the stages do."""

KIND: Final = Kind(
    "Pod",
    "pods",
    component_verbs=frozenset({"delete"}),
    short_names=("po",),
    in_rows=True,
    categories=("all",),
    subresources=(STATUS_PART, BINDING, EVICTION, EPHEMERAL, RESIZE, *_PROCESS),
    keeper="kubelet",
    rank=61,
    prepare=_prepare,
    defaults=_defaults,
    settle=defaults.settled,
    admit=_admit,
    validate=rules.validate,
    validate_new=rules.validate_new,
    validate_update=updates.validate_update,
    whole_rules=True,
    generation=True,
    grace_seconds=_grace_seconds,
    returned_when_deleted=True,
    warns_made=warnings.pod,
    columns=(
        NAME,
        Column(
            "Ready",
            "string",
            "The aggregate readiness state of this pod for accepting traffic.",
            ready_cell,
            of=printed,
        ),
        Column("Status", "string", "The aggregate status of the containers in this pod.", status_cell, of=printed),
        Column(
            "Restarts",
            "string",
            "The number of times the containers in this pod have been restarted and when "
            "the last container in this pod has restarted.",
            restarts_cell,
            of=printed,
        ),
        AGE,
        Column("IP", "string", "", _or_none("status", "podIP"), 1, source="core_v1.PodStatus#podIP"),
        Column("Node", "string", "", _or_none("spec", "nodeName"), 1, source="core_v1.PodSpec#nodeName"),
        Column(
            "Nominated Node",
            "string",
            "",
            _or_none("status", "nominatedNodeName"),
            1,
            source="core_v1.PodStatus#nominatedNodeName",
        ),
        Column("Readiness Gates", "string", "", gates_cell, 1, source="core_v1.PodSpec#readinessGates"),
    ),
    row_conditions=row_conditions,
    printed=READ,
    selectable={
        "spec.nodeName": _text("spec", "nodeName"),
        "spec.restartPolicy": _text("spec", "restartPolicy"),
        "spec.schedulerName": _text("spec", "schedulerName"),
        "spec.serviceAccountName": _text("spec", "serviceAccountName"),
        "spec.hostNetwork": lambda doc: "true" if at(doc, "spec", "hostNetwork") else "false",
        "status.phase": _text("status", "phase"),
        "status.podIP": _text("status", "podIP"),
        # Upstream takes this one, and no pod has it.
        "status.podIPs": lambda doc: "",
        "status.nominatedNodeName": _text("status", "nominatedNodeName"),
    },
    page_worked_out=_worked_out,
    page={
        "spec": {
            "nodeName": True,
            "schedulerName": True,
            "priority": True,
            "priorityClassName": True,
            "preemptionPolicy": True,
            "schedulingGates": {"name": True},
            "tolerations": True,
            "nodeSelector": True,
            "affinity": {"nodeAffinity": {}, "podAffinity": {}, "podAntiAffinity": {}},
            "topologySpreadConstraints": {"topologyKey": True},
            "overhead": True,
            "containers": CONTAINERS,
            "initContainers": CONTAINERS,
            "volumes": {
                "name": True,
                "persistentVolumeClaim": {"claimName": True},
                "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": True}}},
            },
        },
        "status": {
            "phase": True,
            "reason": True,
            "nominatedNodeName": True,
            "startTime": True,
            "conditions": CONDITIONS,
            "containerStatuses": {"name": True, "ready": True, "restartCount": True, "state": True},
            "initContainerStatuses": {"name": True, "restartCount": True, "state": INIT_STATE},
        },
    },
)
