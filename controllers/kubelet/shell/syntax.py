"""Reading scripts: as much of the POSIX shell's grammar as manifests and lessons use.

Source: POSIX.1-2024, Shell Command Language, 2.10. Here-documents, functions and `case` are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from controllers.kubelet.shell.tokens import NAME, REDIRECTS, Token, tokens
from controllers.kubelet.shell.tree import (
    Choice,
    Command,
    Each,
    Group,
    Loop,
    Pipeline,
    Redirect,
    Script,
    Simple,
    SyntaxProblem,
    Text,
    Word,
)

SCRIPT_LENGTH_MAX: Final = 64 * 1024
"""Characters of a script; longer ones are refused."""

DEPTH_MAX: Final = 24
"""Scripts within scripts."""

_CLOSING: Final = frozenset({"do", "done", "then", "else", "elif", "fi", "}", ")"})
_UNKNOWN: Final = frozenset({"case", "function", "select"})


def parse(text: str, depth: int = 0) -> Script:
    """Return a script.

    Raises:
        SyntaxProblem: it cannot be read.
    """
    if len(text) > SCRIPT_LENGTH_MAX or depth > DEPTH_MAX:
        raise SyntaxProblem("the script is too long or too deep")
    reader = _Reader(tokens(text, lambda inner: parse(inner, depth + 1)), depth)
    script = reader.script(frozenset())
    if reader.peek() is not None:
        raise SyntaxProblem(f'syntax error: unexpected "{reader.text()}"')
    return script


class _Reader:
    """Reads commands out of tokens."""

    def __init__(self, tokens: list[Token], depth: int) -> None:
        self._tokens, self._at, self._depth = tokens, 0, depth

    def peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def text(self) -> str:
        token = self.peek()
        return "end of file" if token is None else token.text.replace("\n", "newline")

    def _next_is(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.text in texts

    def _skip(self, *texts: str) -> bool:
        if not self._next_is(*texts):
            return False
        self._at += 1
        return True

    def _need(self, text: str) -> None:
        if not self._skip(text):
            raise SyntaxProblem(f'syntax error: unexpected "{self.text()}" (expecting "{text}")')

    def script(self, ends: frozenset[str]) -> Script:
        """Read pipelines up to one of `ends`."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise SyntaxProblem("the script is too long or too deep")
        found: list[Pipeline] = []
        join: Literal["", "&&", "||"] = ""
        while True:
            while self._skip("\n", *(() if join in ("&&", "||") else (";",))):
                pass
            token = self.peek()
            if token is None or token.text in ends:
                break
            if token.text in _CLOSING:
                raise SyntaxProblem(f'syntax error: unexpected "{token.text}"')
            found.append(self._pipeline(join))
            join = ""
            if self._skip("&&"):
                join = "&&"
            elif self._skip("||"):
                join = "||"
            elif self._skip("&"):
                found[-1] = replace(found[-1], background=True)
            elif not self._skip(";", "\n") and self.peek() is not None and not self._next_is(*ends):
                raise SyntaxProblem(f'syntax error: unexpected "{self.text()}"')
        if join:
            raise SyntaxProblem("syntax error: unexpected end of file")
        self._depth -= 1
        return tuple(found)

    def _pipeline(self, join: Literal["", "&&", "||"]) -> Pipeline:
        negated = self._skip("!")
        commands = [self._command()]
        while self._skip("|"):
            while self._skip("\n"):
                pass
            commands.append(self._command())
        return Pipeline(tuple(commands), negated, join)

    def _command(self) -> Command:
        token = self.peek()
        if token is None:
            raise SyntaxProblem("syntax error: unexpected end of file")
        if token.text in _UNKNOWN:
            raise SyntaxProblem(f'"{token.text}" is nothing that this simulated shell knows')
        if self._skip("while", "until"):
            condition = self._until("do")
            return self._redirected(Loop(condition, self._until("done"), token.text == "until"))
        if self._skip("for"):
            return self._redirected(self._each())
        if self._skip("if"):
            return self._redirected(self._choice())
        if self._skip("{"):
            return self._redirected(self._until("}"))
        if self._skip("("):
            return self._redirected(self._until(")"), apart=True)
        return self._simple()

    def _until(self, end: str) -> Script:
        body = self.script(frozenset({end}))
        self._need(end)
        return body

    def _redirected(self, body: Command | Script, *, apart: bool = False) -> Command:
        redirects: list[Redirect] = []
        while self._next_is(*REDIRECTS):
            redirects.append(self._redirect())
        if isinstance(body, tuple):
            return Group(body, tuple(redirects), apart)
        if not redirects:
            return body
        return Group((Pipeline((body,)),), tuple(redirects))

    def _each(self) -> Command:
        token = self.peek()
        if token is None or not set(token.text) <= NAME:
            raise SyntaxProblem(f'syntax error: bad for loop variable "{self.text()}"')
        self._at += 1
        words: list[Word] = []
        if self._skip("in"):
            while (word := self.peek()) is not None and word.kind == "word":
                words.append(word.word)
                self._at += 1
        while self._skip(";", "\n"):
            pass
        self._need("do")
        return Each(token.text, tuple(words), self._until("done"))

    def _choice(self) -> Command:
        branches: list[tuple[Script, Script]] = []
        otherwise: Script | None = None
        while True:
            condition = self._until("then")
            branches.append((condition, self.script(frozenset({"elif", "else", "fi"}))))
            if self._skip("elif"):
                continue
            if self._skip("else"):
                otherwise = self.script(frozenset({"fi"}))
            self._need("fi")
            return Choice(tuple(branches), otherwise)

    def _redirect(self) -> Redirect:
        token = self.peek()
        assert token is not None, "the caller has seen it"
        self._at += 1
        target = self.peek()
        if target is None or target.kind != "word":
            raise SyntaxProblem(f'syntax error: unexpected "{self.text()}"')
        self._at += 1
        fd = token.fd if token.fd >= 0 else (0 if token.text == "<" else 1)
        return Redirect(fd, token.text, target.word)

    def _simple(self) -> Simple:
        sets: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while (token := self.peek()) is not None:
            if token.kind == "operator":
                if token.text not in REDIRECTS:
                    break
                redirects.append(self._redirect())
                continue
            self._at += 1
            assignment = None if words else _assignment(token.word)
            if assignment is not None:
                sets.append(assignment)
            else:
                words.append(token.word)
        if not (sets or words or redirects):
            raise SyntaxProblem(f'syntax error: unexpected "{self.text()}"')
        return Simple(tuple(sets), tuple(words), tuple(redirects))


def _assignment(word: Word) -> tuple[str, Word] | None:
    first = word[0] if word else None
    if not isinstance(first, Text) or first.quoted:
        return None
    name, equals, rest = first.text.partition("=")
    if not equals or not name or name[0].isdigit() or not set(name) <= NAME:
        return None
    return name, (Text(rest, quoted=True), *word[1:])
