"""Stencils: what the objects of a list have alike is encoded once, and what each has of its own is put into that.

The pods of a ReplicaSet differ in their names, addresses and times. So a stencil is one object's JSON with holes where
others differ from it. An object fits when its JSON between the holes is the same to the byte, and what it has in them
are texts without quotes or escapes, whole numbers or truth values. Then it differs from the stencil's object in these
alone, and so does its protobuf, but for the lengths of the messages around them, which follow from theirs. What fits no
stencil is encoded by itself, and may be what the next one is made of.

A stencil lives as long as one list is written: it can be neither old nor somebody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from clustersim.apiserver.protobuf.fields import Field, fields_of
from clustersim.apiserver.protobuf.messages import (
    OF_TEXTS,
    Payload,
    field_writer,
    missing_field,
    single_writer,
    writer_of,
)
from clustersim.apiserver.protobuf.wire import DELIMITED, number_field, tag, varint

ITEMS_MIN: Final = 32
"""Objects of a list from which on stencils are worth their making."""

STENCILS_MAX: Final = 4
"""Stencils kept while a list is written; the one used longest ago goes."""

STENCIL_BYTES_MAX: Final = 16_384
"""Bytes of an object's JSON, past which no stencil is made of it."""

HOLES_MAX: Final = 64
"""Holes of one stencil; objects that differ in more places than that have little alike."""

LAYOUTS_MAX: Final = 256
"""Combinations of lengths in its holes for which a stencil remembers its bytes; past it they are forgotten."""

TRIES: Final = 16
OBJECTS_A_TRY: Final = 32
"""A stencil may be made TRIES times, and once more for so many objects: where nothing is alike, little time is lost."""

_MARK: Final = "\ue000hole\ue000"
_MARKED: Final = _MARK.encode()
_BARE: Final = msgspec.Raw(_MARKED)

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

Filling = Callable[[bytes], bytes | None]
"""From the JSON in a hole, of a text without its quotes, to what is written there; None: it does not fit."""

_JSON_TYPES: Final[Mapping[str, type]] = {"i": int, "b": bool}

Holes = dict[Any, Any]
"""Where in a value the holes are: field, key or index → what is below it, of a hole itself its number in the JSON."""


class _Hole(NamedTuple):
    number: int


class _Within(NamedTuple):
    """A field with its length in front, in which there are holes."""

    number: int
    pieces: list[Any]


def written_items(message: str, items: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the protobuf of a list's objects, which are given as JSON, all of one message."""
    write = writer_of(message)
    if len(items) < ITEMS_MIN:
        yield from (write(_decode(data)) for data in items)
        return
    stencils: list[Stencil] = []
    tries = 0
    for number, data in enumerate(items):
        written = _written(stencils, data)
        if written is None:
            document = _decode(data)
            if tries < TRIES + number // OBJECTS_A_TRY:
                tries += 1
                _learn(stencils, message, data, document)
            written = write(document)
        yield written


def _written(stencils: list[Stencil], data: bytes) -> bytes | None:
    for place, stencil in enumerate(stencils):
        written = stencil.write(data)
        if written is not None:
            if place:
                stencils.insert(0, stencils.pop(place))
            return written
    return None


def _learn(stencils: list[Stencil], message: str, data: bytes, document: Any) -> None:
    """Widen the stencil of an object's like, so that this one fits too; where it has none, begin one."""
    if len(data) > STENCIL_BYTES_MAX:
        return
    for place, stencil in enumerate(stencils):
        holes = stencil.holes_for(document)
        if holes is not None:
            del stencils[place]
            break
    else:
        holes = {}
        del stencils[STENCILS_MAX - 1 :]
    made = _made(message, document, holes)
    if made is not None:
        stencils.insert(0, made)


class Stencil:
    """One object's JSON and protobuf, with holes in both."""

    def __init__(self, message: str, document: Mapping[str, Any], holes: Holes, literals: Sequence[bytes]) -> None:
        """`literals`: the object's JSON without its holes, whose numbers follow their order there."""
        self._message, self._document, self._holes = message, document, holes
        self._first = literals[0]
        self._others = [(literal[:1], literal, len(literal)) for literal in literals[1:]]
        fillings: dict[int, Filling] = {}
        self._pieces = _pieces(message, document, holes, fillings)
        self._fillings = sorted(fillings.items())
        self._order = list(_order(self._pieces))
        self._layouts: dict[tuple[int, ...], list[bytes]] = {}

    def write(self, data: bytes) -> bytes | None:
        """Return the protobuf of an object that is given as JSON; None: it does not fit."""
        if not data.startswith(self._first):
            return None
        at = len(self._first)
        parts = []
        for stop, literal, length in self._others:
            # Where there is no stop at all -1 is told: no literal begins there, at the object's last bracket.
            end = data.find(stop, at)
            if not data.startswith(literal, end):
                return None
            parts.append(data[at:end])
            at = end + length
        if at != len(data) or b"\\" in b"".join(parts):
            return None
        for number, filling in self._fillings:
            filled = filling(parts[number])
            if filled is None:
                return None
            parts[number] = filled
        lengths = tuple(map(len, parts))
        layout = self._layouts.get(lengths)
        if layout is None:
            if len(self._layouts) >= LAYOUTS_MAX:
                self._layouts.clear()
            layout = self._layouts[lengths] = _laid_out(self._pieces, lengths)
        written = layout.copy()
        written[1::2] = [parts[number] for number in self._order]
        return b"".join(written)

    def holes_for(self, document: Mapping[str, Any]) -> Holes | None:
        """Return where a stencil has to have holes that this one's objects and another fit; None: there is none."""
        holes = _widened(_named(self._message), self._document, document, self._holes)
        return holes if holes is not None and _count(holes) <= HOLES_MAX else None


@cache
def _named(message: str) -> dict[str, Field]:
    """Return the fields that a message has in JSON, those included that stand among the others."""
    found: dict[str, Field] = {}
    for field in fields_of(message):
        found |= {field.name: field} if field.name else _named(field.form)
    return found


def _widened(table: Mapping[str, Field], old: Mapping[str, Any], new: Mapping[str, Any], holes: Holes) -> Holes | None:
    """Return the holes with those besides where two messages differ; None: they differ not in texts alone."""
    if list(old) != list(new):
        return None
    found = dict(holes)
    for name, value in new.items():
        if value == old[name]:
            continue
        field = table.get(name)
        wider = None if field is None else _wider(field, old[name], value, holes.get(name))
        if wider is None:
            return None
        found[name] = wider
    return found


def _wider(field: Field, old: Any, new: Any, holes: Any) -> Any:
    """Return the holes of a field whose values differ; None: there are none that would do."""
    if field.container == "[]":
        if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
            return None
        pairs = dict(enumerate(zip(old, new, strict=True)))
    elif field.container == "{}":
        if not isinstance(old, dict) or not isinstance(new, dict) or list(old) != list(new):
            return None
        pairs = {key: (old[key], new[key]) for key in new}
    else:
        return _wider_one(field, old, new, holes)
    found = dict(holes or {})
    for place, (before, now) in pairs.items():
        if before != now:
            wider = _wider_one(field, before, now, found.get(place))
            if wider is None:
                return None
            found[place] = wider
    return found


def _wider_one(field: Field, old: Any, new: Any, holes: Any) -> Any:
    if type(old) is not type(new):
        return None
    if isinstance(new, dict) and field.is_message:
        return _widened(_named(field.form), old, new, holes or {})
    holds = _JSON_TYPES.get(field.form, str if field.form in OF_TEXTS else None)
    return 0 if type(new) is holds else None


def _count(holes: Any) -> int:
    return sum(map(_count, holes.values())) if isinstance(holes, dict) else 1


def _made(message: str, document: Mapping[str, Any], holes: Holes) -> Stencil | None:
    """Return the stencil of an object; None: it has a text that looks like a mark."""
    numbers = count()
    marked, numbered = _marked(document, holes, numbers)
    literals = _encode(marked).split(_MARKED)
    return Stencil(message, document, numbered, literals) if len(literals) == next(numbers) + 1 else None


def _marked(value: Any, holes: Any, numbers: Iterator[int]) -> tuple[Any, Any]:
    """Return a value with marks in its holes, and their numbers."""
    if not isinstance(holes, dict):
        return _MARK if isinstance(value, str) else _BARE, next(numbers)
    copy, numbered = value.copy(), {}
    for place in value if isinstance(value, dict) else range(len(value)):
        if place in holes:
            copy[place], numbered[place] = _marked(value[place], holes[place], numbers)
    return copy, numbered


def _pieces(message: str, document: Mapping[str, Any], holes: Holes, fillings: dict[int, Filling]) -> list[Any]:
    """Return what is written of a message, in order: bytes, holes, and fields in which there are holes.

    `fillings`: told here by a hole's number, except where it is filled with its text as it stands.
    """

    def piece(number: int, form: str, value: Any, within: Any) -> Any:
        if within is None:
            return single_writer(number, form)(value)
        if isinstance(within, dict):
            return _Within(number, _pieces(form, value, within, fillings))
        if form in _JSON_TYPES:
            fillings[within] = (_numbers if form == "i" else _truths)(number)
            return _Hole(within)
        if form != "s":
            fillings[within] = _texts(OF_TEXTS[form])
        return _Within(number, [_Hole(within)])

    found: list[Any] = []
    for field in fields_of(message):
        number, form = field.number, field.form
        if not field.name:
            found.append(_Within(number, _pieces(form, document, holes, fillings)))
            continue
        value: Any = document.get(field.name)
        within = holes.get(field.name)
        if within is None:
            found.append(missing_field(field) if value is None else field_writer(field)(value))
        elif field.container == "[]":
            found += [piece(number, form, item, within.get(place)) for place, item in enumerate(value)]
        elif field.container == "{}":
            for key in sorted(value):
                entry = [single_writer(1, "s")(key), piece(2, form, value[key], within.get(key))]
                found.append(_Within(number, entry))
        else:
            found.append(piece(number, form, value, within))
    return found


def _texts(payload: Payload) -> Filling:
    return lambda data: payload(data.decode())


def _numbers(number: int) -> Filling:
    # Numbers below nought are rare, and null is none.
    return lambda data: number_field(number, int(data)) if data.isdigit() else None


def _truths(number: int) -> Filling:
    return {b"false": number_field(number, 0), b"true": number_field(number, 1)}.get


def _order(pieces: Sequence[Any]) -> Iterator[int]:
    """Yield the numbers of holes as they come in protobuf."""
    for piece in pieces:
        if isinstance(piece, _Hole):
            yield piece.number
        elif isinstance(piece, _Within):
            yield from _order(piece.pieces)


def _laid_out(pieces: Sequence[Any], lengths: Sequence[int]) -> list[bytes]:
    """Return what is written around texts of these lengths: bytes, and nothing where each text belongs, by turns."""
    found = [b""]
    for part in _parts(pieces, lengths)[0]:
        if part is None:
            found += (b"", b"")
        else:
            found[-1] += part
    return found


def _parts(pieces: Sequence[Any], lengths: Sequence[int]) -> tuple[list[bytes | None], int]:
    """Return what is written of pieces, None for each hole, and how many bytes it has with the texts in it."""
    found: list[bytes | None] = []
    size = 0
    for piece in pieces:
        if isinstance(piece, _Hole):
            found.append(None)
            size += lengths[piece.number]
        elif isinstance(piece, _Within):
            inside, within = _parts(piece.pieces, lengths)
            head = tag(piece.number, DELIMITED) + varint(within)
            found += (head, *inside)
            size += len(head) + within
        else:
            found.append(piece)
            size += len(piece)
    return found, size
