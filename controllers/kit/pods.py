"""What every workload controller asks about pods: active, ready, available, and which to delete first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any, Final

from controllers.log.operations import Patch
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import ENDED_PHASES, Document, condition

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
WORKLOAD_PODS_MAX: Final = 20_000
"""Pods that are made of one workload, whatever it asks for. A session shows 10,000 pods well; a slip of the finger must
not make a billion."""

_PHASE_ORDER: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def asked_pods(owner: Mapping[str, Any]) -> int:
    """Return how many pods a workload gets: as many as it asks for, within what a session holds."""
    return min(int(owner["spec"].get("replicas", 1)), WORKLOAD_PODS_MAX)


def is_active(pod: Mapping[str, Any]) -> bool:
    """Return whether the pod counts: not finished, not on its way out."""
    # As `has_ended` finds it, whose call would be half of this: it is asked of every pod of a workload.
    status = pod.get("status")
    return "deletionTimestamp" not in pod["metadata"] and not (status and status.get("phase") in ENDED_PHASES)


def ready_since_ms(pod: Mapping[str, Any]) -> int | None:
    """Return Unix milliseconds since when the pod is ready; None where it is not."""
    # As `condition` finds it, whose call would be half of this: it is asked of every pod of a workload.
    for told in (pod.get("status") or {}).get("conditions") or ():
        if told.get("type") == "Ready":
            since = told.get("lastTransitionTime")
            return None if told.get("status") != "True" else unix_ms_of(since) if since else 0
    return None


def is_available(pod: Mapping[str, Any], min_ready_seconds: int, unix_ms: int) -> bool:
    """Return whether the pod has been ready for long enough."""
    return is_long_enough(ready_since_ms(pod), min_ready_seconds, unix_ms)


def is_long_enough(since_ms: int | None, min_ready_seconds: int, unix_ms: int) -> bool:
    """Return whether a pod that is ready since then (None: it is not) has been so for long enough."""
    return since_ms is not None and (min_ready_seconds == 0 or since_ms + min_ready_seconds * 1000 <= unix_ms)


def controller_of(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the owner reference of the controlling owner."""
    for reference in document["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Mapping[str, Any] = reference
            return found
    return None


def disruption(pod: Mapping[str, Any], reason: str, message: str, unix_ms: int) -> Document:
    """Return the condition that says why somebody makes a pod end, to be patched into its status."""
    known = condition(pod, "DisruptionTarget") or {}
    since = known.get("lastTransitionTime") if known.get("status") == "True" else None
    return {
        "type": "DisruptionTarget",
        "observedGeneration": pod["metadata"].get("generation", 1),
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": since or wire_time(unix_ms),
        "reason": reason,
        "message": message,
    }


def status_patch(pod: Mapping[str, Any], status: Document) -> Patch:
    """Return the patch that puts parts into a pod's status, conditions by their types.

    Its kubelet and others write the same status: what they have written meanwhile stays (upstream's pkg/util/pod,
    PatchPodStatus).
    """
    metadata = pod["metadata"]
    body = {"metadata": {"uid": metadata["uid"]}, "status": status}
    return Patch("pods", metadata["namespace"], metadata["name"], body, "strategic", "status")


def claims_of_pod(pod: Mapping[str, Any]) -> Iterable[str]:
    """Yield `namespace/name` of every claim that a pod uses."""
    for _, key in volumes_of_claims(pod):
        yield key


def volumes_of_claims(pod: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield (name of the volume, `namespace/name` of the claim) of every volume of a pod that is a claim."""
    metadata = pod["metadata"]
    namespace = metadata.get("namespace") or "default"
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        source = volume.get("persistentVolumeClaim")
        if source is not None:
            yield volume["name"], f"{namespace}/{source.get('claimName', '')}"
        elif volume.get("ephemeral") is not None:
            yield volume["name"], f"{namespace}/{metadata['name']}-{volume['name']}"


def owner_reference(owner: Mapping[str, Any]) -> Document:
    """Return the reference that makes `owner` the controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from_template(template: Mapping[str, Any], owner: Mapping[str, Any]) -> Document:
    """Return the pod that a workload's template asks for, controlled by the workload; its parts are the template's.

    Source: `GetPodFromTemplate`, k8s.io/kubernetes/pkg/controller/controller_utils.go.
    """
    given = template.get("metadata") or {}
    metadata = {field: given[field] for field in ("labels", "annotations", "finalizers") if given.get(field)}
    metadata["generateName"] = owner["metadata"]["name"] + "-"
    metadata["ownerReferences"] = [owner_reference(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def deletion_order(pods: Sequence[Document], ranks: Mapping[str, int], unix_ms: int) -> list[Document]:
    """Return the pods with the first to delete in front.

    Args:
        pods: candidates.
        ranks: node name → how many related pods run there; more is deleted first.
        unix_ms: the present wire time.

    Source: `ActivePodsWithRanks`, k8s.io/kubernetes/pkg/controller/controller_utils.go.
    """

    def compare(one: Document, other: Document) -> int:
        return _compare(one, other, ranks, unix_ms)

    return sorted(pods, key=cmp_to_key(compare))


def _compare(one: Document, other: Document, ranks: Mapping[str, int], unix_ms: int) -> int:
    first, second = _sort_fields(one, ranks), _sort_fields(other, ranks)
    if first != second:
        return -1 if first < second else 1
    ready_one, ready_other = ready_since_ms(one), ready_since_ms(other)
    if ready_one is not None and ready_other is not None and ready_one != ready_other:
        return _compare_ages(ready_one, ready_other, unix_ms) or _by_uid(one, other)
    restarts = _restarts(other) - _restarts(one)
    if restarts:
        return restarts
    made_one, made_other = _created_ms(one), _created_ms(other)
    if made_one != made_other:
        return _compare_ages(made_one, made_other, unix_ms) or _by_uid(one, other)
    return _by_uid(one, other)


def _sort_fields(pod: Document, ranks: Mapping[str, int]) -> tuple[int, int, int, int, int]:
    node = pod["spec"].get("nodeName") or ""
    phase = (pod.get("status") or {}).get("phase") or "Pending"
    return (
        1 if node else 0,
        _PHASE_ORDER.get(phase, 2),
        0 if ready_since_ms(pod) is None else 1,
        _deletion_cost(pod),
        -ranks.get(node, 0),
    )


def _deletion_cost(pod: Document) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0


def _compare_ages(one_ms: int, other_ms: int, unix_ms: int) -> int:
    """Compare ages in powers of two: the younger goes first, about the same age is undecided."""
    return _age_rank(one_ms, unix_ms) - _age_rank(other_ms, unix_ms)


def _age_rank(since_ms: int, unix_ms: int) -> int:
    age_ns = (unix_ms - since_ms) * 1_000_000
    return age_ns.bit_length() - 1 if age_ns > 0 else -1


def _by_uid(one: Document, other: Document) -> int:
    return -1 if one["metadata"]["uid"] < other["metadata"]["uid"] else 1


def _restarts(pod: Document) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((int(status.get("restartCount", 0)) for status in statuses), default=0)


def _created_ms(pod: Document) -> int:
    return unix_ms_of(pod["metadata"]["creationTimestamp"])
