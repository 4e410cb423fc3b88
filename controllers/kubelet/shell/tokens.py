"""Reading scripts: letters into words and operators.

Source: POSIX.1-2024, Shell Command Language, 2.2, 2.3 and 2.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from controllers.kubelet.shell.tree import Output, Part, Script, Sum, SyntaxProblem, Text, Variable, Word

Nested = Callable[[str], Script]
"""Reads a script that stands within another one."""

_OPERATORS: Final = ("&&", "||", ";;", ">>", "<<", ";", "&", "|", "(", ")", ">", "<", "\n")
REDIRECTS: Final = (">", ">>", "<")
NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
"""Letters of a variable's name."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word or an operator; `fd` is the descriptor that stands before a redirection, -1 where none does."""

    kind: Literal["word", "operator"]
    text: str
    word: Word = ()
    fd: int = -1


def tokens(text: str, nested: Nested) -> list[Token]:
    """Return the words and operators of a script.

    Raises:
        SyntaxProblem: it cannot be read.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter in " \t\r":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif letter == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif letter == "&" and found and found[-1].text in REDIRECTS:
            word, at = _word(text, at, nested)
            found.append(Token("word", "&", word))
        elif (operator := next((one for one in _OPERATORS if text.startswith(one, at)), "")) != "":
            found.append(Token("operator", operator))
            at += len(operator)
        elif letter in "012" and text[at + 1 : at + 2] in (">", "<"):
            operator = ">>" if text.startswith(">>", at + 1) else text[at + 1]
            found.append(Token("operator", operator, (), int(letter)))
            at += 1 + len(operator)
        else:
            word, end = _word(text, at, nested)
            found.append(Token("word", text[at:end], word))
            at = end
    return found


def _word(text: str, at: int, nested: Nested) -> tuple[Word, int]:
    parts: list[Part] = []
    while at < len(text) and text[at] not in " \t\r\n;|()<>":
        letter = text[at]
        if letter == "&":
            # After `>` it names a descriptor: `2>&1`.
            if parts or not text[at + 1 : at + 2].isdigit():
                break
            parts.append(Text(text[at : at + 2], quoted=True))
            at += 2
        elif letter == "'":
            end = _closing(text, at + 1, "'")
            parts.append(Text(text[at + 1 : end], quoted=True))
            at = end + 1
        elif letter == '"':
            at = _quoted(text, at + 1, nested, parts)
        elif letter == "\\":
            parts.append(Text(text[at + 1 : at + 2], quoted=True))
            at += 2
        elif letter in "$`":
            part, at = _expansion(text, at, nested, quoted=False)
            parts.append(part)
        else:
            start = at
            while at < len(text) and text[at] not in " \t\r\n;|()<>&'\"\\$`":
                at += 1
            parts.append(Text(text[start:at], quoted=False))
    return tuple(parts), at


def _quoted(text: str, at: int, nested: Nested, parts: list[Part]) -> int:
    """Read up to the closing quotation mark; return the place after it."""
    parts.append(Text("", quoted=True))
    while True:
        if at >= len(text):
            raise SyntaxProblem("syntax error: unterminated quoted string")
        letter = text[at]
        if letter == '"':
            return at + 1
        if letter == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            parts.append(Text(text[at + 1].replace("\n", ""), quoted=True))
            at += 2
        elif letter in "$`":
            part, at = _expansion(text, at, nested, quoted=True)
            parts.append(part)
        else:
            start, at = at, at + 1
            while at < len(text) and text[at] not in '"\\$`':
                at += 1
            parts.append(Text(text[start:at], quoted=True))


def _expansion(text: str, at: int, nested: Nested, *, quoted: bool) -> tuple[Part, int]:
    if text[at] == "`":
        end = _closing(text, at + 1, "`")
        return Output(nested(text[at + 1 : end]), quoted), end + 1
    if text.startswith("$((", at):
        end = _balanced(text, at + 1)
        if text[end - 2 : end] == "))":
            return Sum(text[at + 3 : end - 2], quoted), end
    if text.startswith("$(", at):
        end = _balanced(text, at + 1)
        return Output(nested(text[at + 2 : end - 1]), quoted), end
    if text.startswith("${", at):
        end = _closing(text, at + 2, "}")
        name, _, default = text[at + 2 : end].partition(":-")
        if not default and "-" in name:
            name, _, default = name.partition("-")
        # `${name:?}` of a variable that is not set ends a shell; here it is empty.
        name = name.partition(":?")[0] or name
        if not name or not (set(name) <= NAME or name in "?#@*$!"):
            raise SyntaxProblem(f"syntax error: bad substitution: {text[at : end + 1]}")
        return Variable(name, quoted, default), end + 1
    following = text[at + 1 : at + 2]
    if following and following in "?#@*$!0123456789":
        return Variable(following, quoted), at + 2
    end = at + 1
    while end < len(text) and text[end] in NAME:
        end += 1
    if end == at + 1:
        return Text("$", quoted=True), at + 1
    return Variable(text[at + 1 : end], quoted), end


def _closing(text: str, at: int, mark: str) -> int:
    end = text.find(mark, at)
    if end < 0:
        raise SyntaxProblem("syntax error: unterminated quoted string")
    return end


def _balanced(text: str, at: int) -> int:
    """Return the place after the bracket that closes the one at `at`."""
    open_brackets, quote = 0, ""
    while at < len(text):
        letter = text[at]
        if quote:
            if letter == "\\" and quote == '"':
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "'\"":
            quote = letter
        elif letter == "\\":
            at += 1
        elif letter in "()":
            open_brackets += 1 if letter == "(" else -1
            if open_brackets == 0:
                return at + 1
        at += 1
    raise SyntaxProblem('syntax error: missing ")"')
