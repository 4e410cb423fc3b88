"""Binding a pod's claims: what was chosen on each node, taking it, writing it, waiting for it.

Source: `plugins/volumebinding/binder.go` (AssumePodVolumes, BindPodVolumes, checkBindings).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.pod import Pod
from scheduler_core.api.selectors import compile_selector
from scheduler_core.api.storage import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
)
from scheduler_core.framework.asks import PatchObject, Sleep
from scheduler_core.framework.interface import Steps
from scheduler_core.framework.status import SUCCESS, error
from scheduler_core.volumes.assumed import CLAIMS, VOLUMES, AssumedObjects, Place, version_of
from scheduler_core.volumes.migration import translated_affinity
from scheduler_core.volumes.objects import MissingError, StorageObjects

POLL_MS: Final = 1_000
"""How often bindings under way are looked at, as upstream polls them."""


class BindingError(ValueError):
    """A binding that cannot be done; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pod's claims would get on one node.

    Attributes:
        found: (name of a volume, claim that takes it).
        made: claims whose volume is to be made there.
    """

    found: tuple[tuple[str, PersistentVolumeClaim], ...] = ()
    made: tuple[PersistentVolumeClaim, ...] = ()


def assume(choice: Choice, node_name: str, assumed: AssumedObjects, versions: Mapping[Place, str]) -> None:
    """Take a choice for the pod: later cycles see its volumes bound, and its claims meant for the node.

    Args:
        choice: what Filter found on the node.
        node_name: the node.
        assumed: takes it.
        versions: of the volumes and claims that the choice was made on.

    Raises:
        BindingError: something is gone, or has changed since; nothing is taken then.
    """
    objects = StorageObjects(assumed)
    try:
        for name, claim in choice.found:
            volume = _volume(objects, name)
            if not _is_kept(volume, claim):
                _check_version((VOLUMES, "", name), "PersistentVolume", assumed, versions)
                assumed.assume_volume(name, _reference(claim))
        for claim in choice.made:
            place = (CLAIMS, claim.metadata.namespace or "default", claim.metadata.name)
            _check_version(place, "PersistentVolumeClaim", assumed, versions)
            assumed.assume_claim(claim.metadata.namespace or "default", claim.metadata.name, node_name)
    except LookupError as missing:
        revert(choice, assumed)
        raise BindingError(str(missing)) from missing
    except BindingError:
        revert(choice, assumed)
        raise


def _check_version(place: Place, kind: str, assumed: AssumedObjects, versions: Mapping[Place, str]) -> None:
    document = assumed.get(*place)
    stored, seen = "" if document is None else version_of(document), versions.get(place, "")
    if seen and stored and int(seen) < int(stored):
        name = f"{place[1]}/{place[2]}" if place[1] else place[2]
        raise BindingError(f'v1.{kind} "{name}" is out of sync (stored: {stored}, assume: {seen})')


def revert(choice: Choice, assumed: AssumedObjects) -> None:
    """Give everything back."""
    for name, _ in choice.found:
        assumed.restore(VOLUMES, "", name)
    for claim in choice.made:
        assumed.restore(CLAIMS, claim.metadata.namespace or "default", claim.metadata.name)


def bind(choice: Choice, pod: Pod, node_name: str, timeout_ms: int, assumed: AssumedObjects) -> Steps:
    """Write what was chosen, and wait until everything is bound; return what came of it."""
    for write in _writes(choice, node_name, assumed):
        reply = yield write
        if reply.error:
            return error(reply.error)
    actual = StorageObjects(assumed.actual)
    for _ in range(timeout_ms // POLL_MS):
        yield Sleep(POLL_MS)
        try:
            if _is_done(choice, pod, node_name, actual, assumed):
                return SUCCESS
        except BindingError as wrong:
            return error(f"binding volumes: {wrong}")
    return error("binding volumes: context deadline exceeded")


def _reference(claim: PersistentVolumeClaim) -> dict[str, str]:
    """Return what names this very claim, in the version that was looked at."""
    meta = claim.metadata
    version = {"resourceVersion": meta.resource_version} if meta.resource_version else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta.namespace or "default",
        "name": meta.name,
        "uid": meta.uid,
        **version,
    }


def _is_kept(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether the volume names this very claim already."""
    return volume.belongs_to(claim) and volume.spec.claim_ref is not None and bool(volume.spec.claim_ref.uid)


def _writes(choice: Choice, node_name: str, assumed: AssumedObjects) -> list[PatchObject]:
    """Return the writes, each bound to the version that the choice was made on."""
    writes: list[PatchObject] = []
    for name, claim in choice.found:
        document = assumed.actual.get(VOLUMES, "", name) or {}
        reference = (document.get("spec") or {}).get("claimRef") or {}
        if reference.get("uid") == claim.metadata.uid:
            continue
        patch: dict[str, Any] = {"metadata": _version(document), "spec": {"claimRef": _reference(claim)}}
        if not reference:
            patch["metadata"]["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        writes.append(PatchObject(VOLUMES, "", name, patch))
    for claim in choice.made:
        namespace, name = claim.metadata.namespace or "default", claim.metadata.name
        document = assumed.actual.get(CLAIMS, namespace, name) or {}
        metadata = {**_version(document), "annotations": {SELECTED_NODE: node_name}}
        writes.append(PatchObject(CLAIMS, namespace, name, {"metadata": metadata}))
    return writes


def _version(document: Mapping[str, Any]) -> dict[str, Any]:
    meta = document.get("metadata") or {}
    return {"resourceVersion": meta["resourceVersion"]} if meta.get("resourceVersion") else {}


def _is_done(choice: Choice, pod: Pod, node_name: str, actual: StorageObjects, assumed: AssumedObjects) -> bool:
    """Return whether all claims are bound.

    Raises:
        BindingError: they never will be, or not where the pod is.
    """
    node = assumed.actual.get("nodes", "", node_name)
    if node is None:
        raise BindingError(f'failed to get node "{node_name}": node "{node_name}" not found')
    current = assumed.actual.get("pods", pod.namespace, pod.name)
    if current is None or current["metadata"].get("uid") != pod.metadata.uid:
        raise BindingError(f'pod does not exist any more: pod "{pod.name}" not found')
    labels = node["metadata"].get("labels") or {}
    csi_node = actual.csi_node(node_name)
    for name, claim in choice.found:
        try:
            volume, bound = _volume(actual, name), _claim(actual, pod, claim).is_bound
        except LookupError as missing:
            raise BindingError(f"failed to check binding: {missing}") from missing
        # A write that the watch has not shown yet is no reason to give up.
        if assumed.get(VOLUMES, "", name) is not assumed.actual.get(VOLUMES, "", name):
            return False
        _check_reach(volume, labels, node_name, csi_node)
        if not volume.spec.claim_ref or not volume.spec.claim_ref.uid:
            raise BindingError(f'ClaimRef got reset for pv "{name}"')
        if not bound:
            return False
    return all(_is_made(claim, pod, node_name, labels, actual, assumed) for claim in choice.made)


def _is_made(
    claim: PersistentVolumeClaim,
    pod: Pod,
    node_name: str,
    labels: Mapping[str, str],
    actual: StorageObjects,
    assumed: AssumedObjects,
) -> bool:
    name = claim.metadata.name
    try:
        current = _claim(actual, pod, claim)
    except LookupError as missing:
        raise BindingError(f"failed to check provisioning pvc: {missing}") from missing
    if assumed.get(CLAIMS, pod.namespace, name) is not assumed.actual.get(CLAIMS, pod.namespace, name):
        return False
    if not current.metadata.annotations:
        raise BindingError(f'selectedNode annotation reset for PVC "{name}"')
    if current.metadata.annotations.get(SELECTED_NODE) != node_name:
        # A provisioner that fails takes the annotation away: the scheduler is to look for another place.
        raise BindingError(f'provisioning failed for PVC "{name}"')
    if current.spec.volume_name:
        try:
            volume = actual.volume(current.spec.volume_name)
        except MissingError:
            return False
        _check_reach(volume, labels, node_name, actual.csi_node(node_name))
    return current.is_bound


def _volume(objects: StorageObjects, name: str) -> PersistentVolume:
    try:
        return objects.volume(name)
    except MissingError as missing:
        raise LookupError(f'could not find v1.PersistentVolume "{name}"') from missing


def _claim(objects: StorageObjects, pod: Pod, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    try:
        return objects.claim(pod.namespace, claim.metadata.name)
    except MissingError as missing:
        raise LookupError(f'could not find v1.PersistentVolumeClaim "{claim.key}"') from missing


def _check_reach(volume: PersistentVolume, labels: Mapping[str, str], node_name: str, csi_node: CSINode | None) -> None:
    required = translated_affinity(volume, csi_node)
    if required is not None and not any(term.matches("", labels) for term in compile_selector(required)):
        where = f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node_name}"'
        raise BindingError(f"{where}: no matching NodeSelectorTerms")
