"""Reading scripts: letters into words, with their quotes and expansions.

Source: POSIX.1-2024, Shell Command Language, 2.2, 2.3 and 2.6; the Bash Reference Manual, 3.1.2 and 3.5.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.tree import Output, Parameter, Part, Script, Sum, SyntaxProblem, Text, Unplayable, Word

SCRIPT_LENGTH_MAX: Final = 64 * 1024
"""Characters of a script; longer ones are refused."""

DEPTH_MAX: Final = 24
"""Scripts within scripts."""

ENDS: Final = " \t\r\n;&|()<>"
"""Letters that end a word."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?#@*$!-]")
_SHORT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?#@*$!-]")
_OPERATOR: Final = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|:|\^\^?|,,?|@")
_OF_BASH: Final = frozenset("^,@")
_DEFAULTS: Final = frozenset("-=?+")
_ENDED: Final = "syntax error: unterminated quoted string"


class Letters(ABC):
    """The letters of a script, and the place up to which they are read."""

    def __init__(self, text: str, *, bash: bool, depth: int = 0) -> None:
        """Begin at the first letter.

        Raises:
            Unplayable: it is too long or too deep.
        """
        if len(text) > SCRIPT_LENGTH_MAX or depth > DEPTH_MAX:
            raise Unplayable("the script is too long or too deep")
        self.text, self.at, self.bash, self.depth = text, 0, bash, depth
        self.jumps: dict[int, int] = {}
        """The end of a line → where it goes on, after the here-documents that begin there."""

    @abstractmethod
    def script(self, ends: frozenset[str]) -> Script:
        """Read commands up to one of `ends`."""

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Read something that stands within something."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Unplayable("the script is too long or too deep")
        yield
        self.depth -= 1

    # -- places -----------------------------------------------------------------------------------------------------

    def sees(self, *texts: str) -> bool:
        """Return whether one of some texts follows."""
        return self.text.startswith(texts, self.at)

    def skip(self, text: str) -> bool:
        """Go on after a text, where it follows."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def blanks(self) -> None:
        """Go on to the next word or operator of this line."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\r":
                self.at += 1
            elif self.sees("\\\n"):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def lines(self) -> None:
        """Go on to the next word or operator, on whichever line."""
        self.blanks()
        while self.sees("\n"):
            self.at = self.jumps.get(self.at, self.at + 1)
            self.blanks()

    def unexpected(self, wanted: str = "") -> SyntaxProblem:
        """Return what is wrong with what follows."""
        found = re.compile(r"\n|[;&|<>()]{1,2}|[^\s;&|()<>]+").match(self.text, self.at)
        name = "end of file" if found is None else found[0].replace("\n", "newline")
        more = f' (expecting "{wanted}")' if wanted else ""
        return SyntaxProblem(f'syntax error: unexpected "{name}"{more}', unfinished=found is None)

    # -- words ------------------------------------------------------------------------------------------------------

    def word(self) -> Word:
        """Read a word; none where an operator follows."""
        if self.sees("<(") and self.bash:
            self.at += 2
            return (Output(self._inner_script(), True, file=True),)
        if self.sees(">("):
            raise Unplayable(">(…) is nothing that this simulated shell knows")
        start = self.at
        found = self.parts(ENDS)
        if self.sees("(") and self.at > start and self.text[self.at - 1] in "?*+@!":
            raise Unplayable("patterns such as @(a|b) are nothing that this simulated shell knows")
        return found

    def parts(self, ends: str, *, quoted: bool = False, plain: bool = False) -> Word:
        """Read up to a letter of `ends` that is not quoted, or to the end.

        `quoted`: as between quotation marks; `plain`: as in a here-document, where these are letters like any other.
        """
        found: list[Part] = []
        if not quoted and self.sees("~") and self.text[self.at + 1 : self.at + 2] in ("", "/", *ends):
            self.at += 1
            found.append(Parameter("HOME", True))
        while self.at < len(self.text) and self.text[self.at] not in ends:
            letter = self.text[self.at]
            if letter == '"' and not plain:
                self.at += 1
                self._quoted(found)
            elif letter == "'" and not quoted:
                found.append(Text(self._closed("'", self.at + 1), quoted=True))
            elif letter == "\\":
                found.append(self._escaped(quoted=quoted, meant="$`\\\n" if plain else ends + '$`\\"'))
            elif letter == "$" and self.sees("$'") and not quoted:
                found.append(Text(self._dollar_quoted(), quoted=True))
            elif letter == "$" and self.sees('$"') and not quoted:
                self.at += 1
            elif letter in "$`":
                found.append(self._expansion(quoted=quoted))
            else:
                start = self.at
                while self.at < len(self.text) and self.text[self.at] not in ends + "'\"\\$`":
                    self.at += 1
                self.at = max(self.at, start + 1)
                found.append(Text(self.text[start : self.at], quoted))
        return tuple(found)

    def inner(self, text: str) -> Letters:
        """Return a reader of a text that stands within this one."""
        return type(self)(text, bash=self.bash, depth=self.depth + 1)

    def _escaped(self, *, quoted: bool, meant: str) -> Text:
        letter = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if letter == "\n":
            return Text("", quoted=quoted)
        return Text("\\" + letter if quoted and letter not in meant else letter or "\\", quoted=True)

    def _quoted(self, found: list[Part]) -> None:
        """Read up to the closing quotation mark, and it."""
        inner = self.parts('"', quoted=True)
        if not self.skip('"'):
            raise SyntaxProblem(_ENDED, unfinished=True)
        found += inner or (Text("", quoted=True),)

    def _closed(self, mark: str, at: int) -> str:
        end = self.text.find(mark, at)
        if end < 0:
            raise SyntaxProblem(_ENDED, unfinished=True)
        self.at = end + 1
        return self.text[at:end]

    def _dollar_quoted(self) -> str:
        found = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if found is None:
            raise SyntaxProblem(_ENDED, unfinished=True)
        self.at = found.end()
        return unescaped(found[1])

    # -- expansions -------------------------------------------------------------------------------------------------

    def _expansion(self, *, quoted: bool) -> Part:
        if self.sees("`"):
            found = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
            if found is None:
                raise SyntaxProblem(_ENDED, unfinished=True)
            self.at = found.end()
            inner = self.inner(re.sub(r'\\([`\\$"])' if quoted else r"\\([`\\$])", r"\1", found[1]))
            return Output(inner.all_of(), quoted)
        if self.sees("$(("):
            end = self.balanced(self.at + 1)
            if self.text[end - 2 : end] == "))":
                expression = self.text[self.at + 3 : end - 2]
                self.at = end
                return Sum(self.inner(expression).parts("", quoted=True), quoted)
        if self.skip("$("):
            return Output(self._inner_script(), quoted)
        if self.skip("${"):
            with self.deeper():
                return self._braces(quoted=quoted)
        found = _SHORT.match(self.text, self.at + 1)
        if found is None:
            self.at += 1
            return Text("$", quoted)
        self.at = found.end()
        return Parameter(found[0], quoted)

    def all_of(self) -> Script:
        """Read commands up to the end.

        Raises:
            SyntaxProblem: something else follows.
        """
        script = self.script(frozenset())
        if self.at < len(self.text):
            raise self.unexpected()
        return script

    def _inner_script(self) -> Script:
        script = self.script(frozenset({")"}))
        if not self.skip(")"):
            raise SyntaxProblem('syntax error: missing ")"', unfinished=True)
        return script

    def _braces(self, *, quoted: bool) -> Part:
        start = self.at
        counted = self.sees("#") and re.compile(r"#(?:\w|[?@*$!#-]\})").match(self.text, start) is not None
        self.at += 1 if counted else 0
        indirect = not counted and self.sees("!") and _NAME.match(self.text, self.at + 1) is not None
        self.at += 1 if indirect else 0
        found = _PARAMETER.match(self.text, self.at)
        if found is None:
            raise self._bad(start)
        self.at = found.end()
        index: Word | None = None
        if self.skip("["):
            index = self.parts("]")
            if not self.skip("]"):
                raise self._bad(start)
        if (index is not None or indirect) and not self.bash:
            raise self._bad(start)
        if self.skip("}"):
            return Parameter(found[0], quoted, index, counted=counted, indirect=indirect)
        how = _OPERATOR.match(self.text, self.at)
        if how is None or counted or (how[0][0] in _OF_BASH and not self.bash):
            raise self._bad(start)
        if indirect and self.text[self.at : self.at + 2] in ("@}", "*}"):
            raise Unplayable("${!prefix*} is nothing that this simulated shell knows")
        self.at = how.end()
        word, other = self._operands(how[0], quoted=quoted)
        if not self.skip("}"):
            raise self._bad(start)
        return Parameter(found[0], quoted, index, how[0], word, other, indirect=indirect)

    def _operands(self, how: str, *, quoted: bool) -> tuple[Word, Word | None]:
        if how[0] == "/":
            pattern = self.parts("/}")
            return pattern, (self.parts("}", quoted=quoted) if self.skip("/") else ())
        if how == ":":
            begins = self.parts(":}", quoted=True)
            return begins, (self.parts("}", quoted=True) if self.skip(":") else None)
        return self.parts("}", quoted=quoted and how[-1] in _DEFAULTS), None

    def _bad(self, start: int) -> SyntaxProblem:
        if self.at >= len(self.text):
            return SyntaxProblem(_ENDED, unfinished=True)
        end = self.text.find("}", start)
        end = len(self.text) if end < 0 else end
        return SyntaxProblem(f"syntax error: bad substitution: ${{{self.text[start : end + 1][:80]}")

    def balanced(self, at: int) -> int:
        """Return the place after the bracket that closes the one at `at`.

        Raises:
            SyntaxProblem: none does.
        """
        open_brackets, quote = 0, ""
        while at < len(self.text):
            letter = self.text[at]
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
        raise SyntaxProblem('syntax error: missing ")"', unfinished=True)
