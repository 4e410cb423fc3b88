"""Selectors as query text: `?labelSelector=` and `?fieldSelector=`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scheduler_core.api.errors import bad_request
from scheduler_core.api.label_names import qualified_name_errors
from scheduler_core.api.selectors import Requirement, SelectorError, requirement

_TOKEN: Final = re.compile(r"[ \t\r\n]*(?:(?P<op>==|!=|[=!,()<>])|(?P<word>[^ \t\r\n=!,()<>]+)|$)")
_SYMBOLS: Final = frozenset({"==", "!=", "=", "!", ",", "(", ")", "<", ">"})
_END: Final = ""
_OPERATORS: Final = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn", ">": "Gt", "<": "Lt"}


class _Unreadable(Exception):
    """A requirement that cannot be read; the text says what was found, and what could have been."""


class _LabelParser:
    """Recursive descent over the tokens of one label selector: the grammar and the words of `labels.Parse`."""

    def __init__(self, text: str) -> None:
        self.tokens = [match["op"] or match["word"] or _END for match in _TOKEN.finditer(text)]
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else _END

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def all(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while (token := self.peek()) != _END:
            if token in _SYMBOLS and token != "!":
                raise bad_request(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self.one())
            except (_Unreadable, SelectorError) as error:
                raise bad_request(f"unable to parse requirement: {error}") from error
            token = self.take()
            if token == _END:
                break
            if token != ",":
                raise bad_request(f"found '{token}', expected: ',' or 'end of string'")
            token = self.peek()
            if token == _END or (token in _SYMBOLS and token != "!"):
                raise bad_request(f"found '{token}', expected: identifier after ','")
        return tuple(found)

    def one(self) -> Requirement:
        absent = self.peek() == "!"
        if absent:
            self.take()
        key = self.word()
        wrong = qualified_name_errors(key)
        if wrong:
            shown = json.dumps(key, ensure_ascii=False)
            raise _Unreadable(f"<nil>: Invalid value: {shown}: {'; '.join(wrong)}")
        if absent or self.peek() in (_END, ","):
            return requirement(key, "DoesNotExist" if absent else "Exists", ())
        token = self.take()
        operator = _OPERATORS.get(token)
        if operator is None:
            raise _Unreadable(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")
        return requirement(key, operator, self.value_set() if token in ("in", "notin") else (self.value(),))

    def word(self) -> str:
        token = self.take()
        if token == _END or token in _SYMBOLS:
            raise _Unreadable(f"found '{token}', expected: identifier")
        return token

    def value(self) -> str:
        return "" if self.peek() in (_END, ",") else self.word()

    def value_set(self) -> list[str]:
        token = self.take()
        if token != "(":
            raise _Unreadable(f"found '{token}' expected: '('")
        token = self.peek()
        if token == _END or (token in _SYMBOLS and token not in (",", ")")):
            raise _Unreadable(f"found '{token}', expected: ',', ')' or identifier")
        values = set()
        while True:
            token = self.peek()
            if token in (",", ")"):
                values.add("")
            elif token == _END or token in _SYMBOLS:
                raise _Unreadable(f"found '{token}', expected: ',', or identifier")
            else:
                values.add(self.take())
            token = self.take()
            if token == ")":
                return sorted(values)
            if token != ",":
                raise _Unreadable(f"found '{token}', expected: ',' or ')'")


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> tuple[Requirement, ...]:
    """Return the conditions of `?labelSelector=` text; the empty text selects everything.

    Source: k8s.io/apimachinery `labels.Parse`.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    return _LabelParser(text).all()


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One condition of a field selector: the field's text equals the value, or does not."""

    field: str
    equal: bool
    value: str

    def matches(self, read: Callable[[str], str]) -> bool:
        """Return whether the condition holds; `read` returns a field's text, empty when absent."""
        return (read(self.field) == self.value) is self.equal


_TERM: Final = re.compile(r"(?:\\.|[^,\\]|\\$)+", re.DOTALL)


@lru_cache(maxsize=1024)
def parse_field_selector(text: str) -> tuple[FieldRequirement, ...]:
    """Return the conditions of `?fieldSelector=` text (`metadata.name=web,status.phase!=Running`).

    Backslash escapes `,`, `=` and itself. Which fields exist is the caller's to check. Source: k8s.io/apimachinery
    `fields.ParseSelector`.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    found: list[FieldRequirement] = []
    for part in sorted(_TERM.findall(text)):
        match = re.fullmatch(r"(.*?)(!=|==|=)(.*)", part, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        found.append(FieldRequirement(match[1], match[2] != "!=", _unescaped(match[3])))
    return tuple(found)


def _unescaped(value: str) -> str:
    wrong = re.search(r"\\(?![\\,=]).?|=", re.sub(r"\\[\\,=]", "  ", value), re.DOTALL)
    if wrong is None:
        return re.sub(r"\\([\\,=])", r"\1", value)
    if wrong[0] == "=":
        raise bad_request(f"invalid field selector: unescaped character in value: {ord('=')}")
    raise bad_request(f"invalid field selector: invalid escape sequence: {wrong[0]}")
