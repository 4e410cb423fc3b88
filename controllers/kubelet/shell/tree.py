"""What a script is made of, as far as the simulated shell reads it.

Source: POSIX.1-2024, Shell Command Language, 2.10; the Bash Reference Manual, 3.2 and 3.5, for what bash has besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


class SyntaxProblem(ValueError):
    """A script that no shell can read; the message is for whoever wrote it."""

    def __init__(self, text: str, *, unfinished: bool = False) -> None:
        """Remember whether more of the script could make it whole."""
        super().__init__(text)
        self.unfinished = unfinished


class Unplayable(SyntaxProblem):
    """A script that a shell may well know what to do with, and this one does not."""


@dataclass(frozen=True, slots=True)
class Text:
    """Letters as they stand."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`, `${name:-word}`, `${#name}`, `${!name}`, `${name[index]}`, `${name/pattern/word}` …, and more."""

    name: str
    quoted: bool
    index: Word | None = None
    """What stands in brackets after the name."""
    how: str = ""
    """The operator: `-`, `:-`, `=`, `?`, `+`, `%`, `%%`, `#`, `##`, `/`, `//`, `/#`, `/%`, `:`, `^^`, `,,`, `@` …"""
    word: Word = ()
    """What follows it: the pattern, where one is replaced; where the part begins, where one is cut out."""
    other: Word | None = None
    """What a pattern is replaced by; how long a part is."""
    counted: bool = False
    """Whether it is a length: `${#name}`."""
    indirect: bool = False
    """Whether its value names what is meant: `${!name}`."""


@dataclass(frozen=True, slots=True)
class Output:
    """`$(script)`, and `<(script)` where it is to be a file."""

    script: Script
    quoted: bool
    file: bool = False


@dataclass(frozen=True, slots=True)
class Sum:
    """`$((expression))`."""

    expression: Word
    quoted: bool


Part = Text | Parameter | Output | Sum
Word = tuple[Part, ...]

HERE: Final = "<<"
"""How a redirection is named whose word is the text itself: a here-document, a here-string."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2> word`: file descriptor, `>`, `>>`, `<` or `<<`, where to; `&` before a number stands in the word.

    `both`: `&>`, which takes the errors along.
    """

    fd: int
    how: str
    word: Word
    both: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=word`, `name+=word`, `name[index]=word`, `name=(words)`."""

    name: str
    word: Word
    more: bool = False
    index: Word | None = None
    items: tuple[tuple[Word | None, Word], ...] | None = None
    """(index or None, word) of each in brackets; None where there are none."""


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words, redirections; `declared` are the arrays that `local` and `declare` are told."""

    sets: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    declared: tuple[Assignment, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """`while` and `until`."""

    condition: Script
    body: Script
    until: bool


@dataclass(frozen=True, slots=True)
class Each:
    """`for name in words`; without words it goes through the arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Script


@dataclass(frozen=True, slots=True)
class Counted:
    """`for ((first; condition; step))`."""

    first: Word
    condition: Word
    step: Word
    body: Script


@dataclass(frozen=True, slots=True)
class Choice:
    """`if`: branches of (condition, body), and `else`."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None


@dataclass(frozen=True, slots=True)
class Cases:
    """`case`: branches of (patterns, body, what ends it: `;;`, `;&` or `;;&`)."""

    word: Word
    branches: tuple[tuple[tuple[Word, ...], Script, str], ...]


@dataclass(frozen=True, slots=True)
class Test:
    """A condition in `[[ … ]]`: an operator and what it looks at."""

    how: str
    """`&&`, `||`, `!` between and before conditions; `-n`, `-f` … before a word; `==`, `=~`, `-eq` … between two."""
    parts: tuple[Test, ...] = ()
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """`[[ … ]]`."""

    test: Test
    text: str


@dataclass(frozen=True, slots=True)
class Reckoned:
    """`(( … ))`."""

    expression: Word


@dataclass(frozen=True, slots=True)
class Function:
    """`name() …` and `function name …`."""

    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Group:
    """`{ … }` and `( … )`, with redirections after it."""

    body: Script
    redirects: tuple[Redirect, ...] = ()
    apart: bool = False
    """Whether it is a shell of its own: `( … )`."""


Command = Simple | Loop | Each | Counted | Choice | Cases | Condition | Reckoned | Function | Group


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; `join` is how it follows what stands before it."""

    commands: tuple[Command, ...]
    negated: bool = False
    join: Literal["", "&&", "||"] = ""
    background: bool = False
    timed: bool = False
    """Whether `time` stands before it."""


Script = tuple[Pipeline, ...]
