"""Allocations on their way to the API server, over the claims that the watch has shown.

Source: plugins/dynamicresources/dra_manager.go (claimTracker). While a pod that has been given devices is bound, its
claims are pending: their devices are taken, and no other pod may use the claims yet. What the API server has kept then
counts as seen until the watch shows it or something newer. All profiles of a scheduler share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.api.document import FrozenDocument
from scheduler_core.devices.claims import CLAIMS, allocation_of, devices_in, key_of
from scheduler_core.framework.interface import Listers

DeviceId = tuple[str, str, str]
"""Driver, pool, name."""

Pending = Mapping[str, Any]
"""What is on its way, as a `CycleInput` holds it: `uid` and `allocation` of a pending claim, or `kept`, the claim as
written."""


@dataclass(frozen=True, slots=True)
class _Promise:
    uid: str
    allocation: Mapping[str, Any]


class Allocations:
    """The claims of a cluster as a scheduler has to see them."""

    def __init__(self, actual: Listers, known: Mapping[str, Pending] | None = None) -> None:
        """Lie over listers.

        Args:
            actual: what the watch has shown.
            known: `namespace/name` of a claim → what a `CycleInput` says was on its way.
        """
        self._actual = actual
        self._promised: dict[str, _Promise] = {}
        self._kept: dict[str, FrozenDocument] = {}
        for key, pending in (known or {}).items():
            if "kept" in pending:
                self._kept[key] = pending["kept"]
            else:
                self._promised[key] = _Promise(pending["uid"], pending["allocation"])

    def get(self, namespace: str, name: str) -> FrozenDocument | None:
        """Return a claim."""
        document = self._actual.get(CLAIMS, namespace, name)
        return document if not self._kept else self._over(f"{namespace}/{name}", document)

    def list(self) -> Sequence[FrozenDocument]:
        """Return all claims."""
        documents = self._actual.list(CLAIMS)
        if not self._kept:
            return documents
        return [self._over(key_of(document), document) or document for document in documents]

    def _over(self, key: str, document: FrozenDocument | None) -> FrozenDocument | None:
        kept = self._kept.get(key)
        if kept is None:
            return document
        if document is None or _version(document) >= _version(kept):
            del self._kept[key]
            return document
        return kept

    def is_pending(self, claim: FrozenDocument) -> bool:
        """Return whether devices for this claim are on their way."""
        promise = self._promised.get(key_of(claim))
        return promise is not None and promise.uid == claim["metadata"].get("uid")

    def taken(self) -> set[DeviceId]:
        """Return the devices that claims have, or are about to have."""
        found = {device for claim in self.list() for device in devices_in(allocation_of(claim) or {})}
        for promise in self._promised.values():
            found.update(devices_in(promise.allocation))
        return found

    def promise(self, claim: FrozenDocument, allocation: Mapping[str, Any]) -> None:
        """Give devices to a claim, which the API server is to be told of."""
        self._promised[key_of(claim)] = _Promise(str(claim["metadata"].get("uid", "")), allocation)

    def withdraw(self, claim: FrozenDocument) -> None:
        """Let go of what was promised, because it is written or because it is not to be."""
        if self.is_pending(claim):
            del self._promised[key_of(claim)]

    def keep(self, claim: FrozenDocument) -> None:
        """Take a claim as the API server has kept it, until the watch shows it."""
        self._kept[key_of(claim)] = claim

    @property
    def under_way(self) -> dict[str, dict[str, Any]]:
        """Return `namespace/name` → what is on its way now, for a `CycleInput`."""
        if not self._promised and not self._kept:
            return {}
        found: dict[str, dict[str, Any]] = {}
        for key in list(self._kept):
            namespace, _, name = key.partition("/")
            self.get(namespace, name)
            if key in self._kept:
                found[key] = {"kept": self._kept[key]}
        for key, promise in self._promised.items():
            found[key] = {"uid": promise.uid, "allocation": promise.allocation}
        return found


def _version(document: FrozenDocument) -> int:
    text = str(document["metadata"].get("resourceVersion") or "0")
    return int(text) if text.isdecimal() else 0
