"""A tick that writes for long lets others write in between, and keeps each trace with its operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from controllers.kit.client import Client
from controllers.log import transaction
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create
from controllers.loop.component import Emission
from controllers.rerun import first_difference, rerun
from tests.tools.lab import Lab, node, workload


class Busy(MemoryStore):
    """A store whose transactions are long as soon as something was written; it notes what each of them holds."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[list[str], int]] = []

    @contextmanager
    def transaction(self, *given: Any, **options: Any) -> Iterator[Any]:
        with super().transaction(*given, **options) as opened:
            yield opened
            self.held.append(([row.name for row in opened.rows], len(opened.traces)))


SLOT: Any = None


def make(name: str) -> Emission:
    return Emission(SLOT, 1, "me", Create("namespaces", "", {"metadata": {"name": name}}), None)


def kept(uid: str) -> Emission:
    return Emission(SLOT, 1, "me", None, None, (uid, 1, {}, b""))


@pytest.mark.parametrize(
    ("long", "held"),
    [
        (False, [(["a", "b", "c"], 3)]),
        (True, [(["a"], 1), (["b"], 1), (["c"], 0), ([], 1)]),
    ],
)
def test_a_long_transaction_ends_after_the_operation(
    monkeypatch: pytest.MonkeyPatch, long: bool, held: list[tuple[list[str], int]]
) -> None:
    monkeypatch.setattr(transaction, "_never", lambda: long)
    store = Busy()
    emissions = [kept("1"), make("a"), kept("2"), make("b"), make("c"), kept("3")]
    results, last = Client(store).commit(emissions, 1000, 0)
    assert [result.object["metadata"]["name"] for result in results if result.object] == ["a", "b", "c"]
    assert (store.held, last, store.revision) == (held, 3, 3)


def test_nothing_to_write_brings_the_horizon_on() -> None:
    store = Busy()
    assert Client(store).commit([], 1000, 0) == ([], 0)
    assert store.horizon_ms == 1000


def test_a_session_in_which_others_had_turns_can_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab([node("n1"), node("n2")])
    open_one = lab.store.transaction
    between: list[int] = []

    @contextmanager
    def taking_turns(actor: str, **options: Any) -> Iterator[Any]:
        with open_one(actor, **options) as opened:
            first = opened.revision
            opened.others_wait = lambda: opened.revision > first
            yield opened
        if opened.rows and opened.read and len(between) < 40:
            with open_one("user:test") as other:
                name = f"c{len(between)}"
                metadata = {"name": name, "namespace": "default", "uid": name}
                other.put(
                    "configmaps", "default", name, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
                )
            between.append(other.revision)

    monkeypatch.setattr(lab.store, "transaction", taking_turns)
    lab.create(workload("Deployment", "web", 5))
    lab.run(20)
    log = lab.rows()
    reads = {row.revision: row.read for row in log}
    amid = [at for at in between if reads.get(at - 1, 0) == reads.get(at + 1, -1)]
    assert amid, "somebody wrote in the middle of a tick"
    again = rerun(log, seed=lab.store.seed, epoch_ms=lab.store.epoch_ms)
    assert first_difference(log, again.events(0, len(log) + 1)) == ""
