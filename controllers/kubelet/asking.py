"""What pods ask of their nodes, read once: whether a node that others have filled still takes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from controllers.kubelet.admitting import Refusal, refusal_of_amounts
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import Amounts, amounts
from scheduler_core.snapshot.node_info import PodInfo


class Asking:
    """What each pod asks for, kept until it is gone or asks for something else."""

    def __init__(self) -> None:
        """Begin with empty memory."""
        self._known: dict[str, tuple[Any, Amounts]] = {}
        """Uid of a pod → (its generation, what it asks for)."""

    def refusal(self, pod: Document, taken: Iterable[Document], node: Mapping[str, Any]) -> Refusal | None:
        """Return why a node has no room for a pod beside those that it has taken; None: it has."""
        allocatable = _read(lambda: amounts((node.get("status") or {}).get("allocatable") or {}))
        return refusal_of_amounts(self._of(pod), [self._of(one) for one in taken], allocatable)

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._known.pop(uid, None)

    def _of(self, pod: Document) -> Amounts:
        uid, generation = pod["metadata"]["uid"], pod["metadata"].get("generation")
        known = self._known.get(uid)
        if known is None or known[0] != generation:
            known = self._known[uid] = (generation, _read(lambda: PodInfo.of(pod).requests))
        return known[1]


def _read(sums: Callable[[], Amounts]) -> Amounts:
    """Return amounts; none where somebody has written what is no quantity."""
    try:
        return sums()
    except (ApiError, QuantityError):
        return {}
