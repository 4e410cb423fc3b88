"""`[[ … ]]`: reading conditions.

Source: the Bash Reference Manual, 3.2.5.2 and 6.4.
"""

from __future__ import annotations

import re
from typing import Final

from controllers.kubelet.shell.letters import ENDS, Letters
from controllers.kubelet.shell.tree import Part, SyntaxProblem, Test, Text, Word

_BEFORE: Final = re.compile(r"-[abcdefghknoprstuvwxzGLNOSR](?=[ \t])")
_BETWEEN: Final = re.compile(r"(==|=~|=|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)|<|>)(?=[\s])")


def read_condition(reader: Letters) -> Test:
    """Read up to `]]`, and it.

    Raises:
        SyntaxProblem: it is no condition.
    """
    test = _any(reader)
    reader.lines()
    if not reader.skip("]]"):
        raise reader.unexpected("]]")
    return test


def _any(reader: Letters) -> Test:
    found = [_every(reader)]
    while reader.skip("||"):
        found.append(_every(reader))
    return found[0] if len(found) == 1 else Test("||", tuple(found))


def _every(reader: Letters) -> Test:
    found = [_one(reader)]
    reader.lines()
    while reader.skip("&&"):
        found.append(_one(reader))
        reader.lines()
    return found[0] if len(found) == 1 else Test("&&", tuple(found))


def _one(reader: Letters) -> Test:
    reader.lines()
    with reader.deeper():
        if reader.sees("! ", "!\t"):
            reader.at += 1
            return Test("!", (_one(reader),))
        if reader.skip("("):
            test = _any(reader)
            reader.lines()
            if not reader.skip(")"):
                raise reader.unexpected(")")
            return test
        return _simple(reader)


def _simple(reader: Letters) -> Test:
    before = _BEFORE.match(reader.text, reader.at)
    if before is not None:
        at, reader.at = reader.at, before.end()
        reader.blanks()
        if _BETWEEN.match(reader.text, reader.at) is None and not reader.sees("]]"):
            return Test(before[0], words=(_operand(reader),))
        reader.at = at
    left = _operand(reader)
    reader.blanks()
    between = _BETWEEN.match(reader.text, reader.at)
    if between is None:
        return Test("-n", words=(left,))
    reader.at = between.end()
    reader.blanks()
    right = _expression(reader) if between[1] == "=~" else _operand(reader)
    return Test("==" if between[1] == "=" else between[1], words=(left, right))


def _operand(reader: Letters) -> Word:
    if reader.sees("]]"):
        raise reader.unexpected()
    word = reader.word()
    if not word:
        raise reader.unexpected()
    return word


def _expression(reader: Letters) -> Word:
    """Read a regular expression: its brackets and bars are letters, and between them blanks are too."""
    found: list[Part] = []
    depth = 0
    while reader.at < len(reader.text):
        found += reader.parts(ENDS)
        letter = reader.text[reader.at : reader.at + 1]
        if not letter or (letter.isspace() and depth == 0):
            break
        depth += {"(": 1, ")": -1}.get(letter, 0)
        found.append(Text(letter, quoted=False))
        reader.at += 1
    if not found:
        raise SyntaxProblem('syntax error: unexpected "]]"')
    return tuple(found)
