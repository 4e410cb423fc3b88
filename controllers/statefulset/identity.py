"""Who a StatefulSet's pods are: ordinals, names, labels, claims. Pure functions over documents.

Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.kit.history import POD_HASH
from controllers.kit.pods import asked_pods, is_available, pod_from_template, ready_since_ms
from controllers.log.store import copy_object
from scheduler_core.api.document import Document

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"

_POD: Final = re.compile(r"(.*)-([0-9]+)")
_ORDINAL_MOST: Final = 2**31 - 1


def parent_and_ordinal(pod: Mapping[str, Any]) -> tuple[str, int]:
    """Return the set's name and the ordinal that a pod's name tells; the ordinal is -1 where it tells none."""
    match = _POD.fullmatch(pod["metadata"]["name"])
    if match is None:
        return "", -1
    number = int(match[2])
    return match[1], number if number <= _ORDINAL_MOST else -1


def ordinal_of(pod: Mapping[str, Any]) -> int:
    """Return the pod's ordinal, -1 where its name tells none."""
    return parent_and_ordinal(pod)[1]


def start_of(owner: Mapping[str, Any]) -> int:
    """Return the set's first ordinal."""
    start: int = (owner["spec"].get("ordinals") or {}).get("start", 0)
    return start


def wanted_of(owner: Mapping[str, Any]) -> int:
    """Return how many pods the set asks for."""
    return asked_pods(owner)


def in_range(pod: Mapping[str, Any], owner: Mapping[str, Any]) -> bool:
    """Return whether the set asks for the pod's ordinal."""
    return start_of(owner) <= ordinal_of(pod) < start_of(owner) + wanted_of(owner)


def revision_of(pod: Mapping[str, Any]) -> str:
    """Return the name of the revision that a pod was made of; empty where it says none."""
    return str((pod["metadata"].get("labels") or {}).get(POD_HASH, ""))


def is_created(pod: Mapping[str, Any]) -> bool:
    """Return whether the API server knows the pod."""
    return bool(phase_of(pod))


def phase_of(pod: Mapping[str, Any]) -> str:
    """Return status.phase; empty for a pod that is yet to be made."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_terminating(pod: Mapping[str, Any]) -> bool:
    """Return whether the pod is on its way out."""
    return "deletionTimestamp" in pod["metadata"]


def is_running_and_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether the pod runs and is ready."""
    return phase_of(pod) == "Running" and ready_since_ms(pod) is not None


def is_unavailable(pod: Mapping[str, Any], owner: Mapping[str, Any], unix_ms: int) -> bool:
    """Return whether the pod is not available, or on its way out."""
    return not is_available(pod, owner["spec"].get("minReadySeconds", 0), unix_ms) or is_terminating(pod)


def claim_name(owner: Mapping[str, Any], template: Mapping[str, Any], ordinal: int) -> str:
    """Return the name of the claim that a template of the set makes for an ordinal."""
    return f"{template['metadata']['name']}-{owner['metadata']['name']}-{ordinal}"


def claim_templates(owner: Mapping[str, Any]) -> list[Document]:
    """Return spec.volumeClaimTemplates."""
    return list(owner["spec"].get("volumeClaimTemplates") or ())


def claims_of(owner: Mapping[str, Any], pod: Mapping[str, Any]) -> list[Document]:
    """Return the claims that a pod of the set needs, as they are made."""
    made = []
    for template in claim_templates(owner):
        claim = copy_object(template)
        claim.pop("status", None)
        metadata = claim["metadata"]
        metadata["name"] = claim_name(owner, template, ordinal_of(pod))
        metadata["namespace"] = owner["metadata"]["namespace"]
        metadata["labels"] = {
            **(metadata.get("labels") or {}),
            **((owner["spec"].get("selector") or {}).get("matchLabels") or {}),
        }
        made.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim})
    return made


def new_pod(owner: Document, ordinal: int, revision: str) -> Document:
    """Return the pod of an ordinal, as it is made of the owner's template, which is that of `revision`."""
    pod = copy_object(pod_from_template(owner["spec"].get("template") or {}, owner))
    name = f"{owner['metadata']['name']}-{ordinal}"
    pod["metadata"] |= {"name": name, "namespace": owner["metadata"]["namespace"]}
    take_identity(pod, owner)
    pod["metadata"]["labels"][POD_HASH] = revision
    pod["spec"]["hostname"] = name
    if owner["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = owner["spec"]["serviceName"]
    take_storage(pod, owner)
    return pod


def take_identity(pod: Document, owner: Mapping[str, Any]) -> None:
    """Give a pod the labels of its ordinal."""
    ordinal = ordinal_of(pod)
    labels = pod["metadata"].setdefault("labels", {})
    labels[POD_NAME] = f"{owner['metadata']['name']}-{ordinal}"
    labels[POD_INDEX] = str(ordinal)


def take_storage(pod: Document, owner: Mapping[str, Any]) -> None:
    """Give a pod the volumes of its claims, in the place of others of their names."""
    volumes: list[Document] = [
        {
            "name": template["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(owner, template, ordinal_of(pod))},
        }
        for template in claim_templates(owner)
    ]
    taken = {volume["name"] for volume in volumes}
    volumes += [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in taken]
    if volumes:
        pod["spec"]["volumes"] = volumes


def has_identity(pod: Mapping[str, Any], owner: Mapping[str, Any]) -> bool:
    """Return whether the pod has the name and the label of a member."""
    parent, ordinal = parent_and_ordinal(pod)
    metadata = pod["metadata"]
    named = (metadata.get("labels") or {}).get(POD_NAME) == metadata["name"]
    return ordinal >= 0 and parent == owner["metadata"]["name"] and named


def has_storage(pod: Mapping[str, Any], owner: Mapping[str, Any]) -> bool:
    """Return whether the pod's volumes are the claims of its ordinal."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    return all(
        ((volumes.get(template["metadata"]["name"]) or {}).get("persistentVolumeClaim") or {}).get("claimName")
        == claim_name(owner, template, ordinal_of(pod))
        for template in claim_templates(owner)
    )


def versioned_pod(current: Document, update: Document, names: tuple[str, str], ordinal: int) -> Document:
    """Return the pod that is missing at an ordinal: of the current revision below the partition, else of the new one.

    Args:
        current: the set at its current revision.
        update: the set at its newest revision.
        names: of these revisions.
        ordinal: whose pod.
    """
    strategy = current["spec"].get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    kept = -1
    if rolling is not None:
        kept = start_of(current) + rolling.get("partition", 0)
    elif strategy.get("type") == "RollingUpdate":
        kept = start_of(current) + (current.get("status") or {}).get("currentReplicas", 0)
    if ordinal < kept:
        return new_pod(current, ordinal, names[0])
    return new_pod(update, ordinal, names[1])
