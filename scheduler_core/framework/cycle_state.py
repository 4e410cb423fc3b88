"""Scratch that a plugin keeps between its extension points within one scheduling cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from scheduler_core.framework.status import Code


class Timing(Protocol):
    """Times the plugins of one cycle; see `metrics.PluginTiming`."""

    @property
    def timer(self) -> Callable[[], int]:
        """Return the clock in nanoseconds."""
        ...

    def note(self, plugin: str, point: str, code: Code, began: int) -> None:
        """Record a plugin's run at an extension point, which began at `began` on the timer."""
        ...


class NotKeptError(LookupError):
    """What an earlier extension point should have kept is not there: the profile leaves that point out."""


class CycleState:
    """One cycle's scratch, keyed by plugin name (or `<plugin>/<what>`).

    A value that a dry run changes has a method `clone` that returns a copy to be changed apart; others are shared.
    `skip_filter` and `skip_score` hold the plugins whose PreFilter or PreScore answered Skip. `timing` is there in
    cycles whose plugins are timed.
    """

    __slots__ = ("_data", "skip_filter", "skip_score", "timing")

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.timing: Timing | None = None

    def read(self, key: str) -> Any:
        """Return what was written under the key.

        Raises:
            KeyError: nothing was.
        """
        return self._data[key]

    def expect(self, key: str, missing: str) -> Any:
        """Return what an earlier extension point of the plugin has kept.

        Args:
            key: it was written under this.
            missing: upstream's words where it was not, since the profile runs this point without that one.

        Raises:
            NotKeptError: it was not.
        """
        found = self._data.get(key)
        if found is None:
            raise NotKeptError(missing)
        return found

    def get(self, key: str) -> Any | None:
        """Return what was written under the key, None when nothing was."""
        return self._data.get(key)

    def write(self, key: str, value: Any) -> None:
        """Keep a value for later extension points of this cycle."""
        self._data[key] = value

    def delete(self, key: str) -> None:
        """Drop the value under the key, if there is one."""
        self._data.pop(key, None)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield what was written, key by key, in order of writing."""
        yield from self._data.items()

    def take(self, other: CycleState) -> None:
        """Hold what another state holds, values shared: what plugins would write for a pod just like that one."""
        self._data = dict(other._data)
        self.skip_filter = other.skip_filter
        self.skip_score = other.skip_score

    def clone(self) -> CycleState:
        """Return a state for a dry run: values with a method `clone` are cloned, others shared."""
        copy = CycleState()
        copy._data = {key: value.clone() if hasattr(value, "clone") else value for key, value in self._data.items()}
        copy.skip_filter = self.skip_filter
        copy.skip_score = self.skip_score
        return copy
