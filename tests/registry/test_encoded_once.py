"""A document is encoded once on its way into the store, whoever asks for its size meanwhile."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from controllers.kinds.table import REGISTRY
from controllers.log import draft
from controllers.log.draft import Draft
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Delete, Operation, Patch, Update
from controllers.log.store import Stored
from controllers.registry.context import Context

DATA = {"text": "x" * 100}
MADE = Create("configmaps", "default", {"metadata": {"name": "a"}, "data": DATA})


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Note what is encoded of documents' contents; what is bytes already is only joined."""
    found: list[Any] = []
    encode = msgspec.json.Encoder().encode

    def noted(value: Any) -> bytes:
        members = value.values() if isinstance(value, dict) and "metadata" in value else [value]
        found.extend(one for one in members if isinstance(one, dict) and "text" in one)
        return encode(value)

    monkeypatch.setattr(draft, "_encode", noted)
    return found


class Written:
    """Writes as the surfaces do, with a guard that looks at sizes."""

    def __init__(self, *, dry_run: bool = False) -> None:
        self.store = MemoryStore()
        self.sizes: list[tuple[int, int]] = []
        self._dry_run = dry_run
        with self.store.transaction("test") as transaction:
            transaction.put("namespaces", "", "default", {"metadata": {"name": "default", "uid": "n"}})

    def __call__(self, operation: Operation) -> Stored:
        context = Context("test", 0, lambda: "u", lambda: "x", guard=self._look, dry_run=self._dry_run)
        with self.store.transaction("test") as transaction:
            return REGISTRY.apply(transaction, operation, context)

    def _look(self, operation: Operation, old: Stored | None, new: Draft | None) -> None:
        self.sizes.append((0 if old is None else old.size, 0 if new is None else new.size))


def test_what_is_written_is_what_is_returned_and_encoded_once(encoded: list[Any]) -> None:
    write = Written()
    for operation in (
        MADE,
        Update("configmaps", "default", "a", {"metadata": {"name": "a"}, "data": {**DATA, "more": "y"}}),
        Patch("configmaps", "default", "a", {"data": {"more": "z"}}),
    ):
        encoded.clear()
        answer = write(operation)
        assert len(encoded) == 1
        kept = write.store.get("configmaps", "default", "a")
        assert kept is not None
        assert answer.data is kept.data
        assert answer.object["metadata"]["resourceVersion"] == str(write.store.revision)


def test_a_guard_sees_the_sizes_that_are_stored() -> None:
    write = Written()
    first = write(MADE)
    second = write(Patch("configmaps", "default", "a", {"data": {"more": "z"}}))
    (_, made), (before, after) = write.sizes
    # The revision is written in when it is put.
    assert 0 <= first.size - made <= len('"resourceVersion":"",') + len(str(first.revision))
    assert (before, after) == (first.size, second.size)


def test_a_dry_run_encodes_once_and_puts_nothing(encoded: list[Any]) -> None:
    write = Written(dry_run=True)
    answer = write(MADE)
    assert answer.object["data"] == DATA
    assert len(encoded) == 1
    assert write.store.get("configmaps", "default", "a") is None


def test_what_nothing_changes_is_encoded_only_for_whoever_asks(encoded: list[Any]) -> None:
    write = Written()
    first = write(MADE)
    encoded.clear()
    assert write(Patch("configmaps", "default", "a", {"data": {}})).data is first.data
    assert len(encoded) == 1


def test_a_delete_answers_with_what_was_there_last() -> None:
    write = Written()
    first = write(MADE)
    gone = write(Delete("configmaps", "default", "a"))
    assert gone.revision > first.revision
    assert gone.object["metadata"].pop("resourceVersion") == str(gone.revision)
    told = {**first.object, "metadata": {k: v for k, v in first.object["metadata"].items() if k != "resourceVersion"}}
    assert gone.object == told
    held = Create("configmaps", "default", {"metadata": {"name": "b", "finalizers": ["x.io/y"]}, "data": DATA})
    write(held)
    write(Delete("configmaps", "default", "b"))
    marked = write.store.get("configmaps", "default", "b")
    assert marked is not None
    last = write(Patch("configmaps", "default", "b", {"metadata": {"finalizers": None}}))
    assert write.store.get("configmaps", "default", "b") is None
    assert last.object["metadata"]["resourceVersion"] == str(marked.revision)
    assert "finalizers" not in last.object["metadata"]
