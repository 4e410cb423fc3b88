"""Reading scripts: as much of the POSIX shell's grammar as manifests and lessons use.

Source: POSIX.1-2024, Shell Command Language, 2.10. Here-documents, functions and `case` are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

SCRIPT_LENGTH_MAX: Final = 64 * 1024
"""Characters of a script; longer ones are refused."""

DEPTH_MAX: Final = 24
"""Scripts within scripts."""


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

_OPERATORS: Final = ("&&", "||", ";;", ">>", "<<", ";", "&", "|", "(", ")", ">", "<", "\n")
_REDIRECTS: Final = (">", ">>", "<")
_CLOSING: Final = frozenset({"do", "done", "then", "else", "elif", "fi", "}", ")"})
_UNKNOWN: Final = frozenset({"case", "function", "select"})
_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["word", "operator"]
    text: str
    word: Word = ()
    fd: int = -1


def parse(text: str, depth: int = 0) -> Script:
    """Return a script.

    Raises:
        SyntaxProblem: it cannot be read.
    """
    if len(text) > SCRIPT_LENGTH_MAX or depth > DEPTH_MAX:
        raise SyntaxProblem("the script is too long or too deep")
    reader = _Reader(_tokens(text, depth), depth)
    script = reader.script(frozenset())
    if reader.peek() is not None:
        raise SyntaxProblem(f'syntax error: unexpected "{reader.text()}"')
    return script


# -- words ----------------------------------------------------------------------------------------------------------


def _tokens(text: str, depth: int) -> list[_Token]:
    found: list[_Token] = []
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
        elif letter == "&" and found and found[-1].text in _REDIRECTS:
            word, at = _word(text, at, depth)
            found.append(_Token("word", "&", word))
        elif (operator := next((one for one in _OPERATORS if text.startswith(one, at)), "")) != "":
            found.append(_Token("operator", operator))
            at += len(operator)
        elif letter in "012" and text[at + 1 : at + 2] in (">", "<"):
            operator = ">>" if text.startswith(">>", at + 1) else text[at + 1]
            found.append(_Token("operator", operator, (), int(letter)))
            at += 1 + len(operator)
        else:
            word, end = _word(text, at, depth)
            found.append(_Token("word", text[at:end], word))
            at = end
    return found


def _word(text: str, at: int, depth: int) -> tuple[Word, int]:
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
            at = _quoted(text, at + 1, depth, parts)
        elif letter == "\\":
            parts.append(Text(text[at + 1 : at + 2], quoted=True))
            at += 2
        elif letter in "$`":
            part, at = _expansion(text, at, depth, quoted=False)
            parts.append(part)
        else:
            start = at
            while at < len(text) and text[at] not in " \t\r\n;|()<>&'\"\\$`":
                at += 1
            parts.append(Text(text[start:at], quoted=False))
    return tuple(parts), at


def _quoted(text: str, at: int, depth: int, parts: list[Part]) -> int:
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
            part, at = _expansion(text, at, depth, quoted=True)
            parts.append(part)
        else:
            start, at = at, at + 1
            while at < len(text) and text[at] not in '"\\$`':
                at += 1
            parts.append(Text(text[start:at], quoted=True))


def _expansion(text: str, at: int, depth: int, *, quoted: bool) -> tuple[Part, int]:
    if text[at] == "`":
        end = _closing(text, at + 1, "`")
        return Output(parse(text[at + 1 : end], depth + 1), quoted), end + 1
    if text.startswith("$((", at):
        end = _balanced(text, at + 1)
        if text[end - 2 : end] == "))":
            return Sum(text[at + 3 : end - 2], quoted), end
    if text.startswith("$(", at):
        end = _balanced(text, at + 1)
        return Output(parse(text[at + 2 : end - 1], depth + 1), quoted), end
    if text.startswith("${", at):
        end = _closing(text, at + 2, "}")
        name, _, default = text[at + 2 : end].partition(":-")
        if not default and "-" in name:
            name, _, default = name.partition("-")
        if not name or not (set(name) <= _NAME or name in "?#@*$!"):
            raise SyntaxProblem(f"syntax error: bad substitution: {text[at : end + 1]}")
        return Variable(name, quoted, default), end + 1
    following = text[at + 1 : at + 2]
    if following and following in "?#@*$!0123456789":
        return Variable(following, quoted), at + 2
    end = at + 1
    while end < len(text) and text[end] in _NAME:
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


# -- commands -------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads commands out of tokens."""

    def __init__(self, tokens: list[_Token], depth: int) -> None:
        self._tokens, self._at, self._depth = tokens, 0, depth

    def peek(self) -> _Token | None:
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
        while self._next_is(*_REDIRECTS):
            redirects.append(self._redirect())
        if isinstance(body, tuple):
            return Group(body, tuple(redirects), apart)
        if not redirects:
            return body
        return Group((Pipeline((body,)),), tuple(redirects))

    def _each(self) -> Command:
        token = self.peek()
        if token is None or not set(token.text) <= _NAME:
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
                if token.text not in _REDIRECTS:
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
    if not equals or not name or name[0].isdigit() or not set(name) <= _NAME:
        return None
    return name, (Text(rest, quoted=True), *word[1:])
