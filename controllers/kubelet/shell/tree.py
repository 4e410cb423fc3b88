"""What a script is made of, as far as the simulated shell reads it.

Source: POSIX.1-2024, Shell Command Language, 2.10. Here-documents, functions and `case` are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


class SyntaxProblem(ValueError):
    """A script that cannot be read; the message is for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Text:
    """Letters as they stand."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`, `${name}`, `${name:-word}`."""

    name: str
    quoted: bool
    default: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """`$(script)`."""

    script: Script
    quoted: bool


@dataclass(frozen=True, slots=True)
class Sum:
    """`$((expression))`."""

    expression: str
    quoted: bool


Part = Text | Variable | Output | Sum
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2> word`: file descriptor, `>`, `>>` or `<`, where to; `&` before a number stands in the word."""

    fd: int
    how: str
    word: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words, redirections."""

    sets: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`while` and `until`."""

    condition: Script
    body: Script
    until: bool


@dataclass(frozen=True, slots=True)
class Each:
    """`for name in words`."""

    name: str
    words: tuple[Word, ...]
    body: Script


@dataclass(frozen=True, slots=True)
class Choice:
    """`if`: branches of (condition, body), and `else`."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None


@dataclass(frozen=True, slots=True)
class Group:
    """`{ … }` and `( … )`, with redirections after it."""

    body: Script
    redirects: tuple[Redirect, ...] = ()
    apart: bool = False
    """Whether it is a shell of its own: `( … )`."""


Command = Simple | Loop | Each | Choice | Group


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; `join` is how it follows what stands before it."""

    commands: tuple[Command, ...]
    negated: bool = False
    join: Literal["", "&&", "||"] = ""
    background: bool = False


Script = tuple[Pipeline, ...]
