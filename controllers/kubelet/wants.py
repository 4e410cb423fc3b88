"""What pods wait for that is not there: claims, ConfigMaps and Secrets, and Services that answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controllers.kinds.core.service_names import SERVICE_NAME
from controllers.kit.informer import Informers
from controllers.kubelet.mounting import (
    objects_of_environment,
    objects_of_volumes,
    singular,
    why_not_made,
    why_not_mounted,
)
from controllers.kubelet.needs import SLICES, Need, is_there
from scheduler_core.api.document import Document

SERVICE: Final = "service"
"""The index of slices by their Service."""


class Wants:
    """Which pods wait for what; each for one object at a time, the first that it lacks."""

    def __init__(self, informers: Informers) -> None:
        """Nobody waits yet.

        Args:
            informers: over claims, ConfigMaps, Secrets, Services and slices.
        """
        self._informers = informers
        self._wanted: dict[str, tuple[str, str]] = {}
        """Uid of a pod → (namespace, name) of the object that it waits for."""
        informers[SLICES].add_index(SERVICE, service_of_slice)

    def not_mounted(self, pod: Document) -> str:
        """Return why a pod's volumes are not there; empty where they are."""
        why = why_not_mounted(pod, self._informers["persistentvolumeclaims"])
        if why:
            return why
        for volume, resource, name, keys in objects_of_volumes(pod):
            found = self._informers[resource].get(pod["metadata"]["namespace"], name)
            why = why_not_made(found, resource, name, keys)
            if why:
                self._want(pod, name)
                return f'MountVolume.SetUp failed for volume "{volume}" : {why}'
        return ""

    def not_configured(self, pod: Document, container: Mapping[str, Any]) -> str:
        """Return what a container's environment lacks; empty: nothing."""
        namespace = pod["metadata"]["namespace"]
        for resource, name, key in objects_of_environment(container):
            found = self._informers[resource].get(namespace, name)
            if found is None:
                self._want(pod, name)
                return f'{singular(resource)} "{name}" not found'
            if key and not any(key in (found.get(part) or {}) for part in ("data", "binaryData", "stringData")):
                self._want(pod, name)
                kind = "ConfigMap" if resource == "configmaps" else "Secret"
                return f"couldn't find key {key} in {kind} {namespace}/{name}"
        return ""

    def lacks(self, pod: Document, needs: Iterable[Need]) -> bool:
        """Return whether one of the Services is not there that a pod's container needs."""
        for need in needs:
            slices = self._informers[SLICES].indexed(SERVICE, f"{need.namespace}/{need.name}")
            if not is_there(need, self._informers["services"].get, slices):
                self._wanted[pod["metadata"]["uid"]] = (need.namespace, need.name)
                return True
        return False

    def _want(self, pod: Document, name: str) -> None:
        metadata = pod["metadata"]
        self._wanted[metadata["uid"]] = (metadata["namespace"], name)

    def waiting_for(self, namespace: str, name: str) -> list[str]:
        """Return the uids of pods that wait for an object of this name, of whatever kind."""
        return [uid for uid, place in self._wanted.items() if place == (namespace, name)]

    def forget(self, uid: str) -> None:
        """A pod waits no more, or is looked at anew."""
        self._wanted.pop(uid, None)

    def __bool__(self) -> bool:
        """Return whether anybody waits."""
        return bool(self._wanted)


def service_of_slice(slice_: Document) -> list[str]:
    """Return the Service of a slice, `namespace/name`; empty: it has none."""
    metadata = slice_["metadata"]
    name = (metadata.get("labels") or {}).get(SERVICE_NAME)
    return [f"{metadata['namespace']}/{name}"] if name else []
