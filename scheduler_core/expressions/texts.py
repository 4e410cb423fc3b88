"""Functions of texts: those of cel-go's extension `strings`, and what looks for regular expressions.

Source: cel-go/ext (strings.go, formatting.go, version 2 as upstream asks for it), k8s.io/apiserver/pkg/cel/library
(regex.go), v1.34. Positions count characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from scheduler_core.expressions import patterns
from scheduler_core.expressions.declaring import NO_OVERLOAD, Function, Way
from scheduler_core.expressions.formatting import formatted

_QUOTED: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
    '"': '\\"',
}  # fmt: skip
_LOWER: Final = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})
_UPPER: Final = str.maketrans({chr(letter): chr(letter - 32) for letter in range(ord("a"), ord("z") + 1)})


def _within(text: str, place: int) -> int:
    if not 0 <= place <= len(text):
        raise ValueError(f"index out of range: {place}")
    return place


def _char_at(text: str, place: int) -> str:
    at = _within(text, place)
    return text[at : at + 1]


def _index(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return -1 if start > len(text) else text.find(part, start)


def _last_index(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return text.rfind(part, 0, min(start, len(text)) + len(part))


def _joined(texts: Sequence[Any], between: str = "") -> str:
    if not all(isinstance(one, str) for one in texts):
        raise ValueError(NO_OVERLOAD)
    return between.join(texts)


def _replaced(text: str, old: str, new: str, most: int = -1) -> str:
    return text.replace(old, new, most)


def _split(text: str, between: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if between:
        return text.split(between, most - 1 if most > 0 else -1)
    if not 0 < most < len(text):
        return list(text)
    return [*text[: most - 1], text[most - 1 :]]


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if end is not None and start > end:
        raise ValueError(f"invalid substring range. start: {start}, end: {end}")
    return text[_within(text, start) : _within(text, last)]


def _quoted(text: str) -> str:
    return f'"{"".join(_QUOTED.get(letter, letter) for letter in text)}"'


def _looking(look: Callable[..., Any]) -> Callable[..., Any]:
    def answer(*values: Any) -> Any:
        try:
            return look(*values)
        except patterns.PatternError as wrong:
            raise ValueError(f"Illegal regex: {wrong}") from wrong

    return answer


def _index_of_element(elements: Sequence[Any], wanted: Any) -> int:
    return next((place for place, one in enumerate(elements) if _same(one, wanted)), -1)


def _last_index_of_element(elements: Sequence[Any], wanted: Any) -> int:
    return next((place for place in range(len(elements) - 1, -1, -1) if _same(elements[place], wanted)), -1)


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _method(answer: str, parameters: tuple[str, ...], of: Callable[..., Any]) -> Way:
    return Way(answer, parameters, of, member=True)


FUNCTIONS: Final = (
    Function("charAt", _method("string", ("string", "int"), _char_at)),
    Function(
        "indexOf",
        _method("int", ("string", "string"), _index),
        _method("int", ("string", "string", "int"), _index),
        _method("int", ("list<dyn>", "dyn"), _index_of_element),
    ),
    Function(
        "lastIndexOf",
        _method("int", ("string", "string"), _last_index),
        _method("int", ("string", "string", "int"), _last_index),
        _method("int", ("list<dyn>", "dyn"), _last_index_of_element),
    ),
    Function(
        "join",
        _method("string", ("list<string>",), _joined),
        _method("string", ("list<string>", "string"), _joined),
    ),
    Function("lowerAscii", _method("string", ("string",), lambda text: text.translate(_LOWER))),
    Function("upperAscii", _method("string", ("string",), lambda text: text.translate(_UPPER))),
    Function(
        "replace",
        _method("string", ("string", "string", "string"), _replaced),
        _method("string", ("string", "string", "string", "int"), _replaced),
    ),
    Function(
        "split",
        _method("list<string>", ("string", "string"), _split),
        _method("list<string>", ("string", "string", "int"), _split),
    ),
    Function(
        "substring",
        _method("string", ("string", "int"), _substring),
        _method("string", ("string", "int", "int"), _substring),
    ),
    Function("trim", _method("string", ("string",), lambda text: text.strip())),
    Function("strings.quote", Way("string", ("string",), _quoted)),
    Function("format", _method("string", ("string", "list<dyn>"), formatted)),
    Function("find", _method("string", ("string", "string"), _looking(patterns.find))),
    Function(
        "findAll",
        _method("list<string>", ("string", "string"), _looking(patterns.find_all)),
        _method("list<string>", ("string", "string", "int"), _looking(patterns.find_all)),
    ),
)
