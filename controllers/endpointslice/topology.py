"""Hints for zones by the annotation `service.kubernetes.io/topology-mode`: each zone gets addresses by its processors.

Source: k8s.io/endpointslice/topologycache (topologycache.go, utils.go, sliceinfo.go).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controllers.kit.slices import Changes
from scheduler_core.api.document import Document
from scheduler_core.api.quantity import milli_value

ZONE: Final = "topology.kubernetes.io/zone"

_OVERLOAD: Final = 0.2
"""By how much an address may be asked for more than its share (overloadThreshold)."""

_EXCLUDED: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_MODES: Final = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode")
"""Annotations that ask for hints; the first that is there counts."""

_TOLD = tuple[str, str]
"""(reason, message) of an Event."""


@dataclass(frozen=True, slots=True)
class _Share:
    """How many of a Service's addresses one zone should have."""

    least: int
    most: int
    desired: float


def is_asked(annotations: Mapping[str, str] | None) -> bool:
    """Return whether a Service's annotations ask for hints by zone."""
    for key in _MODES:
        if key in (annotations or {}):
            return (annotations or {})[key] in ("Auto", "auto")
    return False


def counts_in(node: Mapping[str, Any] | None) -> tuple[bool, str] | None:
    """Return what of a node, when it changes, changes the zones' shares: whether it is ready, and where it is."""
    if node is None:
        return None
    return _is_ready(node), (node["metadata"].get("labels") or {}).get(ZONE) or ""


class Zones:
    """The zones' shares of the processors, and which Services have hints by them."""

    def __init__(self) -> None:
        """Know no node and no Service yet."""
        self._shares: dict[str, float] | None = None
        self._given: dict[str, dict[str, dict[str, int]]] = {}
        """Service → kind of address → zone → addresses that are for it."""
        self._hinted: set[str] = set()

    def set_nodes(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        """Take the zones' shares from the nodes that are ready; one without a zone makes all of them unknown."""
        cpus: dict[str, int] = {}
        self._shares = None
        for node in nodes:
            labels = node["metadata"].get("labels") or {}
            if any(key in labels for key in _EXCLUDED) or not _is_ready(node):
                continue
            cpu = milli_value(((node.get("status") or {}).get("allocatable") or {}).get("cpu", 0))
            zone = labels.get(ZONE)
            if not zone or not cpu:
                return
            cpus[zone] = cpus.get(zone, 0) + cpu
        if len(cpus) >= 2:
            total = sum(cpus.values())
            self._shares = {zone: cpu / total for zone, cpu in cpus.items()}

    def is_used(self) -> bool:
        """Return whether any Service has hints."""
        return bool(self._given)

    def overloaded(self) -> list[str]:
        """Return the Services of which some zone has fewer addresses than it needs now."""
        return [
            key for key, families in self._given.items() if any(self._is_overloaded(one) for one in families.values())
        ]

    def _is_overloaded(self, given: Mapping[str, int]) -> bool:
        if not given or not self._shares:
            return bool(given)
        total = sum(given.values())
        return any(
            zone not in given or given[zone] < math.ceil(total * share / (1 + _OVERLOAD))
            for zone, share in self._shares.items()
        )

    def forget(self, key: str, family: str) -> bool:
        """Take a Service's hints as gone; return whether it had any."""
        families = self._given.get(key, {})
        families.pop(family, None)
        if not families:
            self._given.pop(key, None)
        had = key in self._hinted
        self._hinted.discard(key)
        return had

    def hint(self, key: str, family: str, changes: Changes, unchanged: Sequence[Document]) -> list[_TOLD]:
        """Say of each ready address for which zone it is.

        Args:
            key: namespace and name of the Service.
            family: the kind of its addresses.
            changes: what is written of its slices; hints are put in, and slices that need other hints are added.
            unchanged: its slices that would stay as they are.

        Returns:
            What is told on the Service.
        """
        ready = sum(len(_ready_of(one)) for one in (*changes.create, *changes.update, *unchanged))
        shares = self._split(ready)
        if isinstance(shares, str):
            return self._refused(key, family, changes, unchanged, shares)
        given: dict[str, int] = {}
        for one in unchanged:
            theirs = _hints_of(one, given, shares)
            if theirs is None:
                changes.update.append(one)
                continue
            for zone, count in theirs.items():
                given[zone] = given.get(zone, 0) + count
        written = (changes.create, changes.update)
        slices = [one for part in written for one in part]
        if any(not entry.get("zone") for one in slices for entry in _ready_of(one)):
            return self._refused(key, family, changes, unchanged, "One or more endpoints do not have a zone specified")
        for part in written:
            part[:] = [_at_home(one, given) for one in part]
        slices = [one for part in written for one in part]
        giving, receiving = _moves(shares, given)
        _move(slices, giving, receiving, given)
        if not given:
            return self._refused(key, family, changes, unchanged, "No hints allocated for zones")
        new = key not in self._hinted
        self._hinted.add(key)
        self._given.setdefault(key, {})[family] = given
        text = f"Topology Aware Hints has been enabled, addressType: {family}"
        return [("TopologyAwareHintsEnabled", text)] if new else []

    def _refused(self, key: str, family: str, changes: Changes, unchanged: Sequence[Document], why: str) -> list[_TOLD]:
        self.forget(key, family)
        without_hints(changes, unchanged)
        return [("TopologyAwareHintsDisabled", f"{why}, addressType: {family}")]

    def _split(self, count: int) -> dict[str, _Share] | str:
        """Return each zone's share of so many addresses, or why they cannot be shared out."""
        if self._shares is None:
            return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
        numbers = f"({count} endpoints, {len(self._shares)} zones)"
        if len(self._shares) > count:
            return f"Insufficient number of endpoints {numbers}"
        least = {zone: math.ceil(share * count / (1 + _OVERLOAD)) for zone, share in self._shares.items()}
        spare = count - sum(least.values())
        if spare < 0:
            return (
                "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold "
                f"{numbers}"
            )
        return {
            zone: _Share(least[zone], least[zone] + spare, max(share * count, float(least[zone])))
            for zone, share in self._shares.items()
        }


def without_hints(changes: Changes, unchanged: Sequence[Document]) -> None:
    """Take the hints off what is written, and write what has any."""
    changes.update += [one for one in unchanged if any("hints" in entry for entry in one.get("endpoints") or ())]
    for part in (changes.create, changes.update):
        part[:] = [
            {**one, "endpoints": [_plain(entry) for entry in one["endpoints"]]} if one.get("endpoints") else one
            for one in part
        ]


def _plain(entry: Mapping[str, Any]) -> Document:
    return {key: value for key, value in entry.items() if key != "hints"}


def _is_ready(node: Mapping[str, Any]) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _is_served(entry: Mapping[str, Any]) -> bool:
    return bool((entry.get("conditions") or {}).get("ready"))


def _ready_of(document: Mapping[str, Any]) -> list[Document]:
    return [entry for entry in document.get("endpoints") or () if _is_served(entry)]


def _hints_of(
    document: Mapping[str, Any], given: Mapping[str, int], shares: Mapping[str, _Share]
) -> dict[str, int] | None:
    """Return for which zones a slice's addresses are; None where that has to be said anew."""
    found: dict[str, int] = {}
    for entry in _ready_of(document):
        zones = [one["name"] for one in (entry.get("hints") or {}).get("forZones") or ()]
        if not zones or any(zone not in shares for zone in zones):
            return None
        for zone in zones:
            found[zone] = found.get(zone, 0) + 1
    if any(count + given.get(zone, 0) > shares[zone].most for zone, count in found.items()):
        return None
    return found


def _at_home(document: Document, given: dict[str, int]) -> Document:
    """Return a slice whose ready addresses are for their own zones, and count them."""
    if not document.get("endpoints"):
        return document
    entries = []
    for entry in document["endpoints"]:
        if not _is_served(entry):
            entries.append(entry)
            continue
        given[entry["zone"]] = given.get(entry["zone"], 0) + 1
        entries.append({**entry, "hints": {"forZones": [{"name": entry["zone"]}]}})
    return {**document, "endpoints": entries}


def _moves(shares: Mapping[str, _Share], given: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many addresses zones give away, and how many others get."""
    over = {zone: given.get(zone, 0) - share.desired for zone, share in sorted(shares.items())}
    surplus = {zone: by for zone, by in over.items() if by > 0}
    lack = {zone: -by for zone, by in over.items() if by < 0}
    giving: dict[str, int] = {}
    receiving: dict[str, int] = {}
    while surplus and lack:
        source, sink = max(surplus, key=surplus.__getitem__), max(lack, key=lack.__getitem__)
        gives, needs = surplus[source], lack[sink]
        if max(gives, needs) < 1 or min(gives, needs) < 0.5:
            break
        giving[source] = giving.get(source, 0) + 1
        receiving[sink] = receiving.get(sink, 0) + 1
        surplus[source] -= 1
        lack[sink] -= 1
    return giving, receiving


def _move(slices: Sequence[Document], giving: dict[str, int], receiving: dict[str, int], given: dict[str, int]) -> None:
    """Let addresses of zones that have too many be for others; the slices are this controller's own copies."""
    for entry in (entry for one in slices for entry in _ready_of(one)):
        source = entry["zone"]
        sink = next((zone for zone, count in receiving.items() if count), None)
        if sink is None:
            return
        if not giving.get(source):
            continue
        entry["hints"] = {"forZones": [{"name": sink}]}
        giving[source] -= 1
        receiving[sink] -= 1
        given[source] -= 1
        given[sink] = given.get(sink, 0) + 1
