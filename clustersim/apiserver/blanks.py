"""What an object is in which nothing is set: what Go writes of it all the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from controllers.registry.kind import Kind


@cache
def _members() -> Mapping[str, Mapping[str, Any]]:
    table: dict[str, Mapping[str, Any]] = {}
    for line in Path(__file__).with_name("blank_objects.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            version, name, members = line.split(" ", 2)
            table[f"{version} {name}"] = msgspec.json.decode(members)
    return table


def blank(kind: Kind, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of a kind that has nothing but metadata."""
    members = _members().get(f"{kind.api_version} {kind.kind}", {})
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": dict(metadata), **members}
