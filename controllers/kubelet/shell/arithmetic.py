"""`$((…))`: whole numbers of 64 bits.

Source: POSIX.1-2024, Shell Command Language, 2.6.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TOKENS: Final = re.compile(r"\s*(\d{1,18}|[A-Za-z_]\w*|\$\w+|&&|\|\||[<>=!]=|[-+*/%()<>!])")
_LEVELS: Final = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_DEPTH_MAX: Final = 24


def value_of(text: str, variable: Callable[[str], str]) -> int:
    """Return what an expression comes to; 0 where it cannot be read."""
    tokens: list[str] = []
    at = 0
    while text[at:].strip():
        found = _TOKENS.match(text, at)
        if found is None or len(tokens) > 200:
            return 0
        tokens.append(found[1])
        at = found.end()
    try:
        return _level(tokens, 0, variable, 0)
    except (IndexError, ValueError, ZeroDivisionError):
        return 0


def _level(tokens: list[str], level: int, variable: Callable[[str], str], depth: int) -> int:
    if depth > _DEPTH_MAX:
        raise ValueError("too deep")
    if level == len(_LEVELS):
        return _one(tokens, variable, depth)
    left = _level(tokens, level + 1, variable, depth)
    while tokens and tokens[0] in _LEVELS[level]:
        operator = tokens.pop(0)
        left = _applied(operator, left, _level(tokens, level + 1, variable, depth))
    return left


def _one(tokens: list[str], variable: Callable[[str], str], depth: int) -> int:
    token = tokens.pop(0)
    if token == "(":
        value = _level(tokens, 0, variable, depth + 1)
        tokens.pop(0)
        return value
    if token in ("-", "+", "!"):
        value = _one_deeper(tokens, variable, depth)
        return -value if token == "-" else value if token == "+" else int(not value)
    if token.isdecimal():
        return int(token)
    text = variable(token.removeprefix("$")).strip()
    return int(text) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else 0


def _one_deeper(tokens: list[str], variable: Callable[[str], str], depth: int) -> int:
    if depth > _DEPTH_MAX:
        raise ValueError("too deep")
    return _one(tokens, variable, depth + 1)


def _applied(operator: str, left: int, right: int) -> int:
    match operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "/":
            value = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        case "%":
            value = abs(left) % abs(right) * (1 if left >= 0 else -1)
        case "&&":
            value = int(bool(left and right))
        case "||":
            value = int(bool(left or right))
        case "==":
            value = int(left == right)
        case "!=":
            value = int(left != right)
        case "<":
            value = int(left < right)
        case "<=":
            value = int(left <= right)
        case ">":
            value = int(left > right)
        case _:
            value = int(left >= right)
    return (value + 2**63) % 2**64 - 2**63
