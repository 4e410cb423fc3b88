"""Zone and region of nodes and volumes: the era's labels, and today's where those are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.volumes.migration import BETA_REGION, BETA_ZONE, REGION, ZONE

KEYS: Final = ((BETA_REGION, REGION), (BETA_ZONE, ZONE))
"""(the era's label, today's) of region and zone."""


def place_of(labels: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return (region, zone) of a node or a volume; None where neither label says."""
    region, zone = (labels.get(then, labels.get(now)) for then, now in KEYS)
    return region, zone
