"""Tables as kubectl prints them: columns of the kind's strategy, ages by the session's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from controllers.kinds.columns import CREATED_AT
from controllers.log.stamps import human_duration, unix_ms_of
from controllers.registry.kind import Column, Kind
from controllers.registry.schema import model

Age = Callable[[str | None], str]


def age_by(now_unix_ms: int) -> Age:
    """Return the function from a timestamp to an age such as `5m`, at this moment of the session."""

    def age(timestamp: str | None) -> str:
        if not timestamp:
            return "<unknown>"
        try:
            return human_duration((now_unix_ms - unix_ms_of(timestamp)) // 1000)
        except ValueError:
            return "<unknown>"

    return age


def definitions(kind: Kind) -> list[dict[str, Any]]:
    """Return the column definitions of a kind."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": "name" if column.names or column.name == "Name" else "",
            "description": _description(column),
            "priority": column.priority,
        }
        for column in kind.columns
        if column.name
    ]


def _description(column: Column) -> str:
    struct, _, field = column.source.partition("#")
    return model(struct).descriptions.get(field, column.description) if struct else column.description


def row(kind: Kind, document: Mapping[str, Any], age: Age, include: str) -> dict[str, Any]:
    """Return one row; `include` is the request's includeObject: None, Metadata or Object."""
    cells = [column.cell(document, age) for column in kind.columns]
    entry: dict[str, Any] = {"cells": cells}
    if include == "Object":
        entry["object"] = document
    else:
        entry["object"] = None if include == "None" else partial(document)
    if conditions := kind.row_conditions(document):
        entry["conditions"] = conditions
    return entry


def partial(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the PartialObjectMetadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": document["metadata"]}


def table(
    kind: Kind,
    documents: Iterable[Mapping[str, Any]],
    metadata: Mapping[str, Any],
    age: Age,
    include: str,
    *,
    columns: bool = True,
) -> dict[str, Any]:
    """Return the Table of some objects; without `columns` it continues one that the client has."""
    rows = [row(kind, document, age, include) for document in documents]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions(kind) if columns else [],
        # Upstream's own printer of kinds without columns leaves out the list where it is empty.
        "rows": rows or (None if CREATED_AT in kind.columns else []),
    }
