"""Distributing addresses over slices of limited size, with as few writes as can be.

Source: k8s.io/endpointslice (reconciler.go), k8s.io/endpointslice/util (endpointset.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any

from controllers.kit.hashing import printed
from scheduler_core.api.document import Document

EndpointKey = tuple[tuple[str, ...], str, str, str]
PortsKey = tuple[tuple[str, str, int | None, str], ...]


@dataclass(slots=True)
class Changes:
    """What has to be written: whole slices. A new one has no name yet."""

    create: list[Document] = field(default_factory=list)
    update: list[Document] = field(default_factory=list)
    delete: list[Document] = field(default_factory=list)

    def add(self, other: Changes) -> None:
        """Take the changes of another part."""
        self.create += other.create
        self.update += other.update
        self.delete += other.delete

    def recycle(self, may: Callable[[Document], bool]) -> None:
        """Let new slices take the place of those that would go and `may`, where the kind of address is the same."""
        kept: list[Document] = []
        for old in self.delete:
            new = self.create[-1] if self.create else None
            if new is None or new["addressType"] != old["addressType"] or not may(old):
                kept.append(old)
                continue
            self.update.append(renamed(self.create.pop(), old))
        self.delete = kept


def renamed(new: Document, old: Document) -> Document:
    """Return a new slice's content in the place of an old one."""
    metadata = {**old["metadata"], **new["metadata"]}
    return {**old, **new, "metadata": {**metadata, "annotations": new["metadata"].get("annotations") or {}}}


def endpoint_key(endpoint: Mapping[str, Any]) -> EndpointKey:
    """Return what makes an address the same one: where it is, and whose."""
    target = endpoint.get("targetRef") or {}
    where = tuple(sorted(endpoint["addresses"]))
    return (where, endpoint.get("hostname") or "", target.get("namespace") or "", target.get("name") or "")


def ports_key(ports: Iterable[Mapping[str, Any]] | None) -> PortsKey:
    """Return what makes a set of ports the same one."""
    found = [
        (port.get("name") or "", port.get("protocol") or "TCP", port.get("port"), port.get("appProtocol") or "")
        for port in ports or ()
    ]
    return tuple(sorted(found, key=repr))


def ordered_ports(ports: Iterable[Document]) -> list[Document]:
    """Return a slice's ports in upstream's order, that of their hashes (portsInOrder)."""

    def by_hash(port: Mapping[str, Any]) -> bytes:
        return md5(printed("discovery/v1.EndpointPort", port).encode(), usedforsecurity=False).digest()

    listed = list(ports)
    return sorted(listed, key=by_hash) if len(listed) > 1 else listed


def equal_beyond_key(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two entries for one address say the same."""
    return _rest(one) == _rest(other)


def _rest(endpoint: Mapping[str, Any]) -> tuple[object, ...]:
    conditions = endpoint.get("conditions") or {}
    target = {key: value for key, value in (endpoint.get("targetRef") or {}).items() if key != "resourceVersion"}
    states = tuple(conditions.get(name) for name in ("ready", "serving", "terminating"))
    return (endpoint.get("nodeName"), endpoint.get("zone"), states, target)


def distribute(
    existing: Sequence[Document], wanted: Sequence[Document], labels: Mapping[str, str], empty: Document, most: int
) -> Changes:
    """Return the changes that bring addresses of one set of ports into slices.

    Args:
        existing: the slices that there are.
        wanted: the addresses, each once.
        labels: what every slice is labelled.
        empty: a new slice without addresses.
        most: addresses that one slice takes.
    """
    left = {endpoint_key(endpoint): endpoint for endpoint in wanted}
    changes = Changes()
    same: list[Document] = []
    for old in existing:
        entries = old.get("endpoints") or []
        kept = [left.pop(key) for entry in entries if (key := endpoint_key(entry)) in left]
        altered = len(kept) != len(entries) or not all(
            equal_beyond_key(one, other) for one, other in zip(kept, entries, strict=False)
        )
        if altered and not kept:
            changes.delete.append(old)
        elif altered or (old["metadata"].get("labels") or {}) != labels:
            changes.update.append(_with(old, kept, labels))
        else:
            same.append(old)
    rest = list(left.values())
    changes.update.sort(key=lambda one: -len(one["endpoints"]))
    for slice_ in changes.update:
        take = most - len(slice_["endpoints"])
        slice_["endpoints"] += rest[:take]
        del rest[:take]
    while rest:
        room = [old for old in same if len(old.get("endpoints") or ()) + len(rest) <= most]
        if room:
            old = max(room, key=lambda one: len(one.get("endpoints") or ()))
            changes.update.append(_with(old, [*(old.get("endpoints") or ()), *rest], labels))
            break
        changes.create.append({**empty, "endpoints": rest[:most]})
        del rest[:most]
    return changes


def _with(old: Document, endpoints: list[Document], labels: Mapping[str, str]) -> Document:
    return {**old, "endpoints": endpoints, "metadata": {**old["metadata"], "labels": dict(labels)}}
