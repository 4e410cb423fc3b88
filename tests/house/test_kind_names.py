"""Generic code knows no kind by name: what a kind needs it says of itself (docs/adding-a-kind.md)."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from controllers.kinds.table import KINDS

ROOT: Final = Path(__file__).resolve().parents[2]
NAMES: Final = {kind.resource for kind in KINDS} | {kind.kind for kind in KINDS}
MEANT: Final = {
    ("controllers/log/operations.py", "pods"): "a binding is of a pod",
    ("controllers/registry/metadata.py", "Event"): "what owns nothing",
    ("controllers/kit/recorder.py", "events"): "what the recorder writes",
    ("controllers/kit/recorder.py", "Event"): "what the recorder writes",
    ("controllers/kit/services.py", "Pod"): "what an address refers to",
    ("controllers/kit/slices.py", "endpoints"): "a field of slices",
    ("controllers/kit/history.py", "controllerrevisions.apps"): "what a history is kept in",
    ("controllers/kit/history.py", "ControllerRevision"): "what a history is kept in",
    ("controllers/kit/pods.py", "Pod"): "what a template makes",
    ("controllers/kit/pods.py", "pods"): "whose status several write",
    ("clustersim/apiserver/reviews.py", "namespaces"): "a part of paths, which have a namespace after it",
    ("clustersim/apiserver/negotiation.py", "events"): "a group, not a kind",
    ("clustersim/apiserver/handling.py", "serviceaccounts"): "whose tokens are made on demand",
    ("clustersim/apiserver/tokens.py", "nodes"): "where the pod is that a token is bound to",
    ("clustersim/apiserver/tokens.py", "Node"): "what a token may be bound to",
    ("clustersim/apiserver/tokens.py", "Pod"): "what a token may be bound to",
    ("clustersim/apiserver/tokens.py", "Secret"): "what a token may be bound to",
}
"""(file, name) → why it stands there."""


def named(folder: str) -> set[tuple[str, str]]:
    """Return (file, name) of every kind that the code of a folder or a file names in a text of its own."""
    found: set[tuple[str, str]] = set()
    for file in sorted((ROOT / folder).rglob("*.py")) or [ROOT / folder]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
                found.add((str(file.relative_to(ROOT)), node.value))
    return found


OF_WIRE: Final = ("controllers/registry/models/", "clustersim/apiserver/protobuf/")
"""What documents look like as they are sent: fields that are called as a kind's resource is, and numbers of fields."""

GENERIC: Final = (
    "controllers/log",
    "controllers/registry",
    "controllers/loop",
    "controllers/kit",
    "clustersim/apiserver",
    "clustersim/classroom/roles.py",
    "clustersim/classroom/allowance.py",
)


@pytest.mark.parametrize("folder", GENERIC)
def test_no_kind_is_named(folder: str) -> None:
    found = {
        (file, name) for file, name in named(folder) if not file.startswith(OF_WIRE) and not _is_a_field(file, name)
    }
    assert found == {place for place in MEANT if place[0].startswith(folder)}


def test_a_kind_that_is_named_is_found() -> None:
    assert ("controllers/kinds/core/pod/kind.py", "pods") in named("controllers/kinds")


def _is_a_field(file: str, name: str) -> bool:
    """Return whether the name is a field's here: `spec.replicas` is no kind."""
    return name == "replicas" or file == "controllers/registry/merging.py"
