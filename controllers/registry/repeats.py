"""Creates of one body over and over, as a controller makes pods from a template: what they share is worked out twice.

Two documents that were made of one body differ in what was drawn for them and in nothing else: their names, their uids,
names that admission makes; those that were made of bodies of one form differ in the form's values, too. So where the
first two are, the next ones are the second with other draws and values at these places.
This holds while nothing else is written: the run ends with its transaction, or with any other operation in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from controllers.log.operations import Create, Operation
from scheduler_core.api.document import Document

Draws = Callable[[Callable[..., str]], str]
"""Takes a kind of draw, returns what is drawn next for one object."""

_Hole = tuple[str, int, str]
"""Text before a value, which value, text after it."""
_Holes = dict[Any, "_Hole | _Holes"]
"""Key or index → a hole, or the holes below."""


class Repeats:
    """One run of creates. `begin` before each operation of a transaction."""

    def __init__(self) -> None:
        """Begin without a run."""
        self._body: Mapping[str, Any] | None = None
        self._form: Hashable = None
        self._place: tuple[str, str, str, str] = ("", "", "", "")
        self._known: tuple[Document, list[str]] | None = None
        self._holes: _Holes | None = None
        self._drawn: list[str] = []
        self._values: tuple[str, ...] | None = None
        """Those of the form of what is written now; None: it has none."""
        self.is_recording = False
        self.looked_up: set[str] = set()

    def begin(self, operation: Operation, actor: str) -> None:
        """Say what is written next; anything but the body of the operation before, or its form, ends the run."""
        self._drawn = []
        self.looked_up = set()
        if isinstance(operation, Create):
            place = (operation.resource, operation.subresource, operation.namespace, actor)
            form, self._values = (None, None) if operation.form is None else operation.form
            if place == self._place and (operation.object is self._body or (form is not None and form == self._form)):
                return
            self._body, self._form, self._place = operation.object, form, place
        else:
            self._body = self._form = self._values = None
        self._known = self._holes = None
        self.is_recording = self._body is not None

    def recording(self, draws: Draws) -> Draws:
        """Return draws whose results are noted."""

        def noted(draw: Callable[..., str]) -> str:
            value = draws(draw)
            self._drawn.append(value)
            return value

        return noted

    def learn(self, document: Document) -> None:
        """Note what became of the body, accepted at no charge."""
        metadata = document["metadata"]
        # The first two draws are those of the name and the uid; of a form the name is a value.
        drawn = self._drawn[1 if self._values is None else 0 :]
        if drawn[:1] != [metadata["uid"]] or self._place[0] in self.looked_up:
            # It has a name of its own, or one that was hard to find; or it depends on the run's own objects.
            return
        values = [metadata["name"], metadata["uid"], *self.values, *drawn[1:]]
        if self._known is None or len(self._known[1]) != len(values):
            self._known = document, values
            return
        if any(one == other for one, other in zip(self._known[1], values, strict=True)):
            # Where a value stands that both have, only another document can show.
            return
        holes = _differences(*self._known, document, values)
        self.is_recording = False
        if isinstance(holes, dict):
            self._known, self._holes = (document, values), holes

    @property
    def suffixes(self) -> int:
        """Return how many suffixes are drawn for one document besides its name and uid; -1: this is no repetition."""
        if self._holes is None or self._known is None:
            return -1
        return len(self._known[1]) - 2 - len(self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """Return the values of the form of what is written now, but for its name."""
        return () if self._values is None else self._values[1:]

    def document(self, values: list[str]) -> Document:
        """Return the next document of the run: `values` are its name, its uid, those of its form and the suffixes."""
        assert self._holes is not None, "nothing was learnt"
        assert self._known is not None, "nothing was learnt"
        made: Document = _filled(self._known[0], self._holes, values)
        return made


def _filled(value: Any, holes: _Holes, values: list[str]) -> Any:
    copied = value.copy()
    for key, hole in holes.items():
        if isinstance(hole, dict):
            copied[key] = _filled(copied[key], hole, values)
        else:
            copied[key] = hole[0] + values[hole[1]] + hole[2]
    return copied


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
