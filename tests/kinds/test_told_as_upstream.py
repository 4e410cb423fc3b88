"""Every kind is called and printed as upstream does, and has what clients ask for: columns and a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from clustersim.apiserver.messages import Request
from clustersim.apiserver.openapi import answer
from clustersim.apiserver.tables import definitions
from controllers.kinds.table import COMPUTED, KINDS, SERVED
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind
from controllers.registry.schema import model

UPSTREAM: Final[dict[str, dict[str, Any]]] = json.loads((Path(__file__).parent / "upstream.json").read_text())
"""What a v1.34 API server says in discovery and in tables: `<apiVersion>/<plural>` → how it is called, its columns.

What describes a column is a text or `<struct>#<field>` of the schema; empty: that is not compared."""


def _id(kind: Kind) -> str:
    return f"{kind.api_version}/{kind.plural}"


@pytest.mark.parametrize("kind", [kind for kind in (*SERVED, *COMPUTED) if _id(kind) in UPSTREAM], ids=_id)
def test_a_kind_is_called_and_printed_as_upstream_does(kind: Kind) -> None:
    told = UPSTREAM[_id(kind)]
    if "kind" in told:
        called = (kind.kind, kind.singular, kind.namespaced, list(kind.short_names), list(kind.categories))
        wanted = ("kind", "singular", "namespaced", "shortNames", "categories")
        assert called == tuple(told[key] for key in wanted)
    if "columns" in told:
        assert [[column.name, column.type, column.priority] for column in kind.columns] == told["columns"]
    if "described" in told:
        here = [column["description"] for column in definitions(kind)]
        assert here == [_text(one) or mine for one, mine in zip(told["described"], here, strict=True)]


def _text(described: str) -> str:
    """Return what a column is described with: the text, or what the schema says of `<struct>#<field>`."""
    struct, _, field = described.partition("#")
    return model(struct).descriptions[field] if field else described


def test_namespaces_are_not_deleted_together() -> None:
    assert [kind.plural for kind in SERVED if "delete" in kind.verbs and "deletecollection" not in kind.verbs] == [
        "namespaces"
    ]


@pytest.mark.parametrize("kind", SERVED, ids=_id)
def test_a_kind_has_a_schema_for_clients(kind: Kind) -> None:
    place = f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"
    response = answer(Request("GET", "K7QM2X", f"/openapi/v3/{place}", {}, {}))
    schemas = json.loads(response.body)["components"]["schemas"]
    wanted = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    found = [one for one in schemas.values() if wanted in one.get("x-kubernetes-group-version-kind", ())]
    assert len(found) == 1
    assert {"apiVersion", "kind", "metadata"} <= found[0]["properties"].keys()


def test_every_kind_is_printed_with_more_than_its_name() -> None:
    assert [kind.resource for kind in (*SERVED, *COMPUTED) if len(kind.columns) < 2] == []


def test_short_names_are_nobody_elses() -> None:
    names = [(name, kind.plural) for kind in KINDS if kind.group != CLUSTERSIM_GROUP for name in kind.short_names]
    assert len({name for name, _ in names}) == len(names)
