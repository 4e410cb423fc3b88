"""Tables of sessions and their revision logs, and the only code that touches them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clustersim.store.sql import SqlStore

__all__ = ["SqlStore", "open_store", "sessions"]


def open_store(session_id: int, *, owner: bool = False) -> "SqlStore":
    """Return a session's store, with the installed plugins.

    The owner's keeps the current objects and the newest rows in memory.

    Raises:
        sessions.NoSession: there is none with this id.
    """
    from clustersim.plugins import installed
    from clustersim.store.sql import SqlStore

    return SqlStore(session_id, owner=owner, plugins=installed().registry)


def __getattr__(name: str) -> Any:
    # Models cannot be imported while Django still loads its apps, so these names resolve on first use.
    if name == "SqlStore":
        from clustersim.store.sql import SqlStore

        return SqlStore
    if name == "sessions":
        import importlib

        return importlib.import_module("clustersim.store.sessions")
    raise AttributeError(name)
