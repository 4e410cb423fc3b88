"""The order in which a search passes the nodes: zone by zone in turns, so that a sample has nodes of every zone.

Source: nodeTree, kube-scheduler `pkg/scheduler/backend/cache`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.api.node import Node

# Where both are there, upstream reads the label that was deprecated.
_ZONE: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")

ZoneKey = tuple[str, str]
"""(region, zone); both empty: the nodes that name neither, which make up a zone as well."""


def zone_key(labels: Mapping[str, str]) -> ZoneKey:
    """Return the zone that a node's labels name."""
    return _first(_REGION, labels), _first(_ZONE, labels)


def _first(keys: tuple[str, ...], labels: Mapping[str, str]) -> str:
    return next((labels[key] for key in keys if key in labels), "")


class NodeTree:
    """Node names by zone: zones in order of their first node, nodes in order of arrival in their zone."""

    def __init__(self) -> None:
        self._zones: dict[ZoneKey, dict[str, None]] = {}
        self._zone_of: dict[str, ZoneKey] = {}

    def put(self, node: Node) -> None:
        """Add a node; one that has changed its zone goes to the new one's end."""
        zone = zone_key(node.metadata.labels)
        known = self._zone_of.get(node.name)
        if known == zone:
            return
        if known is not None:
            self.remove(node.name)
        self._zone_of[node.name] = zone
        self._zones.setdefault(zone, {})[node.name] = None

    def remove(self, name: str) -> None:
        """Take a node out; a zone goes with its last node.

        Raises:
            KeyError: the node is not there.
        """
        zone = self._zone_of.pop(name)
        names = self._zones[zone]
        del names[name]
        if not names:
            del self._zones[zone]

    def names(self) -> list[str]:
        """Return all names: the first node of each zone, then the second of each, and so on."""
        zones = [list(names) for names in self._zones.values()]
        longest = max(map(len, zones), default=0)
        return [names[turn] for turn in range(longest) for names in zones if turn < len(names)]
