"""Patterns of scripts: `*`, `?`, `[…]`, and the regular expressions of `[[ =~ ]]`, `grep` and `sed`.

All become expressions of a library that reads a text in one go, whatever somebody writes (package `google-re2`).
Source: POSIX.1-2024, Shell Command Language, 2.14; Base Definitions, 9.3 and 9.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import re2

from controllers.kubelet.shell.tree import Unplayable

PATTERN_LENGTH_MAX: Final = 1_024
"""Characters of a pattern; what a longer one means is not known."""

_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_CLASS: Final = re.compile(r"\[([!^]?)(\]?(?:\[:[a-z]+:\]|[^\]])*)\]", re.DOTALL)
_NOTHING: Final = re.compile(r"\[:[a-z]+:\]|.", re.DOTALL)
_TURNED: Final = frozenset("(){}|+?")
"""Letters that mean in a basic expression after a backslash what they mean in an extended one without it."""

Segments = Iterable[tuple[str, bool]]
"""(letters, whether they are quoted) of a pattern, in order."""


def _options(*, posix: bool, folded: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.case_sensitive = not folded
    if posix:
        options.posix_syntax = options.longest_match = options.perl_classes = True
        options.word_boundary = options.one_line = True
    return options


_OPTIONS: Final = {
    (posix, folded): _options(posix=posix, folded=folded) for posix in (False, True) for folded in (False, True)
}


def escaped(text: str) -> str:
    """Return an expression that fits a text alone."""
    return "".join("\\" + letter if letter in _SPECIAL else letter for letter in text)


def compiled(expression: str, *, posix: bool = False, folded: bool = False) -> Any:
    """Return an expression, ready to search with; `posix`: of what fits at one place the longest counts.

    Raises:
        Unplayable: it is too long, or nothing that can be read here.
    """
    if len(expression) > 4 * PATTERN_LENGTH_MAX:
        raise Unplayable("a pattern is too long")
    try:
        return re2.compile(expression, options=_OPTIONS[posix, folded])
    except (re2.error, UnicodeEncodeError) as wrong:
        raise Unplayable(f"the pattern {expression[:80]} cannot be read") from wrong


def of_pattern(segments: Segments, *, short: bool = False, path: bool = False) -> str:
    """Return the expression of a shell's pattern.

    Args:
        segments: the pattern.
        short: whether stars take as little as they can.
        path: whether it names files: then stars go no further than a slash, and take no point at the beginning.
    """
    parts: list[str] = []
    length = 0
    for text, quoted in segments:
        length += len(text)
        if length > PATTERN_LENGTH_MAX:
            raise Unplayable("a pattern is too long")
        at = 0
        while at < len(text):
            letter = text[at]
            found = _CLASS.match(text, at) if letter == "[" and not quoted else None
            first = path and (not parts or parts[-1].endswith("/"))
            if found is not None:
                parts.append(_class(found[1], found[2]))
                at = found.end()
                continue
            if quoted or letter not in "*?\\":
                parts.append(escaped(letter))
            elif letter == "\\":
                at += 1
                parts.append(escaped(text[at : at + 1] or "\\"))
            elif letter == "?":
                parts.append("[^./]" if first else "[^/]" if path else ".")
            elif path:
                parts.append("(?:[^./][^/]*)?" if first else "[^/]*")
            elif parts[-1:] not in (["*"], [".*"], [".*?"]):
                parts.append(".*?" if short else ".*")
            at += 1
    return "".join(parts)


def fits(pattern: str, text: str) -> bool:
    """Return whether the whole of a text fits a shell's pattern.

    Raises:
        Unplayable: the pattern is too long.
    """
    return compiled(of_pattern([(pattern, False)])).fullmatch(text) is not None


def _class(negated: str, letters: str) -> str:
    within = "".join(
        one[0] if len(one[0]) > 1 or one[0] == "-" or one[0].isalnum() else "\\" + one[0]
        for one in _NOTHING.finditer(letters)
    )
    return f"[{'^' if negated else ''}{within}]"


def of_basic(text: str) -> str:
    """Return a basic regular expression as an extended one."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        letter, following = text[at], text[at + 1 : at + 2]
        found = _CLASS.match(text, at) if letter == "[" else None
        if found is not None:
            parts.append(found[0])
            at = found.end()
        elif letter == "\\":
            parts.append(following if following in _TURNED else "\\" + following)
            at += 2
        else:
            literal = letter in _TURNED or (letter == "*" and parts[-1:] in ([], ["("], ["^"]))
            parts.append("\\" + letter if literal else letter)
            at += 1
    return "".join(parts)
