"""What each kind's document becomes on its way in: golden files, sent and stored; `--update-golden` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controllers.kinds.table import KINDS, by_kind, find_kind, find_resource, kind_of
from controllers.log.operations import Create
from controllers.registry.kind import Kind
from tests.registry.registry_tool import Cluster

GOLDEN = Path(__file__).parent.parent / "golden" / "kinds"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.plural)
def test_documents_on_their_way_in(kind: Kind, pytestconfig: pytest.Config) -> None:
    file = GOLDEN / f"{kind.plural}.json"
    golden: dict[str, Any] = json.loads(file.read_text())
    cluster = Cluster()
    namespace = "default" if kind.namespaced else ""
    stored = cluster.apply(Create(kind.resource, namespace, golden["sent"]), field_validation="Strict")
    assert (stored["apiVersion"], stored["kind"]) == (kind.api_version, kind.kind)
    if pytestconfig.getoption("--update-golden"):
        file.write_text(json.dumps({"sent": golden["sent"], "stored": stored}, indent=1, ensure_ascii=False) + "\n")
        golden["stored"] = stored
    assert stored == golden["stored"]
    # What was stored is itself acceptable and changes nothing.
    before = cluster.store.revision
    current = cluster.get(kind.resource, stored["metadata"]["name"])
    assert current is not None
    assert cluster.update(kind.resource, current) == current
    assert cluster.store.revision == before


def test_every_kind_is_found_and_has_its_golden_document() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == {kind.plural for kind in KINDS}
    assert len({(kind.group, kind.plural) for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert kind_of(kind.resource) is kind is find_resource(kind.resource)
        assert by_kind(kind.api_version, kind.kind) is kind is find_kind(kind.api_version, kind.kind)
        assert "Name" in {column.name for column in kind.columns}
