"""What pods on their way to a node have taken before the API server knows: volumes, nodes, devices.

Source: `plugins/volumebinding/assume_cache.go`. An assumption lies over the object that the watch has shown and holds
until the watch shows a newer one, or until it is given back. All profiles of a scheduler share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.storage import BOUND_BY_CONTROLLER, SELECTED_NODE
from scheduler_core.devices.allocations import Allocations, Pending
from scheduler_core.devices.claims import CLAIMS as DEVICE_CLAIMS
from scheduler_core.framework.interface import Listers, Versioned

CLAIMS: Final = "persistentvolumeclaims"
VOLUMES: Final = "persistentvolumes"

Place = tuple[str, str, str]
"""Resource, namespace (empty for volumes), name."""


@dataclass(slots=True)
class _Assumed:
    """One assumption: the version of the object that it lies over (None: whichever), what is assumed, the outcome."""

    version: str | None
    value: Any
    document: FrozenDocument | None = None


class AssumedObjects:
    """`Listers` that show claims and volumes as they will be once the bindings under way are done."""

    def __init__(
        self,
        actual: Listers,
        volumes: Mapping[str, Mapping[str, str]] | None = None,
        claims: Mapping[str, str] | None = None,
        devices: Mapping[str, Pending] | None = None,
    ) -> None:
        """Lie over listers, with what a `CycleInput` says was assumed.

        Args:
            actual: what the watch has shown.
            volumes: name of a volume → the claim that it is kept for, as `claimRef`.
            claims: `namespace/name` of a claim → the node for which its volume is to be made.
            devices: `namespace/name` of a ResourceClaim → what of its devices is on its way.
        """
        self.actual = actual
        self.devices = Allocations(actual, devices)
        self._version = actual.version if isinstance(actual, Versioned) else None
        self._assumed: dict[Place, _Assumed] = {}
        for name, reference in (volumes or {}).items():
            self._assumed[VOLUMES, "", name] = _Assumed(None, dict(reference))
        for key, node_name in (claims or {}).items():
            namespace, _, name = key.partition("/")
            self._assumed[CLAIMS, namespace, name] = _Assumed(None, node_name)

    def version(self, resources: Sequence[str]) -> int | None:
        """Return the listers' version of resources of which nothing is ever assumed."""
        return self._version(resources) if self._version is not None else None

    def get(self, resource: str, namespace: str, name: str) -> FrozenDocument | None:
        """Return one document, as assumed."""
        if resource == DEVICE_CLAIMS:
            return self.devices.get(namespace, name)
        document = self.actual.get(resource, namespace, name)
        place = (resource, namespace, name)
        return document if place not in self._assumed else self._over(place, document)

    def list(self, resource: str) -> Sequence[FrozenDocument]:
        """Return all documents of a group resource, as assumed."""
        if resource == DEVICE_CLAIMS:
            return self.devices.list()
        documents = self.actual.list(resource)
        if not any(place[0] == resource for place in self._assumed):
            return documents
        shown = []
        for document in documents:
            meta = document["metadata"]
            place = (resource, meta.get("namespace", ""), meta["name"])
            over = self._over(place, document) if place in self._assumed else document
            shown.append(over if over is not None else document)
        return shown

    def _over(self, place: Place, document: FrozenDocument | None) -> FrozenDocument | None:
        """Return the document with what is assumed of it; an assumption that is overtaken is dropped."""
        known = self._assumed[place]
        if document is None or known.version not in (None, version_of(document)):
            del self._assumed[place]
            return document
        if known.document is None:
            over = _kept_for if place[0] == VOLUMES else _meant_for
            known.document = over(document, known.value)
        return known.document

    def assume_volume(self, name: str, reference: Mapping[str, str]) -> None:
        """Keep a volume for a claim.

        Args:
            name: the volume's.
            reference: the claim as `claimRef`: namespace, name, uid.

        Raises:
            LookupError: there is no such volume.
        """
        self._assume((VOLUMES, "", name), "PersistentVolume", dict(reference))

    def assume_claim(self, namespace: str, name: str, node_name: str) -> None:
        """Have a claim's volume made for a node.

        Raises:
            LookupError: there is no such claim.
        """
        self._assume((CLAIMS, namespace, name), "PersistentVolumeClaim", node_name)

    def _assume(self, place: Place, kind: str, value: Any) -> None:
        document = self.actual.get(*place)
        if document is None:
            name = f"{place[1]}/{place[2]}" if place[1] else place[2]
            raise LookupError(f'could not find v1.{kind} "{name}"')
        self._assumed[place] = _Assumed(version_of(document), value)

    def restore(self, resource: str, namespace: str, name: str) -> None:
        """Give an object back: it is again as the watch shows it."""
        self._assumed.pop((resource, namespace, name), None)

    def _standing(self, resource: str) -> dict[Place, Any]:
        found: dict[Place, Any] = {}
        if not self._assumed:
            return found
        for place in [place for place in self._assumed if place[0] == resource]:
            value = self._assumed[place].value
            self.get(*place)
            if place in self._assumed:
                found[place] = value
        return found

    @property
    def volumes(self) -> dict[str, dict[str, str]]:
        """Return volume → claim, of what is assumed now."""
        return {name: dict(reference) for (_, _, name), reference in self._standing(VOLUMES).items()}

    @property
    def claims(self) -> dict[str, str]:
        """Return claim → node, of what is assumed now."""
        return {f"{namespace}/{name}": node for (_, namespace, name), node in self._standing(CLAIMS).items()}


def version_of(document: FrozenDocument) -> str:
    """Return an object's resourceVersion, empty where it has none."""
    return str(document["metadata"].get("resourceVersion", ""))


def _annotated(document: FrozenDocument, key: str, value: str) -> dict[str, Any]:
    metadata = document["metadata"]
    annotations = {**(metadata.get("annotations") or {}), key: value}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def _kept_for(volume: FrozenDocument, reference: Mapping[str, str]) -> FrozenDocument:
    """Return the volume bound to a claim; who chose it is only said of a volume that nobody had kept for the claim."""
    spec = volume.get("spec") or {}
    changed = _annotated(volume, BOUND_BY_CONTROLLER, "yes") if not spec.get("claimRef") else dict(volume)
    return {**changed, "spec": {**spec, "claimRef": {**(spec.get("claimRef") or {}), **reference}}}


def _meant_for(claim: FrozenDocument, node_name: str) -> FrozenDocument:
    return _annotated(claim, SELECTED_NODE, node_name)
