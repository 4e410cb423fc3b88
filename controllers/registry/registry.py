"""The registry: the only place that turns operations into writes. REST, import and the engine's loop all use it.

A document's way in: copy → schema (types, unknown fields) → metadata → defaults → what mutates of admission → the
kind's rules → guard → what validates of admission, quota → put (`admission`).
Every refusal is raised before anything is put, so one operation's refusal leaves its transaction usable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from controllers.flags.apiserver import ETCD_PREFIX
from controllers.flags.held import flags_of
from controllers.log.operations import Create, Delete, Operation, Patch, Result, Update
from controllers.log.store import ObjectTooLarge, Store, Stored, Transaction
from controllers.registry import incoming
from controllers.registry.admission import Chain
from controllers.registry.context import Context
from controllers.registry.repeats import Run
from controllers.registry.table import Table
from controllers.registry.write import Write
from scheduler_core.api.errors import ApiError


class Registry:
    """Applies operations. Stateless: everything it knows is in the transaction and the table of kinds."""

    def __init__(self, kinds: Table, chain: Chain | None = None) -> None:
        self._kinds = kinds
        self._chain = chain or Chain()

    def apply(self, transaction: Transaction, operation: Operation, context: Context) -> Stored:
        """Write one operation and return what is stored (for `scale` the Scale, for a delete the last state).

        Raises:
            ApiError: refused; nothing was put.
        """
        context.now_ms = transaction.now_ms
        transaction.actor = context.actor
        write = Write(self._kinds.within(transaction), self._chain, transaction, context)
        if context.marks is None:
            return write.apply(operation)
        before = _there(transaction, operation, write.place_of(operation))
        context.marks.before = before
        context.marks.sim_ms = transaction.now_ms
        context.marks.root = flags_of(transaction)[ETCD_PREFIX]
        context.marks.asked = _asked(operation)
        stored = write.apply(operation)
        context.marks.name = stored.name
        context.marks.stored = _there(transaction, operation, write.place_of(operation), stored.name)
        return stored

    def attempt(self, transaction: Transaction, operation: Operation, context: Context) -> Result:
        """Apply one operation and return its result, the refusal included."""
        try:
            stored = self.apply(transaction, operation, context)
        except ApiError as error:
            # Nobody asks where it was raised, and what it would hold of that holds the result: a cycle.
            return Result(operation, None, error.with_traceback(None), transaction.revision)
        return Result(operation, stored, None, transaction.revision)

    def repeat(
        self,
        transaction: Transaction,
        run: Run,
        operation: Create,
        actor: str,
        new_uid: Callable[[], str],
        new_suffix: Callable[[], str],
    ) -> Result | None:
        """Write a create that repeats those before it in its run; None: it has to go its own way."""
        kind = self._kinds.find_resource(operation.resource)
        if kind is None or not run.is_known:
            return None
        document = incoming.repeated_document(run, kind, operation, transaction, new_uid, new_suffix)
        if document is None:
            return None
        transaction.actor = actor
        metadata = document["metadata"]
        try:
            stored = transaction.put(
                kind.resource, metadata.get("namespace", ""), metadata["name"], document, expected=0
            )
        except ObjectTooLarge as error:
            return Result(operation, None, incoming.too_large(kind, metadata["name"], error.size), transaction.revision)
        return Result(operation, stored, None, stored.revision)

    def apply_all(
        self,
        store: Store,
        operations: Iterable[Operation],
        context_of: Callable[[Operation], Context],
        *,
        now_ms: int | None = None,
        fence: int | None = None,
        actor: str = "session",
    ) -> list[Result]:
        """Apply operations in one transaction, each with its own result; a refusal of one does not touch the others.

        Raises:
            Fenced: the epoch is over; nothing was written.
        """
        with store.transaction(actor, now_ms=now_ms, fence=fence) as transaction:
            return [self.attempt(transaction, operation, context_of(operation)) for operation in operations]


def _there(transaction: Transaction, operation: Operation, resource: str, name: str = "") -> str:
    """Return the resourceVersion of the object that an operation writes; empty: it is not there."""
    if isinstance(operation, Create):
        # What it says of itself is checked later; here it may be anything.
        metadata = operation.object.get("metadata")
        name = name or (str(metadata.get("name", "")) if isinstance(metadata, Mapping) else "")
    else:
        name = operation.name
    stored = transaction.get(resource, operation.namespace, name) if name else None
    return "" if stored is None else str(stored.revision)


def _asked(operation: Operation) -> str:
    """Return the resourceVersion that an operation says it was made on; empty: it says none."""
    match operation:
        case Update(object={"metadata": {"resourceVersion": str(asked)}}):
            return asked
        case Patch(patch={"metadata": {"resourceVersion": str(asked)}}):
            return asked
        case Delete(resource_version=asked):
            return asked or ""
        case _:
            return ""
