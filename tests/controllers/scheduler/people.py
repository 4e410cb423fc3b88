"""What people write: straight into the store, as the REST surface does."""

from __future__ import annotations

from itertools import count

from controllers.kinds.table import REGISTRY
from controllers.log.memory import MemoryStore
from controllers.log.operations import Operation, Result
from controllers.registry.context import Context

_numbers = count(1)


def write(store: MemoryStore, operation: Operation, *, fence: int | None = None) -> Result:
    """Write one operation at the store's horizon; it must not be refused."""
    with store.transaction("user:ada", fence=fence) as transaction:
        number = next(_numbers)
        context = Context(
            actor="user:ada",
            epoch_ms=store.epoch_ms,
            new_uid=lambda: f"00000000-0000-4000-8000-{number:012x}",
            new_suffix=lambda: f"{number:05d}",
            field_validation="Ignore",
        )
        result = REGISTRY.attempt(transaction, operation, context)
    assert result.error is None, result.error
    return result
