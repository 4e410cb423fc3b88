"""A heap of queued pods whose entries can be voided in constant time."""

from __future__ import annotations

import heapq
from typing import Final

from scheduler_core.state.queued import Lane, QueuedPod, SortKey, SortKeyOf

VOID_ENTRIES_MIN: Final = 64
"""Below this size void entries are left in the heap; above it the heap is rebuilt when three in four are void."""


class PodHeap:
    """Queued pods by key. Removal only voids an entry: the pod's `entry` number then differs from the heap's."""

    __slots__ = ("_entries", "_heap", "_key_of", "_lane", "_numbers")

    def __init__(self, lane: Lane, key_of: SortKeyOf) -> None:
        self._heap: list[tuple[SortKey, int, QueuedPod]] = []
        self._key_of = key_of
        self._lane = lane
        self._entries = 0
        self._numbers = 0

    def __len__(self) -> int:
        return self._entries

    def push(self, queued: QueuedPod) -> None:
        """Add the pod, or move it to the place its key now asks for."""
        if queued.heap is not self:
            self._entries += 1
            queued.heap = self
        self._numbers += 1
        queued.lane = self._lane
        queued.entry = self._numbers
        heapq.heappush(self._heap, (self._key_of(queued), self._numbers, queued))

    def remove(self, queued: QueuedPod) -> None:
        """Take the pod out; its entry stays behind as a void one."""
        queued.heap = None
        self._entries -= 1
        if len(self._heap) > VOID_ENTRIES_MIN and self._entries * 4 < len(self._heap):
            self._heap = [entry for entry in self._heap if self._holds(entry)]
            heapq.heapify(self._heap)

    def peek(self) -> QueuedPod | None:
        """Return the first pod without taking it."""
        heap = self._heap
        while heap:
            if self._holds(heap[0]):
                return heap[0][2]
            heapq.heappop(heap)
        return None

    def pop(self) -> QueuedPod | None:
        """Take the first pod."""
        queued = self.peek()
        if queued is not None:
            heapq.heappop(self._heap)
            queued.heap = None
            self._entries -= 1
        return queued

    def _holds(self, entry: tuple[SortKey, int, QueuedPod]) -> bool:
        return entry[2].heap is self and entry[2].entry == entry[1]

    def listed(self, limit: int) -> list[QueuedPod]:
        """Return the first `limit` pods in order."""
        live = [entry for entry in self._heap if self._holds(entry)]
        return [entry[2] for entry in heapq.nsmallest(limit, live, key=lambda entry: entry[:2])]
