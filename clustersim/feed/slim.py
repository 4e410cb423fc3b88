"""What the page gets of each object: the field lists of docs/protocol.md.

A mask is a tree of field names: `True` takes a field whole, a dict takes these fields of it (of each element, when the
field is a list). Values are shared with the document, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

OBJECT_BYTES_MAX: Final = 384 * 1024
"""Bytes of one object on its way to a page: with CHUNK_BYTES a frame stays below the websocket's MiB. Past it long
texts, lists and mappings are cut, and the object says `"cut": true`; the whole one is a GET away."""

CUT_LENGTHS: Final = (1_024, 128, 8)
"""Characters of a text, and members of a list or mapping, that are left where an object is too large; tried in turn."""

_IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")

_encode: Final = msgspec.json.Encoder().encode

Mask = Mapping[str, Any]

OWN_ANNOTATIONS: Final = "clustersim.io/"
"""Only annotations under this prefix travel: others can hold whole manifests."""

_CONDITIONS: Final = {"type": True, "status": True, "reason": True, "message": True, "lastTransitionTime": True}
_CONTAINERS: Final = {"name": True, "image": True, "restartPolicy": True, "resources": {"requests": True}}

_METADATA: Final = {
    "name": True,
    "namespace": True,
    "uid": True,
    "resourceVersion": True,
    "generation": True,
    "creationTimestamp": True,
    "deletionTimestamp": True,
    "deletionGracePeriodSeconds": True,
    "labels": True,
    "ownerReferences": {"kind": True, "name": True, "uid": True, "controller": True},
}

_EVENT_FIELDS: Final = (
    "reason",
    "message",
    "type",
    "count",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "series",
    "reportingComponent",
    "source",
)

MASKS: Final[Mapping[str, Mask]] = {
    "pods": {
        "spec": {
            "nodeName": True,
            "schedulerName": True,
            "priority": True,
            "priorityClassName": True,
            "preemptionPolicy": True,
            "schedulingGates": {"name": True},
            "overhead": True,
            "containers": _CONTAINERS,
            "initContainers": _CONTAINERS,
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
            "conditions": _CONDITIONS,
            "containerStatuses": {"name": True, "ready": True, "restartCount": True, "state": True},
        },
    },
    "nodes": {
        "spec": {"unschedulable": True, "taints": {"key": True, "value": True, "effect": True}},
        "status": {"capacity": True, "allocatable": True, "conditions": _CONDITIONS},
    },
    "namespaces": {"status": {"phase": True}},
    "services": {"spec": {"type": True, "clusterIP": True, "selector": True, "ports": True}},
    "replicasets.apps": {
        "spec": {"replicas": True, "selector": True},
        "status": {"replicas": True, "readyReplicas": True, "availableReplicas": True, "observedGeneration": True},
    },
    "deployments.apps": {
        "spec": {"replicas": True, "paused": True, "selector": True, "strategy": True},
        "status": {
            "replicas": True,
            "updatedReplicas": True,
            "readyReplicas": True,
            "availableReplicas": True,
            "unavailableReplicas": True,
            "observedGeneration": True,
            "conditions": _CONDITIONS,
        },
    },
    "priorityclasses.scheduling.k8s.io": {
        "value": True,
        "globalDefault": True,
        "preemptionPolicy": True,
        "description": True,
    },
    "persistentvolumeclaims": {
        "spec": {"volumeName": True, "storageClassName": True, "accessModes": True, "resources": {"requests": True}},
        "status": {"phase": True, "capacity": True},
    },
    "persistentvolumes": {
        "spec": {
            "capacity": True,
            "accessModes": True,
            "storageClassName": True,
            "persistentVolumeReclaimPolicy": True,
            "claimRef": {"namespace": True, "name": True},
            "nodeAffinity": True,
        },
        "status": {"phase": True},
    },
    "storageclasses.storage.k8s.io": {"provisioner": True, "volumeBindingMode": True, "reclaimPolicy": True},
    "poddisruptionbudgets.policy": {
        "spec": {"minAvailable": True, "maxUnavailable": True, "selector": True},
        "status": {"disruptionsAllowed": True, "currentHealthy": True, "desiredHealthy": True, "expectedPods": True},
    },
    "leases.coordination.k8s.io": {"spec": True},
    "events": {
        "involvedObject": {"kind": True, "namespace": True, "name": True, "uid": True},
        **dict.fromkeys(_EVENT_FIELDS, True),
    },
    "clocks.clustersim.io": {"spec": True, "status": True},
    "replicas.clustersim.io": {"spec": True, "status": True},
    "queues.clustersim.io": {"status": True},
    "schedulerconfigs.clustersim.io": {"spec": True, "status": True},
    "replays.clustersim.io": {"spec": {"divisor": True, "start": True}, "status": True},
}
"""Resource → what travels beside the metadata. A resource that is not here travels as metadata alone."""


def cut(value: Any, mask: Mask) -> Any:
    """Return the part of a JSON value that the mask takes; null members count as absent."""
    if isinstance(value, list):
        return [cut(element, mask) for element in value]
    if not isinstance(value, dict):
        return value
    taken: dict[str, Any] = {}
    for field, inner in mask.items():
        member = value.get(field)
        if member is not None:
            taken[field] = member if inner is True else cut(member, inner)
    return taken


def slim(resource: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object as the page reads it."""
    metadata = document["metadata"]
    short = cut(metadata, _METADATA)
    annotations = metadata.get("annotations")
    if annotations:
        own = {name: text for name, text in annotations.items() if name.startswith(OWN_ANNOTATIONS)}
        if own:
            short["annotations"] = own
    taken: dict[str, Any] = {"resource": resource, "metadata": short}
    mask = MASKS.get(resource)
    if mask is not None:
        taken.update(cut(document, mask))
    if resource == "replicas.clustersim.io":
        _drop_cycle_input(taken)
    return taken


def _drop_cycle_input(taken: dict[str, Any]) -> None:
    """Leave out what only a new owner reads of a held cycle, or a second run: it can be larger than all the rest."""
    status = taken.get("status")
    if isinstance(status, dict) and "answer" in status:
        taken["status"] = status = {name: value for name, value in status.items() if name != "answer"}
    if isinstance(status, dict) and isinstance(status.get("cycle"), dict):
        cycle = {name: value for name, value in status["cycle"].items() if name != "input"}
        taken["status"] = {**status, "cycle": cycle}


def fitted(shown: Mapping[str, Any]) -> bytes:
    """Return what the page is shown of an object as JSON of at most OBJECT_BYTES_MAX, whatever is in it."""
    data = _encode(shown)
    for length in CUT_LENGTHS:
        if len(data) <= OBJECT_BYTES_MAX:
            return data
        clipped = _clipped(shown, length)
        clipped["metadata"].update(_identity(shown["metadata"]))
        data = _encode({**clipped, "resource": shown["resource"], "cut": True})
    if len(data) > OBJECT_BYTES_MAX:
        data = _encode({"resource": shown["resource"], "metadata": _identity(shown["metadata"]), "cut": True})
    return data


def _identity(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {field: metadata[field] for field in _IDENTITY if field in metadata}


def _clipped(value: Any, length: int) -> Any:
    """Return a JSON value whose texts, lists and mappings are no longer than `length`."""
    if isinstance(value, str):
        return value if len(value) <= length else value[:length] + "…"
    if isinstance(value, list):
        return [_clipped(member, length) for member in value[:length]]
    if isinstance(value, Mapping):
        return {key: _clipped(value[key], length) for key in list(value)[:length]}
    return value
