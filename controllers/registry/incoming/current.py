"""What admission looks up of the cluster while a document comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controllers.log.stamps import wire_time
from controllers.log.store import Transaction
from controllers.registry.context import user_info


class Current:
    """What admission may look up, through the transaction that will hold the write."""

    def __init__(
        self,
        transaction: Transaction,
        unix_ms: int,
        looked_up: set[str] | None = None,
        *,
        dry_run: bool = False,
        user: Mapping[str, Any] | None = None,
    ) -> None:
        """Look through a transaction; `looked_up` takes the resources that somebody asked about.

        `user` is the UserInfo of whoever writes; None: it follows from the actor.
        """
        self._transaction = transaction
        self._looked_up: set[str] = set() if looked_up is None else looked_up
        self.now = wire_time(unix_ms)
        self.plugins = transaction.plugins
        self.user = user_info(transaction.actor) if user is None else user
        self.dry_run = dry_run

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return another object."""
        self._looked_up.add(resource)
        stored = self._transaction.get(resource, namespace, name)
        return stored.object if stored is not None else None

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource."""
        self._looked_up.add(resource)
        return [stored.object for stored in self._transaction.list(resource, namespace)]
