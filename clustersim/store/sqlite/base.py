"""Django's SQLite DatabaseWrapper whose writers take turns, and whose log is worked in beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db.backends.sqlite3 import base

from clustersim.store.sqlite.checkpointer import ROWS_BETWEEN, checkpointer_of
from clustersim.store.sqlite.turnstile import Turnstile

_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "REPLAC")


class TurnCursor(base.SQLiteCursorWrapper):
    """A cursor whose single writes outside a transaction take their turn too."""

    wrapper: DatabaseWrapper

    def execute(self, query: str, params: Any = None) -> Any:
        """Execute, behind the turnstile where this statement writes on its own."""
        if not self._alone(query):
            return super().execute(query, params)
        with self.wrapper.turn():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        """Execute many, behind the turnstile where they write on their own."""
        if not self._alone(query):
            return super().executemany(query, param_list)
        with self.wrapper.turn():
            return super().executemany(query, param_list)

    def _alone(self, query: str) -> bool:
        return not self.connection.in_transaction and query.lstrip()[:6].upper() in _WRITES


class _Turn:
    """One turn as a context."""

    def __init__(self, turnstile: Turnstile) -> None:
        self._turnstile = turnstile

    def __enter__(self) -> None:
        self._turnstile.enter()

    def __exit__(self, *_: object) -> None:
        self._turnstile.leave()


class DatabaseWrapper(base.DatabaseWrapper):
    """SQLite, one turn per write transaction."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turnstile: Turnstile | None = None
        self._rows_worked_in = 0

    def turn(self) -> _Turn:
        """Return the context of one turn at writing."""
        return _Turn(self._own_turnstile())

    def create_cursor(self, name: str | None = None) -> TurnCursor:
        """Return a cursor that knows its wrapper."""
        cursor: TurnCursor = self.connection.cursor(factory=TurnCursor)
        cursor.wrapper = self
        return cursor

    def _own_turnstile(self) -> Turnstile:
        if self._turnstile is None:
            self._turnstile = Turnstile(str(self.settings_dict["NAME"]))
        return self._turnstile

    def _start_transaction_under_autocommit(self) -> None:
        turnstile = self._own_turnstile()
        turnstile.enter()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            turnstile.leave()
            raise

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        if autocommit:
            self._own_turnstile().leave()
            self._work_in()

    def _work_in(self) -> None:
        """Ask for a checkpoint where this connection has written enough since it last asked."""
        rows = self.connection.total_changes
        if rows - self._rows_worked_in >= ROWS_BETWEEN:
            self._rows_worked_in = rows
            checkpointer_of(str(self.settings_dict["NAME"])).ask()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            if self._turnstile is not None:
                self._turnstile.close()
