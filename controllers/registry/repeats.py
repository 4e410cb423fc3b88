"""Creates of one body over and over, as a controller makes pods from a template: what they share is worked out twice.

Two documents that were made of one body differ in what was drawn for them and in nothing else: their names, their uids,
names that admission makes; those that were made of bodies of one form differ in the form's values, too. So where the
first two are, the next ones are the second with other draws and values at these places.
This holds while time stands and nothing is written but what comes in rows itself: any other write, of whomever, ends
all runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from controllers.log.operations import Create, Form, Operation, resource_of
from scheduler_core.api.document import Document

Draws = Callable[[Callable[..., str]], str]
"""Takes a kind of draw, returns what is drawn next for one object."""

_Hole = tuple[str, int, str]
"""Text before a value, which value, text after it."""
_Holes = dict[Any, "_Hole | _Holes"]
"""Key or index → a hole, or the holes below."""


class Run:
    """Creates of one body, or of bodies of one form, by one actor."""

    def __init__(self, operation: Create, together: frozenset[str]) -> None:
        """Begin with nothing known; see `Repeats` for `together`."""
        self.body = operation.object
        self._together = together
        self.is_recording = True
        self.looked_up: set[str] = set()
        """Resources that the way of these creates depends on."""
        self._known: tuple[Document, list[str]] | None = None
        self._steps: _Steps | None = None

    @property
    def is_known(self) -> bool:
        """Return whether the next document can be made."""
        return self._steps is not None

    def learn(self, document: Document, form: Form | None, drawn: list[str]) -> None:
        """Note what became of a body, accepted at no charge."""
        metadata = document["metadata"]
        # The first two draws are those of the name and the uid; of a form the name is a value.
        drawn = drawn[1 if form is None else 0 :]
        if drawn[:1] != [metadata["uid"]] or self.looked_up & self._together:
            # It has a name of its own, or one that was hard to find; or it depends on the run's own objects.
            return
        values = [metadata["name"], metadata["uid"], *_values(form), *drawn[1:]]
        if self._known is None or len(self._known[1]) != len(values):
            self._known = document, values
            return
        if any(one == other for one, other in zip(self._known[1], values, strict=True)):
            # Where a value stands that both have, only another document can show.
            return
        holes = _differences(*self._known, document, values)
        self.is_recording = False
        if isinstance(holes, dict):
            self._known, self._steps = (document, values), _Steps(holes)

    def next(self, name: str, uid: str, form: Form | None, suffix: Callable[[], str]) -> Document:
        """Return the next document."""
        assert self._steps is not None, "nothing was learnt"
        assert self._known is not None, "nothing was learnt"
        document, known = self._known
        values = [name, uid, *_values(form)]
        while len(values) < len(known):
            values.append(suffix())
        return self._steps.filled(document, values)


def _values(form: Form | None) -> tuple[str, ...]:
    """Return the values of a form, but for the name."""
    return () if form is None else form.values[1:]


RUNS_MAX: Final = 32
"""Runs that are kept at a time; past it all are begun anew."""


class Repeats:
    """The runs of one writer. `go_on` at the begin of a transaction, `begin` before each operation."""

    def __init__(self, together: frozenset[str]) -> None:
        """Begin without a run.

        Args:
            together: resources of which rows come by turns: a run goes on beside writes of these, and is none where it
                depends on one of them.
        """
        self._together = together
        self._runs: dict[Hashable, Run] = {}
        self._at = (-1, -1)

    def go_on(self, now_ms: int, revision: int) -> None:
        """Go on at a time and a revision: what is known holds where nothing has happened since `rest`."""
        if (now_ms, revision) != self._at:
            self._runs.clear()

    def rest(self, now_ms: int, revision: int) -> None:
        """Stop at a time and a revision: nothing but what was begun here has been written until there."""
        self._at = (now_ms, revision)

    def begin(self, operation: Operation, actor: str) -> Run | None:
        """Say what is written next; return its run, None where it belongs to none."""
        if resource_of(operation) not in self._together:
            self._runs.clear()
        if not isinstance(operation, Create):
            return None
        form = operation.form
        of: Hashable = id(operation.object) if form is None else form.key
        key = (operation.resource, operation.subresource, operation.namespace, actor, of)
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= RUNS_MAX:
                self._runs.clear()
            # It holds the body, so that no other one can have its identity.
            run = self._runs[key] = Run(operation, self._together)
        return run


class _Steps:
    """How a document with holes is made anew: what is copied on the way down to them, and what is written there.

    They are laid out once, as each document takes them.
    """

    __slots__ = ("_copies", "_writes")

    def __init__(self, holes: _Holes) -> None:
        self._copies: list[tuple[int, Any]] = []
        """(number of the copy above, key there) of each copy, from the second one on; the first is the document."""
        self._writes: list[tuple[int, Any, str, int, str]] = []
        """(number of the copy, key there, text before, which value, text after)."""
        self._lay_out(holes, 0)

    def _lay_out(self, holes: _Holes, above: int) -> None:
        for key, hole in holes.items():
            if isinstance(hole, dict):
                self._copies.append((above, key))
                self._lay_out(hole, len(self._copies))
            else:
                self._writes.append((above, key, *hole))

    def filled(self, document: Document, values: list[str]) -> Document:
        """Return the document with other values in its holes; what has none is shared."""
        made: Document = document.copy()
        copies: list[Any] = [made]
        for above, key in self._copies:
            owner = copies[above]
            copied = owner[key] = owner[key].copy()
            copies.append(copied)
        for number, key, before, value, after in self._writes:
            copies[number][key] = before + values[value] + after
        return made


def _differences(one: Any, mine: list[str], other: Any, theirs: list[str]) -> _Hole | _Holes | None:
    """Return where two values differ in what was drawn; None where they differ in anything else."""
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        pairs = [(key, one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(index, one[index], other[index]) for index in range(len(one))]
    elif isinstance(one, str) and isinstance(other, str):
        return _hole(one, mine, other, theirs)
    else:
        return None
    holes: _Holes = {}
    for key, left, right in pairs:
        if left == right:
            continue
        found = _differences(left, mine, right, theirs)
        if found is None:
            return None
        holes[key] = found
    return holes


def _hole(one: str, mine: list[str], other: str, theirs: list[str]) -> _Hole | None:
    if one in mine and theirs[mine.index(one)] == other:
        return "", mine.index(one), ""
    for number, (drawn, wanted) in enumerate(zip(mine, theirs, strict=True)):
        before, found, after = one.partition(drawn)
        if found and other == before + wanted + after:
            return before, number, after
    return None
