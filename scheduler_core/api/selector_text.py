"""Selectors as query text: `?labelSelector=` and `?fieldSelector=`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scheduler_core.api.errors import bad_request
from scheduler_core.api.selectors import Requirement, SelectorError, requirement

_TOKEN: Final = re.compile(r"\s*(?:(?P<op>==|!=|=|!|,|\(|\)|<|>)|(?P<word>[^\s=!,()<>]+))")


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise bad_request(f"unable to parse requirement: {text!r} at column {position}; correct the selector")
        tokens.append(match["op"] or match["word"])
        position = match.end()
    return tokens


_SYMBOLS: Final = frozenset({"==", "!=", "=", "!", ",", "(", ")", "<", ">"})


class _LabelParser:
    """Recursive descent over the tokens of one label selector."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def word(self, what: str) -> str:
        token = self.take()
        if not token or token in _SYMBOLS:
            raise self.error(f"found '{token}', expected: {what}")
        return token

    def error(self, why: str) -> Exception:
        return bad_request(f"unable to parse requirement: {why}; correct the label selector {self.text!r}")

    def value(self) -> str:
        return "" if self.peek() in (",", "") else self.word("a value")

    def value_set(self) -> list[str]:
        if self.take() != "(":
            raise self.error("expected: '('")
        values: list[str] = []
        while True:
            if self.peek() in (",", ")"):
                values.append("")
            else:
                values.append(self.word("a value"))
            token = self.take()
            if token == ")":
                return values
            if token != ",":
                raise self.error(f"found '{token}', expected: ',' or ')'")

    def one(self) -> Requirement:
        if self.peek() == "!":
            self.take()
            return requirement(self.word("a key"), "DoesNotExist", ())
        key = self.word("a key")
        token = self.peek()
        if token in ("", ","):
            return requirement(key, "Exists", ())
        self.take()
        match token:
            case "=" | "==":
                return requirement(key, "In", (self.value(),))
            case "!=":
                return requirement(key, "NotIn", (self.value(),))
            case "in":
                return requirement(key, "In", self.value_set())
            case "notin":
                return requirement(key, "NotIn", self.value_set())
            case ">":
                return requirement(key, "Gt", (self.value(),))
            case "<":
                return requirement(key, "Lt", (self.value(),))
            case _:
                raise self.error(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")

    def all(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while self.position < len(self.tokens):
            found.append(self.one())
            token = self.take()
            if token not in (",", ""):
                raise self.error(f"found '{token}', expected: ',' or end of selector")
            if token == "," and self.position == len(self.tokens):
                raise self.error("found '', expected: identifier after ','")
        return tuple(found)


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> tuple[Requirement, ...]:
    """Return the conditions of `?labelSelector=` text; the empty text selects everything.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    try:
        return _LabelParser(text).all()
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}; correct the label selector") from error


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One condition of a field selector: the field's text equals the value, or does not."""

    field: str
    equal: bool
    value: str

    def matches(self, read: Callable[[str], str]) -> bool:
        """Return whether the condition holds; `read` returns a field's text, empty when absent."""
        return (read(self.field) == self.value) is self.equal


@lru_cache(maxsize=1024)
def parse_field_selector(text: str) -> tuple[FieldRequirement, ...]:
    """Return the conditions of `?fieldSelector=` text (`metadata.name=web,status.phase!=Running`).

    Backslash escapes `,`, `=` and itself. Which fields exist is the caller's to check.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    found: list[FieldRequirement] = []
    for part in re.findall(r"(?:\\.|[^,\\])+", text):
        match = re.fullmatch(r"((?:\\.|[^=!\\])*)(!=|==|=)((?:\\.|[^=\\])*)", part, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        value = re.sub(r"\\([\\,=])", r"\1", match[3])
        found.append(FieldRequirement(match[1], match[2] != "!=", value))
    return tuple(found)
