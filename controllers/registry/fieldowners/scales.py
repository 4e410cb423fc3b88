"""Who owns the replicas of an object, as its scale tells it and changes it.

Source: apimachinery, util/managedfields/scalehandler.go, v1.34. An updater is called by the version in which it wrote,
which is the scale's there and the object's here: whoever owned the replicas by an update gives them up with each write
of the scale, to an entry of the same name without a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.registry.fieldowners import sets
from controllers.registry.fieldowners.managers import Entry, Owners, Share, decoded, encoded
from controllers.registry.fieldowners.sets import Fields

_VERSION: Final = "autoscaling/v1"
_REPLICAS: Final[Fields] = {"f:spec": {"f:replicas": {}}}


def of_scale(entries: Any, path: Sequence[str]) -> list[Entry]:
    """Return the managed fields of a scale whose object has these; its replicas lie at `path` there."""
    place = _fields(path)
    owners = decoded(entries) or {}
    return encoded(
        {
            manager: Share(_REPLICAS, _VERSION, share.time)
            for manager, share in owners.items()
            if sets.intersection(share.fields, place)
        }
    )


def of_object(entries: Any, scales: Any, path: Sequence[str], api_version: str) -> list[Entry] | None:
    """Return the managed fields of an object that had `entries`, once its scale has `scales`; None: there are none."""
    place = _fields(path)
    there = decoded(scales) or {}
    before = decoded(entries) or {}
    owners: Owners = {}
    for manager, share in before.items():
        if manager in there or not sets.intersection(share.fields, place):
            owners[manager] = share
            there.pop(manager, None)
        elif left := sets.difference(share.fields, place):
            owners[manager] = replace(share, fields=left)
    for manager, share in there.items():
        if sets.intersection(share.fields, _REPLICAS):
            known = before.get(manager)
            owners[manager] = Share(place, api_version, "" if known is None else known.time)
    return encoded(owners) or None


def _fields(path: Sequence[str]) -> Fields:
    fields: Fields = {}
    for part in reversed(path):
        fields = {f"f:{part}": fields}
    return fields
