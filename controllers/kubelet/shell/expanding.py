"""Words as they stand in a script, and what becomes of them.

Source: POSIX.1-2024, Shell Command Language, 2.6.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from controllers.kubelet.shell.arithmetic import value_of
from controllers.kubelet.shell.running import Happening
from controllers.kubelet.shell.tree import Output, Part, Script, Sum, Text, Variable, Word


class Words(Protocol):
    """What words need of their shell."""

    def variable(self, name: str) -> str:
        """Return a variable's value."""

    def output(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return what it prints."""

    def matching(self, pattern: str) -> list[str]:
        """Return the files and folders that a pattern names."""


def text_of(shell: Words, word: Word) -> Generator[Happening, None, str]:
    """Return a word expanded to one text."""
    texts: list[str] = []
    for part in word:
        texts.append((yield from _part(shell, part)))
    return "".join(texts)


def _part(shell: Words, part: Part) -> Generator[Happening, None, str]:
    match part:
        case Text(text, _):
            return text
        case Variable(name, _, default):
            return shell.variable(name) or default
        case Output(script, _):
            return (yield from shell.output(script))
        case Sum(expression, _):
            return str(value_of(expression, shell.variable))


def fields_of(shell: Words, words: Sequence[Word]) -> Generator[Happening, None, list[str]]:
    """Return words expanded: what is not quoted is split at blanks, and stars stand for files."""
    found: list[str] = []
    for word in words:
        fields: list[str] = []
        fresh = True
        star = False
        for part in word:
            text = yield from _part(shell, part)
            if part.quoted or isinstance(part, Text):
                star = star or (not part.quoted and any(letter in text for letter in "*?["))
                if fresh or not fields:
                    fields.append(text)
                else:
                    fields[-1] += text
                fresh = False
                continue
            pieces = text.split()
            if pieces:
                if not fresh and fields and not text[0].isspace():
                    fields[-1] += pieces.pop(0)
                fields += pieces
                fresh = text[-1].isspace()
        for one in fields:
            found += (shell.matching(one) if star else None) or [one]
    return found
