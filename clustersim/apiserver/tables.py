"""Tables as kubectl prints them: columns of the kind's strategy, ages by the session's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypedDict

import msgspec

from clustersim.apiserver.negotiation import Wanted
from controllers.kinds.columns import CREATED_AT
from controllers.kinds.table import kind_of
from controllers.log.stamps import human_duration, unix_ms_of
from controllers.registry.kind import Column, Kind
from controllers.registry.schema import model

_decode = msgspec.json.Decoder().decode

Age = Callable[[str | None], str]


class Printed(Protocol):
    """What is printed as rows: a kind, or what a subresource shows of one."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return its columns."""

    @property
    def converted(self) -> frozenset[str]:
        """Return the annotations that are shown with the whole object alone."""

    @property
    def row_conditions(self) -> Callable[[Mapping[str, Any]], list[dict[str, str]] | None]:
        """Return what a row says of the object as a whole."""


def age_by(now_unix_ms: int) -> Age:
    """Return the function from a timestamp to an age such as `5m`, at this moment of the session."""
    known: dict[str | None, str] = {}

    def age(timestamp: str | None) -> str:
        told = known.get(timestamp)
        if told is None:
            told = known[timestamp] = _age(now_unix_ms, timestamp)
        return told

    return age


def _age(now_unix_ms: int, timestamp: str | None) -> str:
    if not timestamp:
        return "<unknown>"
    try:
        return human_duration((now_unix_ms - unix_ms_of(timestamp)) // 1000)
    except ValueError:
        return "<unknown>"


def definitions(kind: Printed) -> list[dict[str, Any]]:
    """Return the column definitions of a kind."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": "name" if column.names else column.form,
            "description": _description(column),
            "priority": column.priority,
        }
        for column in kind.columns
        if column.name
    ]


def _description(column: Column) -> str:
    struct, _, field = column.source.partition("#")
    return model(struct).descriptions.get(field, column.description) if struct else column.description


def row(kind: Printed, document: Mapping[str, Any], age: Age, want: Wanted) -> dict[str, Any]:
    """Return one row, with as much of the object as the client wants."""
    cells, worked_out = [], dict[Any, Any]()
    for column in kind.columns:
        subject: Any = document
        if column.of is not None:
            if column.of not in worked_out:
                worked_out[column.of] = column.of(document)
            subject = worked_out[column.of]
        cells.append(column.cell(subject, age))
    entry: dict[str, Any] = {"cells": cells}
    if want.include == "Object":
        entry["object"] = document
    else:
        entry["object"] = None if want.include == "None" else partial(document, want.version, kind.converted)
    if conditions := kind.row_conditions(document):
        entry["conditions"] = conditions
    return entry


def row_reader(kind: Kind, want: Wanted) -> Callable[[bytes], dict[str, Any]]:
    """Return what decodes of an object's JSON what its row is made of."""
    if want.include == "Object" or not kind.printed:
        return _decode
    return _reader(kind.resource)


@cache
def _reader(resource: str) -> Callable[[bytes], dict[str, Any]]:
    return msgspec.json.Decoder(_taken({"metadata": True, **kind_of(resource).printed})).decode


def _taken(mask: Any) -> Any:
    """Return the type of what a mask takes of a value, or of each in a list."""
    if mask is True:
        return Any
    members = {name: _taken(inner) for name, inner in mask.items()}
    one = TypedDict("one", members, total=False)  # type: ignore[misc]
    return one | list[one] | None


def partial(document: Mapping[str, Any], version: str, converted: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the PartialObjectMetadata of an object, without the annotations that conversions put to it."""
    metadata = document["metadata"]
    annotations = metadata.get("annotations") or {}
    if not converted.isdisjoint(annotations):
        kept = {key: text for key, text in annotations.items() if key not in converted}
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
        metadata |= {"annotations": kept} if kept else {}
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": metadata}


def table(
    kind: Printed,
    documents: Iterable[Mapping[str, Any]],
    metadata: Mapping[str, Any],
    age: Age,
    want: Wanted,
    *,
    columns: bool = True,
) -> dict[str, Any]:
    """Return the Table of some objects; without `columns` it continues one that the client has."""
    return told_table(kind, [row(kind, document, age, want) for document in documents], metadata, want, columns=columns)


def told_table(
    kind: Printed, rows: Sequence[Any], metadata: Mapping[str, Any], want: Wanted, *, columns: bool = True
) -> dict[str, Any]:
    """Return the Table of some rows."""
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{want.version}",
        "metadata": metadata,
        "columnDefinitions": definitions(kind) if columns else None,
        # Upstream's own printer of kinds without columns leaves out the list where it is empty.
        "rows": rows or (None if CREATED_AT in kind.columns else []),
    }
