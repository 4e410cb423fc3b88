"""Regular expressions as upstream takes them: RE2's, which run in linear time whatever the pattern and the text.

Go's `regexp` and the library of package `google-re2` read the same language; what is wrong with a pattern is told in
Go's words (regexp/syntax, parse.go).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2

PATTERNS_KEPT: Final = 1_024
"""Compiled patterns, and answers about them, that are remembered."""

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False

_WORDS: Final = (
    # RE2's words, Go's; what is wrong stands behind them.
    ("no argument for repetition operator: ", "missing argument to repetition operator: "),
    ("bad repetition operator: ", "invalid nested repetition operator: "),
    ("invalid perl operator: ", "invalid or unsupported Perl syntax: "),
    ("invalid repetition size: ", "invalid repeat count: "),
    ("missing ]: ", "missing closing ]: "),
)


class PatternError(ValueError):
    """No regular expression; the text is Go's."""


@lru_cache(PATTERNS_KEPT)
def compiled(pattern: str) -> Any:
    """Return a compiled pattern.

    Raises:
        PatternError: it is none.
    """
    try:
        return re2.compile(pattern, options=_OPTIONS)
    except re2.error as wrong:
        told = wrong.args[0]
        raise PatternError(_in_go(pattern, told.decode() if isinstance(told, bytes) else str(told))) from wrong


def _in_go(pattern: str, told: str) -> str:
    if told.startswith("missing ): "):
        return f"error parsing regexp: missing closing ): `{pattern}`"
    if told.startswith("unexpected ): "):
        return f"error parsing regexp: unexpected ): `{pattern}`"
    if told.startswith("trailing \\"):
        return "error parsing regexp: trailing backslash at end of expression: ``"
    for theirs, ours in _WORDS:
        if told.startswith(theirs):
            return f"error parsing regexp: {ours}`{told.removeprefix(theirs)}`"
    what, colon, where = told.partition(": ")
    return f"error parsing regexp: {what}: `{where}`" if colon else f"error parsing regexp: {what}"


def pattern_error(pattern: str) -> str:
    """Return what is wrong with a pattern; empty: nothing."""
    try:
        compiled(pattern)
    except PatternError as wrong:
        return str(wrong)
    return ""


def find(text: str, pattern: str) -> str:
    """Return the first match of a pattern, the leftmost one; empty where there is none.

    Raises:
        PatternError: it is no pattern.
    """
    found = compiled(pattern).search(text)
    return found.group() if found else ""


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return the matches of a pattern one after the other, at most so many where that is not negative.

    As Go's `FindAllString`: an empty match right behind another match is none.

    Raises:
        PatternError: it is no pattern.
    """
    program = compiled(pattern)
    found: list[str] = []
    at = begun = 0
    ended = -1
    while begun <= len(text) and len(found) != most:
        match = program.search(text, begun)
        if match is None:
            break
        start, at = match.span()
        if start != at or start != ended:
            found.append(match.group())
        ended = at
        begun = at + 1 if start == at else at
    return found
