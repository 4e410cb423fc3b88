"""The columns that a definition gives its kind.

Source: apiextensions-apiserver, pkg/registry/customresource/tableconvertor, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.custom.paths import Path, PathError, parse
from controllers.custom.values import go_number
from controllers.registry.kind import Column

_NAME: Final = Column(
    "Name",
    "string",
    "Name must be unique within a namespace.",
    lambda document, age: document["metadata"]["name"],
    source="meta_v1.ObjectMeta#name",
    names=True,
)

USUAL: Final[Sequence[Mapping[str, Any]]] = (
    {
        "name": "Age",
        "type": "date",
        "description": "",
        "jsonPath": ".metadata.creationTimestamp",
    },
)
"""What a version without columns has beside the name."""


def columns_of(wanted: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Return the columns of a version (`additionalPrinterColumns`), the name first."""
    columns = [_NAME]
    one: Mapping[str, Any]
    for one in wanted or USUAL:
        try:
            path = parse(one["jsonPath"])
        except PathError:
            # Upstream stops at the first that it cannot read.
            break
        description = one.get("description") or ""
        if not description and wanted:
            description = f"Custom resource definition column (in JSONPath format): {one['jsonPath']}"
        columns.append(
            Column(
                one["name"],
                one["type"],
                description,
                _cell(path, one["type"]),
                one.get("priority") or 0,
                "" if wanted else "meta_v1.ObjectMeta#creationTimestamp",
                form=one.get("format") or "",
            )
        )
    return tuple(columns)


def _cell(path: Path, kind: str) -> Callable[[Mapping[str, Any], Callable[[str | None], str]], Any]:
    def cell(document: Mapping[str, Any], age: Callable[[str | None], str]) -> Any:
        found = path.find(document)
        return _shown(found[0], kind, age) if found else None

    return cell


def _shown(value: Any, kind: str, age: Callable[[str | None], str]) -> Any:
    match kind:
        case "string":
            return text(value)
        case "integer":
            return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        case "number":
            return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case _:
            if not isinstance(value, str):
                return None
            told = age(value)
            return "<invalid>" if told == "<unknown>" and value else told


def text(value: Any) -> str:
    """Return a value as a JSON path prints it: a text as it stands, what has members as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return go_number(value)
    return msgspec.json.encode(value, order="deterministic").decode()
