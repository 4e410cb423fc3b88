"""JSON paths of printer columns and selectable fields: `.status.conditions[?(@.type=="Ready")].status`.

Source: k8s.io/client-go/util/jsonpath (parser.go, jsonpath.go), v1.34: names, quoted names, indices, slices, `*`, `..`
and filters that compare with a literal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

Step = Callable[[Any], Iterator[Any]]

STEPS_MAX: Final = 64
"""Steps of one path."""

RESULTS_MAX: Final = 10_000
"""Values that one path may find; further ones are not looked for."""


class PathError(ValueError):
    """A text that is no such path."""


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, Mapping) and name in value:
            yield value[name]

    return step


def _wildcard(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _recursive(value: Any) -> Iterator[Any]:
    yield value
    for inner in _wildcard(value):
        yield from _recursive(inner)


def _sliced(parts: Sequence[int | None]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[slice(*parts)]

    return step


def _index(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}
_FILTER: Final = re.compile(
    r"\?\(\s*@(?P<left>[^=!<>]*?)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>.*?))?\s*\)", re.DOTALL
)


def _filter(text: str) -> Step:
    found = _FILTER.fullmatch(text)
    if found is None:
        raise PathError(f"unrecognized filter {text}")
    left = parse(found["left"]) if found["left"] else Path(())
    if found["operator"] is None:
        return lambda value: (item for item in _items(value) if left.find(item))
    right, compare = _literal(found["right"]), _COMPARE[found["operator"]]

    def step(value: Any) -> Iterator[Any]:
        for item in _items(value):
            values = left.find(item)
            if len(values) == 1 and type(values[0]) is type(right) and compare(values[0], right):
                yield item

    return step


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, Mapping) else ()


def _literal(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    raise PathError(f"unrecognized literal {text}")


class Path:
    """A path that was read."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps

    def find(self, value: Any) -> list[Any]:
        """Return what lies there, in order; nothing where something on the way is missing."""
        found = [value]
        for step in self._steps:
            found = [inner for one in found for inner in step(one)][:RESULTS_MAX]
        return found


_NAME: Final = re.compile(r"(?:\\.|[^\\.\[\]{}])+")


def parse(text: str) -> Path:
    """Return a path, which begins with a dot or a bracket.

    Raises:
        PathError: it cannot be read.
    """
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if len(steps) > STEPS_MAX:
            raise PathError("too many steps")
        if text.startswith("..", place):
            steps.append(_recursive)
            place += 1 if text[place + 2 : place + 3] not in ("", "[") else 2
        elif text[place] == ".":
            place += 1
            found = _NAME.match(text, place)
            if found is None:
                if place < len(text) and text[place] != "[":
                    raise PathError(f"unexpected {text[place]}")
                continue
            name = re.sub(r"\\(.)", r"\1", found[0])
            steps.append(_wildcard if name == "*" else _field(name))
            place = found.end()
        elif text[place] == "[":
            end = _closing(text, place)
            steps.append(_bracket(text[place + 1 : end].strip()))
            place = end + 1
        elif not steps:
            found = _NAME.match(text, place)
            if found is None:
                raise PathError(f"unexpected {text[place]}")
            steps.append(_field(found[0]))
            place = found.end()
        else:
            raise PathError(f"unexpected {text[place]}")
    return Path(tuple(steps))


def _closing(text: str, place: int) -> int:
    """Return where a bracket closes; those in quotes do not count."""
    depth, quote = 0, ""
    for index in range(place, len(text)):
        letter = text[index]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
            if not depth:
                return index
    raise PathError("unterminated array")


_SLICE: Final = re.compile(r"(-?\d{0,9})(?::(-?\d{0,9})(?::(-?\d{0,9}))?)?", re.ASCII)


def _bracket(text: str) -> Step:
    if text == "*":
        return _wildcard
    if text.startswith("?("):
        return _filter(text)
    if len(text) > 1 and text[0] == text[-1] == "'":
        return _field(text[1:-1])
    found = _SLICE.fullmatch(text)
    if found is None or not text:
        raise PathError(f"invalid array index {text}")
    if ":" not in text:
        return _index(int(text))
    step = int(found[3]) if found[3] else 1
    if step < 1:
        raise PathError("step must be > 0")
    return _sliced([int(found[1]) if found[1] else None, int(found[2]) if found[2] else None, step])
