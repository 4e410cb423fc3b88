"""`$((…))`, `((…))` and what stands in the brackets of an array: whole numbers of 64 bits.

Source: POSIX.1-2024, Shell Command Language, 2.6.4; the Bash Reference Manual, 6.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

TOKENS_MAX: Final = 500
"""Numbers, names and operators of an expression; a longer one is an error."""

_DEPTH_MAX: Final = 24
_NAMES_MAX: Final = 8
_TOKEN: Final = re.compile(
    r"\s*(\d+#\w+|0[xX][0-9A-Fa-f]+|\d+|[A-Za-z_][A-Za-z0-9_]*|<<=|>>=|\*\*|\+\+|--|&&|\|\||<<|>>"
    r"|[<>=!]=|[-+*/%&|^]=|[-+*/%()<>!~&|^?:,=\[\]])",
    re.ASCII,
)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_STRENGTH: Final[Mapping[str, int]] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_ASSIGNS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


class Unreckonable(ValueError):
    """An expression that comes to nothing; the message says why."""


class Numbers(Protocol):
    """The variables of an expression."""

    def number_text(self, name: str, index: str | None) -> str:
        """Return what a variable, or an element of an array, holds."""

    def put_number(self, name: str, index: str | None, value: int) -> None:
        """Give it a value."""

    def is_keyed(self, name: str) -> bool:
        """Return whether an array's elements have names, not numbers."""


class Fixed:
    """Variables that a function tells and nobody changes."""

    def __init__(self, told: Callable[[str], str]) -> None:
        """Take what tells them."""
        self._told = told

    def number_text(self, name: str, index: str | None) -> str:
        """Return what the function tells."""
        return self._told(name)

    def put_number(self, name: str, index: str | None, value: int) -> None:
        """Refuse."""
        raise Unreckonable("attempted assignment to non-variable")

    def is_keyed(self, name: str) -> bool:
        """Return that there are no arrays."""
        return False


def value_of(text: str, numbers: Numbers) -> int:
    """Return what an expression comes to; 0 where it is empty.

    Raises:
        Unreckonable: it comes to nothing.
    """
    tokens: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or len(tokens) >= TOKENS_MAX:
            raise Unreckonable(f"{text[:80]}: syntax error in expression")
        tokens.append(found[1])
        at = found.end()
    if not tokens:
        return 0
    reckoning = _Reckoning(tokens, numbers, text[:80])
    value = reckoning.listed(live=True)
    if reckoning.tokens:
        raise reckoning.wrong()
    return value


class _Reckoning:
    """Reads an expression and reckons on the way; what is not `live` is read alone."""

    def __init__(self, tokens: list[str], numbers: Numbers, text: str) -> None:
        self.tokens, self._numbers, self._text, self._depth = tokens[::-1], numbers, text, 0

    def wrong(self, why: str = "syntax error in expression") -> Unreckonable:
        return Unreckonable(f"{self._text}: {why}")

    def _skip(self, *tokens: str) -> str:
        return self.tokens.pop() if self.tokens and self.tokens[-1] in tokens else ""

    def _need(self, token: str) -> None:
        if not self._skip(token):
            raise self.wrong()

    def listed(self, *, live: bool) -> int:
        value = self._assigned(live=live)
        while self._skip(","):
            value = self._assigned(live=live)
        return value

    def _assigned(self, *, live: bool) -> int:
        self._depth += 1
        if self._depth > 4 * _DEPTH_MAX:
            raise self.wrong("expression recursion level exceeded")
        value = self._binary(1, live=live)
        if self._skip("?"):
            yes = self.listed(live=live and value != 0)
            self._need(":")
            no = self._assigned(live=live and value == 0)
            value = yes if value else no
        self._depth -= 1
        return value

    def _binary(self, strength: int, *, live: bool) -> int:
        left = self._one(live=live)
        while self.tokens and (own := _STRENGTH.get(self.tokens[-1], 0)) >= strength:
            operator = self.tokens.pop()
            lives = live and not (operator == "&&" and not left) and not (operator == "||" and left)
            # Powers go from right to left.
            self._depth += 1
            if self._depth > 4 * _DEPTH_MAX:
                raise self.wrong("expression recursion level exceeded")
            right = self._binary(own if operator == "**" else own + 1, live=lives)
            self._depth -= 1
            left = self._applied(operator, left, right) if lives else int(operator == "||" and left != 0)
        return left

    def _one(self, *, live: bool) -> int:
        if not self.tokens:
            raise self.wrong("syntax error: operand expected")
        token = self.tokens.pop()
        if token == "(":
            value = self.listed(live=live)
            self._need(")")
            return value
        if token in ("-", "+", "!", "~", "++", "--"):
            return self._prefixed(token, live=live)
        if token[0].isdecimal():
            return _wrapped(_number(token, self))
        if _NAME.fullmatch(token) is None:
            raise self.wrong("syntax error: operand expected")
        return self._named(token, live=live)

    def _prefixed(self, token: str, *, live: bool) -> int:
        self._depth += 1
        if self._depth > 4 * _DEPTH_MAX:
            raise self.wrong("expression recursion level exceeded")
        if token in ("++", "--") and self.tokens and _NAME.fullmatch(self.tokens[-1]):
            name = self.tokens.pop()
            index = self._index(name, live=live)
            value = self._got(name, index) + (1 if token == "++" else -1)
            if live:
                self._numbers.put_number(name, index, value)
        else:
            value = self._one(live=live)
            value = {"-": -value, "!": int(not value), "~": ~value}.get(token, value)
        self._depth -= 1
        return _wrapped(value)

    def _named(self, name: str, *, live: bool) -> int:
        index = self._index(name, live=live)
        assigns = self._skip(*_ASSIGNS)
        if assigns:
            value = self._assigned(live=live)
            if live and assigns != "=":
                value = self._applied(assigns[:-1], self._got(name, index), value)
            if live:
                self._numbers.put_number(name, index, value)
            return value
        value = self._got(name, index) if live else 0
        after = self._skip("++", "--")
        if after and live:
            self._numbers.put_number(name, index, _wrapped(value + (1 if after == "++" else -1)))
        return value

    def _index(self, name: str, *, live: bool) -> str | None:
        if not self._skip("["):
            return None
        if self._numbers.is_keyed(name):
            key = ""
            while self.tokens and self.tokens[-1] != "]":
                key += self.tokens.pop()
        else:
            key = str(self.listed(live=live))
        self._need("]")
        return key

    def _got(self, name: str, index: str | None) -> int:
        """Return a variable's value; where that is a name, the value of that one."""
        text = self._numbers.number_text(name, index).strip()
        for _ in range(_NAMES_MAX):
            if _NAME.fullmatch(text) is None:
                break
            text = self._numbers.number_text(text, None).strip()
        sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
        if not digits:
            return 0
        if not digits[0].isdecimal() or not digits.isascii():
            raise self.wrong(f'syntax error: {text[:80]} is no number (error token is "{text[:80]}")')
        return _wrapped(sign * _number(digits, self))

    def _applied(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%") and right == 0:
            raise self.wrong("division by 0")
        if operator == "**":
            if right < 0:
                raise self.wrong("exponent less than 0")
            return _wrapped(pow(left, right, 2**64))
        return _wrapped(_OPERATIONS[operator](left, right))


def _number(text: str, reckoning: _Reckoning) -> int:
    base, mark, digits = text.rpartition("#")
    try:
        if mark:
            return int(digits[:64], int(base[:3]))
        if text[:2] in ("0x", "0X"):
            return int(text[:66], 16)
        return int(text[:64], 8 if len(text) > 1 and text[0] == "0" else 10)
    except ValueError:
        raise reckoning.wrong(f'value too great for base (error token is "{text[:80]}")') from None


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _divided(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left - _divided(left, right) * right,
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&&": lambda left, right: int(bool(left and right)),
    "||": lambda left, right: int(bool(left or right)),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}
