"""Command objects of a fork, changed before anybody runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from clustersim.classroom.writing import SESSION_ACTOR, web_context
from clustersim.store import SqlStore
from controllers.clocktelling import beginning
from controllers.commands import CLOCK, CLOCKS
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create, Update
from controllers.log.store import Transaction, copy_object
from scheduler_core.api.document import Document

_STANDING: Final = ("hold", "run", "step")
"""What asks a clock to stand at a place of the session that the fork was made of."""


def change(
    made: SqlStore,
    transaction: Transaction,
    resource: str,
    name: str,
    changed: Callable[[Document], Document],
) -> None:
    """Change the spec of a command object; flags are made where there are none."""
    stored = transaction.get(resource, "", name)
    context = web_context(SESSION_ACTOR, made)
    if stored is None:
        document: Document = {
            "apiVersion": "clustersim.io/v1",
            "kind": "Flags",
            "metadata": {"name": name},
            "spec": changed({}),
        }
        REGISTRY.apply(transaction, Create(resource, "", document), context)
        return
    document = copy_object(stored.object)
    document["spec"] = changed(document.get("spec") or {})
    REGISTRY.apply(transaction, Update(resource, "", name, document), context)


def set_clock(made: SqlStore, transaction: Transaction, *, paused: bool) -> None:
    """Let the time of a fork run, or stand, from the moment at which somebody takes it up."""

    def changed(spec: Document) -> Document:
        return {**{name: value for name, value in spec.items() if name not in _STANDING}, "paused": paused}

    change(made, transaction, CLOCKS, CLOCK, changed)
    REGISTRY.apply(transaction, beginning(paused=paused), web_context(SESSION_ACTOR, made))
