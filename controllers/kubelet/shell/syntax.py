"""Reading scripts: the shell's grammar, with what bash has besides.

Source: POSIX.1-2024, Shell Command Language, 2.9 and 2.10; the Bash Reference Manual, 3.2.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Literal

from controllers.kubelet.shell.conditions import read_condition
from controllers.kubelet.shell.letters import ENDS, Letters
from controllers.kubelet.shell.tree import (
    HERE,
    Assignment,
    Cases,
    Choice,
    Command,
    Condition,
    Counted,
    Each,
    Function,
    Group,
    Loop,
    Parameter,
    Part,
    Pipeline,
    Reckoned,
    Redirect,
    Script,
    Simple,
    SyntaxProblem,
    Text,
    Unplayable,
    Word,
)

_LITERAL: Final = re.compile(r"""[^\s;&|()<>"'$`\\]+""")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTION: Final = re.compile(r"""([^\s;&|()<>"'$`\\={}]+)[ \t]*\([ \t]*\)""")
_ASSIGNS: Final = re.compile(r"\+?=")
_REDIRECT: Final = re.compile(r"(\d?)(<<<|<<-|<<|>>|<>|>\||>&|<&|>|<)|(&>>?)(?!&)")
_CLOSING: Final = frozenset({"do", "done", "then", "else", "elif", "fi", "esac", "}", ")", ";;"})
_DECLARES: Final = frozenset({"declare", "export", "local", "readonly", "typeset"})
_UNKNOWN: Final = frozenset({"select", "coproc"})


def parse(text: str, *, bash: bool = True) -> Script:
    """Return a script; `bash`: whether its shell knows what bash does.

    Raises:
        SyntaxProblem: no shell can read it.
        Unplayable: this one cannot.
    """
    return Reader(text, bash=bash).all_of()


class Reader(Letters):
    """Reads commands."""

    def script(self, ends: frozenset[str]) -> Script:
        """Read pipelines up to one of `ends`."""
        found: list[Pipeline] = []
        join: Literal["", "&&", "||"] = ""
        with self.deeper():
            while True:
                self.lines()
                if self._word_ahead() in ends or (self.at >= len(self.text) and not join):
                    break
                found.append(self._pipeline(join))
                join = "&&" if self.skip("&&") else "||" if self.skip("||") else ""
                if join or self._word_ahead() in ends:
                    continue
                if self.skip("&"):
                    found[-1] = replace(found[-1], background=True)
                elif not self.skip(";") and not self.sees("\n") and self.at < len(self.text):
                    raise self.unexpected()
        if join:
            raise self.unexpected()
        return tuple(found)

    def _word_ahead(self) -> str:
        """Return the word or the bracket that follows; `;;` also for what else ends a branch."""
        if self.sees(";;", ";&"):
            return ";;"
        found = _LITERAL.match(self.text, self.at)
        return self.text[self.at : self.at + 1] if found is None else found[0]

    def _keyword(self, *words: str) -> str:
        """Go on after one of some words, where it follows; return it."""
        word = self._word_ahead()
        if word not in words:
            return ""
        self.at += len(word)
        return word

    def _need(self, word: str) -> None:
        self.lines()
        if not self._keyword(word):
            raise self.unexpected(word)

    def _pipeline(self, join: Literal["", "&&", "||"]) -> Pipeline:
        negated = timed = False
        while word := self._keyword("!", "time"):
            negated, timed = negated != (word == "!"), timed or word == "time"
            self.blanks()
        commands = [self._command()]
        self.blanks()
        while self.sees("|") and not self.sees("||"):
            self.at += 1
            if self.skip("&"):
                errors = Redirect(2, ">", (Text("&1", quoted=True),))
                commands[-1] = Group((Pipeline((commands[-1],)),), (errors,))
            self.lines()
            commands.append(self._command())
            self.blanks()
        return Pipeline(tuple(commands), negated, join, timed=timed)

    def _command(self) -> Command:
        word = self._word_ahead()
        if word in _UNKNOWN:
            raise Unplayable(f'"{word}" is nothing that this simulated shell knows')
        if self.at >= len(self.text) or word in _CLOSING:
            raise self.unexpected()
        if self.sees("((") and self.bash:
            end = self.balanced(self.at)
            if self.text[end - 2 : end] == "))":
                expression, self.at = self.text[self.at + 2 : end - 2], end
                return self._redirected(Reckoned(self._sum(expression)))
        if self.skip("("):
            return self._redirected(self._until(")"), apart=True)
        if word == "function":
            return self._function()
        if found := _FUNCTION.match(self.text, self.at):
            self.at = found.end()
            return self._body(found[1])
        start = self.at
        if self._keyword("[["):
            test = read_condition(self)
            return self._redirected(Condition(test, self.text[start : self.at]))
        compound = self._compound()
        return self._simple() if compound is None else compound

    def _compound(self) -> Command | None:
        match self._keyword("while", "until", "for", "if", "case", "{"):
            case "for":
                return self._redirected(self._each())
            case "if":
                return self._redirected(self._choice())
            case "case":
                return self._redirected(self._cases())
            case "{":
                return self._redirected(self._until("}"))
            case "":
                return None
            case word:
                condition = self._until("do")
                return self._redirected(Loop(condition, self._until("done"), word == "until"))

    def _until(self, *ends: str) -> Script:
        """Read commands, of which there has to be one; go on after what ends them where that is one word."""
        body = self.script(frozenset(ends))
        if not body:
            raise self.unexpected()
        if len(ends) == 1:
            self._need(ends[0])
        return body

    def _redirected(self, body: Command | Script, *, apart: bool = False) -> Command:
        redirects = self._redirects()
        if isinstance(body, tuple):
            return Group(body, redirects, apart)
        return Group((Pipeline((body,)),), redirects) if redirects else body

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        self.blanks()
        while (redirect := self._redirect()) is not None:
            found.append(redirect)
            self.blanks()
        return tuple(found)

    # -- compound commands ------------------------------------------------------------------------------------------

    def _function(self) -> Function:
        self._keyword("function")
        self.blanks()
        name = self._word_ahead()
        if _LITERAL.match(name) is None:
            raise self.unexpected()
        self.at += len(name)
        if found := re.compile(r"[ \t]*\([ \t]*\)").match(self.text, self.at):
            self.at = found.end()
        return self._body(name)

    def _body(self, name: str) -> Function:
        self.lines()
        with self.deeper():
            return Function(name, self._command())

    def _each(self) -> Command:
        self.blanks()
        if self.sees("((") and self.bash:
            end = self.balanced(self.at)
            parts = self.text[self.at + 2 : end - 2].split(";")
            if self.text[end - 2 : end] != "))" or len(parts) != 3:
                raise self.unexpected()
            self.at = end
            first, condition, step = (self._sum(part.strip()) for part in parts)
            return Counted(first, condition, step, self._do())
        name = self._word_ahead()
        if _NAME.fullmatch(name) is None:
            raise SyntaxProblem(f'syntax error: bad for loop variable "{name}"')
        self.at += len(name)
        self.lines()
        words: list[Word] | None = None
        if self._keyword("in"):
            words = []
            self.blanks()
            while word := self.word():
                words.append(word)
                self.blanks()
        return Each(name, None if words is None else tuple(words), self._do())

    def _do(self) -> Script:
        self.blanks()
        self.skip(";")
        self.lines()
        if self._keyword("{"):
            return self._until("}")
        self._need("do")
        return self._until("done")

    def _choice(self) -> Command:
        branches: list[tuple[Script, Script]] = []
        otherwise: Script | None = None
        while True:
            condition = self._until("then")
            branches.append((condition, self._until("elif", "else", "fi")))
            if self._keyword("elif"):
                continue
            if self._keyword("else"):
                otherwise = self._until("fi", "elif", "else")
            self._need("fi")
            return Choice(tuple(branches), otherwise)

    def _cases(self) -> Command:
        self.blanks()
        word = self.word()
        self._need("in")
        branches: list[tuple[tuple[Word, ...], Script, str]] = []
        while True:
            self.lines()
            if self._keyword("esac"):
                return Cases(word, tuple(branches))
            self.skip("(")
            patterns: list[Word] = []
            while not patterns or self.skip("|"):
                self.blanks()
                patterns.append(self.word())
                self.blanks()
            if not self.skip(")") or not all(patterns):
                raise self.unexpected(")")
            body = self.script(frozenset({";;", "esac"}))
            end = next((one for one in (";;&", ";;", ";&") if self.skip(one)), "")
            branches.append((tuple(patterns), body, end))
            if not end:
                self._need("esac")
                return Cases(word, tuple(branches))

    # -- simple commands --------------------------------------------------------------------------------------------

    def _simple(self) -> Command:
        sets: list[Assignment] = []
        declared: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            if redirect := self._redirect():
                redirects.append(redirect)
                continue
            declares = bool(words) and _literal(words[0]) in _DECLARES
            assignment = self._assignment() if declares or not words else None
            if assignment is None:
                word = self.word()
                if not word:
                    break
                words.append(word)
            elif not words:
                sets.append(assignment)
            elif assignment.items is None:
                sign = "+=" if assignment.more else "="
                words.append((Text(assignment.name + sign, quoted=True), *map(_as_quoted, assignment.word)))
            else:
                words.append((Text(assignment.name, quoted=True),))
                declared.append(assignment)
        if not (sets or words or redirects) or self.sees("("):
            raise self.unexpected()
        return Simple(tuple(sets), tuple(words), tuple(redirects), tuple(declared))

    def _assignment(self) -> Assignment | None:
        start = self.at
        name = _NAME.match(self.text, start)
        if name is None:
            return None
        self.at = name.end()
        index: Word | None = None
        if self.bash and self.skip("["):
            index = self.parts("]")
            self.skip("]")
        sign = _ASSIGNS.match(self.text, self.at)
        if sign is None:
            self.at = start
            return None
        self.at = sign.end()
        more = sign[0] == "+="
        if self.sees("(") and self.bash:
            self.at += 1
            return Assignment(name[0], (), more, index, self._items())
        word = self.parts(ENDS)
        if self.sees("(", "<("):
            raise self.unexpected()
        return Assignment(name[0], word, more, index)

    def _items(self) -> tuple[tuple[Word | None, Word], ...]:
        found: list[tuple[Word | None, Word]] = []
        while True:
            self.lines()
            if self.skip(")"):
                return tuple(found)
            start, index = self.at, None
            if self.skip("["):
                index = self.parts("]")
                if self.skip("]="):
                    found.append((index, self.parts(ENDS)))
                    continue
                self.at = start
            word = self.word()
            if not word:
                raise self.unexpected(")")
            found.append((None, word))

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None or (found[2] in ("<", ">") and self.text[found.end() : found.end() + 1] == "("):
            return None
        if found[2] == "<>":
            raise Unplayable("<> is nothing that this simulated shell knows")
        if found[2] == "<<<" and not self.bash:
            raise SyntaxProblem("syntax error: unexpected redirection")
        self.at = found.end()
        self.blanks()
        how = found[2] or found[3][1:]
        fd = int(found[1]) if found[1] else (0 if how[0] == "<" else 1)
        if how in ("<<", "<<-"):
            return self._here(fd, tabs=how == "<<-")
        word = self.word()
        if not word:
            raise self.unexpected()
        if how == "<<<":
            return Redirect(fd, HERE, (*map(_as_quoted, word), Text("\n", quoted=True)))
        if how in (">&", "<&"):
            if how == ">&" and not found[1] and not _is_descriptor(word):
                return Redirect(1, ">", word, both=True)
            return Redirect(fd, how[0], (Text("&", quoted=True), *word))
        return Redirect(fd, ">" if how == ">|" else how, word, both=found[3] is not None)

    def _here(self, fd: int, *, tabs: bool) -> Redirect:
        """Read a here-document: it begins where the line ends."""
        start = self.at
        mark = "".join(part.text for part in self.word() if isinstance(part, Text))
        literal = any(letter in self.text[start : self.at] for letter in "'\"\\")
        end = self.text.find("\n", self.at)
        if end < 0:
            raise SyntaxProblem("syntax error: unexpected end of file in a here-document", unfinished=True)
        at, lines = self.jumps.get(end, end + 1), []
        while True:
            if at >= len(self.text):
                raise SyntaxProblem("syntax error: unexpected end of file in a here-document", unfinished=True)
            line = self._line(at)
            at += len(line) + 1
            line = line.lstrip("\t") if tabs else line
            if line == mark:
                break
            lines.append(line + "\n")
        self.jumps[end] = min(at, len(self.text))
        text = "".join(lines)
        if literal:
            return Redirect(fd, HERE, (Text(text, quoted=True),))
        return Redirect(fd, HERE, self.inner(text).parts("", quoted=True, plain=True))

    def _line(self, at: int) -> str:
        end = self.text.find("\n", at)
        return self.text[at:] if end < 0 else self.text[at:end]

    def _sum(self, expression: str) -> Word:
        return self.inner(expression).parts("", quoted=True)


def _literal(word: Word) -> str:
    first = word[0] if len(word) == 1 else None
    return first.text if isinstance(first, Text) else ""


def _is_descriptor(word: Word) -> bool:
    text = _literal(word)
    return text == "-" or text.isdecimal() or isinstance(word[0], Parameter)


def _as_quoted(part: Part) -> Part:
    return replace(part, quoted=True)
