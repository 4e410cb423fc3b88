"""What expressions get to see: the parts of pods and nodes that they read, as JSON values, with their sizes.

Only what is read is handed over: whole documents would be converted for every node. A member that is not written, or
has the value that counts as not written (empty, false), is absent, as in documents that the API server keeps; labels,
spec and the like may so be missing, `metadata`, `spec` and `status` never are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from scheduler_core.api.meta import View
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.cel.check import COUNT
from scheduler_core.cel.language import Program, Size
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo

CHARS_PER_VALUE: Final = 64
"""Characters of text that weigh as much as one value."""

DOCUMENTS_MAX: Final = 100_000
"""Nodes, and pods, whose parts are kept between questions; past it all are dropped and made again."""

_SECTIONS: Final = ("metadata", "spec", "status")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.decode

_Sized = tuple[Any, Size]


def measure(value: Any) -> Size:
    """Return the size of a JSON value."""
    values = longest = text = 0
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            values += 1 + len(one) // CHARS_PER_VALUE
            text = max(text, len(one))
            continue
        values += 1
        if isinstance(one, dict):
            longest = max(longest, len(one))
            left.extend(one)
            left.extend(one.values())
        elif isinstance(one, list):
            longest = max(longest, len(one))
            left.extend(one)
    return Size(values, longest, -(-text // CHARS_PER_VALUE))


def _together(inner: Sequence[Size], length: int) -> Size:
    """Return the size of a list of that length."""
    longest = max((one.longest for one in inner), default=0)
    text = max((one.text for one in inner), default=0)
    return Size(1 + sum(one.values for one in inner), max(length, longest), text)


@cache
def _names(of: type[Pod] | type[Node]) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """Return the sections of a pod or node, each with member → attribute: msgspec works them out anew when asked."""
    return tuple(
        (section, {field.encode_name: field.name for field in msgspec.structs.fields(of_section.type)})
        for section, of_section in zip(_SECTIONS, msgspec.structs.fields(of), strict=True)
    )


class _Parts:
    """Which members of a pod or node are read."""

    def __init__(self, of: type[Pod] | type[Node], paths: Iterable[tuple[str, ...]]) -> None:
        kept = set(paths)
        self._whole = () in kept
        self._sections: list[tuple[str, list[tuple[str, str]] | None]] = []
        for section, names in _names(of):
            if (section,) in kept:
                self._sections.append((section, None))
            else:
                members = sorted(path[1] for path in kept if len(path) == 2 and path[0] == section)
                self._sections.append((section, [(member, names[member]) for member in members]))

    def take(self, document: Pod | Node) -> _Sized:
        """Return what is read of a document, as JSON values, and its size."""
        taken: dict[str, Any] = {}
        for section, members in self._sections:
            whole: View = getattr(document, section)
            if members is None or self._whole:
                taken[section] = _decode(_encode(whole))
                continue
            part = taken[section] = {}
            for member, attribute in members:
                value = getattr(whole, attribute)
                # A number that is written counts, 0 too.
                if value is not None and value is not False and value not in ("", {}, ()):
                    part[member] = value if isinstance(value, str | int) else _decode(_encode(value))
        return taken, measure(taken)


def _amounts(*known: Mapping[str, int]) -> dict[str, int]:
    """Return the last of the maps, with 0 for what only the others have."""
    numbers = dict.fromkeys((resource for one in known[:-1] for resource in one), 0)
    return {**numbers, **known[-1]}


_BASE: Final[Mapping[str, int]] = {"cpu": 0, "memory": 0, "ephemeral-storage": 0}


class Documents:
    """What a set of expressions reads, made once an object and kept while the object stays the same."""

    def __init__(self, programs: Iterable[Program]) -> None:
        reads = {one for program in programs for one in program.reads}
        self._roots = {root for root, _ in reads}
        self._pod = _Parts(Pod, (path for root, path in reads if root == "pod"))
        self._node = _Parts(Node, (path for root, path in reads if root == "node"))
        self._running = _Parts(Pod, (path for root, path in reads if root == "pods" and path != COUNT))
        self._nodes: dict[str, tuple[Node | None, _Sized]] = {}
        self._pods: dict[str, tuple[tuple[PodInfo, ...], _Sized]] = {}
        self._each: dict[str, tuple[Pod, _Sized]] = {}

    def of_pod(self, pod: PodInfo) -> tuple[dict[str, Any], Size]:
        """Return the variables that are about the pod to place."""
        found: dict[str, Any] = {}
        if "pod" in self._roots:
            found["pod"], _ = self._pod.take(pod.pod)
        if "requests" in self._roots:
            found["requests"] = _amounts(_BASE, pod.asked)
        return found, measure(found)

    def of_node(self, info: NodeInfo) -> tuple[dict[str, Any], Size]:
        """Return the variables that are about one node and the pods on it."""
        alone, size = self._of_node_alone(info)
        found: dict[str, Any] = {**alone}
        if "requested" in self._roots:
            found["requested"] = _amounts(info.allocatable, _BASE, info.requested)
            size = size.with_(measure(found["requested"]))
        if "pods" in self._roots:
            found["pods"], own = self._of_pods(info)
            size = size.with_(own)
        return found, size

    def _of_node_alone(self, info: NodeInfo) -> _Sized:
        kept = self._nodes.get(info.name)
        if kept is None or kept[0] is not info.node:
            found: dict[str, Any] = {}
            if "node" in self._roots:
                found["node"], _ = self._node.take(info.node or Node())
            if "allocatable" in self._roots:
                found["allocatable"] = _amounts(_BASE, info.allocatable)
            kept = _keep(self._nodes, info.name, (info.node, (found, measure(found))))
        return kept[1]

    def _of_pods(self, info: NodeInfo) -> _Sized:
        kept = self._pods.get(info.name)
        if kept is None or kept[0] is not info.pods:
            each = [self._of_running(pod) for pod in info.pods]
            sized = [one for one, _ in each], _together([size for _, size in each], len(each))
            kept = _keep(self._pods, info.name, (info.pods, sized))
        return kept[1]

    def _of_running(self, pod: PodInfo) -> _Sized:
        kept = self._each.get(pod.uid)
        if kept is None or kept[0] is not pod.pod:
            kept = _keep(self._each, pod.uid, (pod.pod, self._running.take(pod.pod)))
        return kept[1]


_Kept = TypeVar("_Kept")


def _keep(memory: dict[str, _Kept], key: str, value: _Kept) -> _Kept:
    if len(memory) >= DOCUMENTS_MAX:
        memory.clear()
    memory[key] = value
    return value
