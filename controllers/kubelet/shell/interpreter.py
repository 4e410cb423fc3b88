"""Running scripts: a generator of what is printed and of waits, which whoever runs it lets pass.

Source: POSIX.1-2024, Shell Command Language, 2.6 to 2.9; words of busybox' ash for what goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from controllers.kubelet.shell.disk import Disk
from controllers.kubelet.shell.expanding import fields_of, text_of
from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.running import (
    MISSING,
    STEPS_MAX,
    VALUE_LENGTH_MAX,
    Exit,
    Happening,
    Running,
    Send,
    Sent,
    TooLong,
    Waits,
    Wrote,
)
from controllers.kubelet.shell.syntax import parse
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
)

NESTED_MAX: Final = 16
"""Shells within shells."""


class _Leave(Exception):
    """`break` and `continue`."""

    def __init__(self, again: bool, levels: int) -> None:
        super().__init__(again)
        self.again, self.levels = again, levels


@dataclass(slots=True)
class Call:
    """One command as its program sees it."""

    shell: Shell
    words: Sequence[str]
    stdin: str | None
    """What a pipe or a redirection gives to it; None where it reads what is sent to its shell."""

    def input(self) -> Generator[Happening, None, str]:
        """Return its standard input."""
        return self.stdin if self.stdin is not None else (yield from self.shell.sent.taken())

    @property
    def name(self) -> str:
        """Return what it was called by, without its folder."""
        return self.words[0].rpartition("/")[2]

    @property
    def arguments(self) -> Sequence[str]:
        """Return the words after the name."""
        return self.words[1:]

    @property
    def inside(self) -> Inside:
        """Return what the container sees of itself."""
        return self.shell.inside


Program = Callable[[Call], Running]


@dataclass(slots=True)
class Shell(Disk):
    """A shell in a container: variables, folder and written files live as long as it does."""

    inside: Inside
    programs: Mapping[str, Program]
    now_ms: int
    """Unix milliseconds; grows with each wait."""
    variables: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    arguments: tuple[str, ...] = ()
    written: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    code: int = 0
    steps_left: int = STEPS_MAX
    depth: int = 0
    over: bool = False
    """Whether it was told to end."""
    lenient: bool = False
    """Whether a program that is not known is taken to run well and print nothing."""
    input: str = ""
    """What `read` has not read yet."""
    sent: Sent = field(default_factory=Sent)
    unknown: set[str] = field(default_factory=set)
    """What is not known here: programs taken to run well, files that an image may have, `&` (it runs beside)."""
    certain: bool = False
    """Whether a file that is not found is not there, where no image has files of its own."""
    unsure: set[str] = field(default_factory=set)
    """Files that an image may have, and that were not found."""
    send: Send | None = None
    """Sends requests; None: there is no network to send them through."""

    # -- running ----------------------------------------------------------------------------------------------------

    def run(self, text: str) -> Running:
        """Run a script.

        Raises:
            TooLong: it does not end.
        """
        try:
            script = parse(text)
        except SyntaxProblem as problem:
            yield Wrote(2, f"sh: {problem}\n")
            return 2
        try:
            yield from self._script(script)
        except Exit as end:
            self.code, self.over = end.code, True
        except _Leave:
            pass
        return self.code

    def call(self, words: Sequence[str], stdin: str | None = None) -> Running:
        """Run one command by its words."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise TooLong
        name = words[0].rpartition("/")[2]
        answer = self.inside.answer(words)
        if answer is not None:
            for fd, text in ((1, answer.out), (2, answer.err)):
                if text:
                    yield Wrote(fd, text)
            return answer.code
        program = self.programs.get(name)
        if program is None or not self.inside.has(name):
            if self.lenient:
                self.unknown.add(name)
                # Whoever plays it sees what was done before.
                yield Waits(0)
                return 0
            yield Wrote(2, f"sh: {words[0]}: not found\n")
            return MISSING
        return (yield from program(Call(self, words, stdin)))

    def within(self, text: str, arguments: Sequence[str] = (), stdin: str | None = None) -> Running:
        """Run a script in a shell of its own, with what this one has and is sent, where no pipe gives it other."""
        if self.depth >= NESTED_MAX:
            raise TooLong
        inner = Shell(
            self.inside, self.programs, self.now_ms, dict(self.variables), self.folder, tuple(arguments),
            self.written, self.removed, 0, self.steps_left, self.depth + 1, False, self.lenient,
            sent=self.sent if stdin is None else Sent(stdin), unknown=self.unknown, certain=self.certain,
            unsure=self.unsure, send=self.send,
        )  # fmt: skip
        try:
            code = yield from inner.run(text)
        finally:
            self.steps_left = inner.steps_left
        self.now_ms = inner.now_ms
        return code

    def waits(self, ms: int) -> Iterator[Waits]:
        """Let time pass."""
        yield Waits(ms)
        self.now_ms += ms

    def _script(self, script: Script, stdin: str | None = None) -> Running:
        for pipeline in script:
            if (pipeline.join == "&&" and self.code) or (pipeline.join == "||" and not self.code):
                continue
            if pipeline.background:
                # What runs beside is not followed.
                self.unknown.add("&")
                yield Waits(0)
                self.code = 0
                continue
            yield from self._pipeline(pipeline, stdin)
        return self.code

    def _pipeline(self, pipeline: Pipeline, stdin: str | None) -> Running:
        *before, last = pipeline.commands
        for command in before:
            stdin = yield from self._collected(self._apart(command, stdin))
        self.code = yield from self._command(last, stdin)
        if pipeline.negated:
            self.code = 0 if self.code else 1
        return self.code

    def _apart(self, command: Command, stdin: str | None) -> Running:
        """Run a command of a pipe; its variables are its own."""
        kept = dict(self.variables)
        try:
            return (yield from self._command(command, stdin))
        except Exit as end:
            return end.code
        finally:
            self.variables = kept

    def _collected(self, running: Running) -> Generator[Happening, None, str]:
        """Run something; return its standard output."""
        texts: list[str] = []
        room = VALUE_LENGTH_MAX
        for one in running:
            if isinstance(one, Wrote) and one.fd == 1:
                texts.append(one.text[:room])
                room -= len(texts[-1])
            else:
                yield one
        return "".join(texts)

    def _command(self, command: Command, stdin: str | None) -> Running:
        self.steps_left -= 1
        if self.steps_left < 0:
            raise TooLong
        # What a pipe gives to a loop or a choice, `read` takes; other commands in it find nothing left.
        rest = None if stdin is None else ""
        match command:
            case Simple():
                return (yield from self._simple(command, stdin))
            case Loop(condition, body, until):
                self.input, code = stdin or self.input, 0
                while True:
                    yield from self._script(condition, rest)
                    if (self.code == 0) == until:
                        return code
                    left = yield from self._body(body, rest)
                    if left:
                        return 0
                    code = self.code
            case Each(name, words, body):
                self.code = 0
                for value in (yield from fields_of(self, words)):
                    self.variables[name] = value
                    if (yield from self._body(body, rest)):
                        return 0
                return self.code
            case Choice(branches, otherwise):
                for condition, body in branches:
                    yield from self._script(condition, rest)
                    if self.code == 0:
                        return (yield from self._script(body, stdin))
                self.code = 0
                return (yield from self._script(otherwise, stdin)) if otherwise is not None else 0
            case Group(body, redirects, apart):
                found, stdin = yield from self._standard_input(redirects, stdin)
                if not found:
                    return 1
                self.input = stdin or self.input
                inner = self._subshell(body, stdin) if apart else self._script(body, stdin)
                return (yield from self._redirected(redirects, inner))

    def _body(self, body: Script, stdin: str | None) -> Generator[Happening, None, bool]:
        """Run a loop's body once; whether the loop is left."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise TooLong
        try:
            yield from self._script(body, stdin)
        except _Leave as leave:
            if leave.levels > 1:
                raise _Leave(leave.again, leave.levels - 1) from leave
            return not leave.again
        return False

    def _simple(self, command: Simple, stdin: str | None) -> Running:
        words = yield from fields_of(self, command.words)
        sets: dict[str, str] = {}
        for name, word in command.sets:
            sets[name] = (yield from text_of(self, word))[:VALUE_LENGTH_MAX]
        if not words:
            self.variables.update(sets)
            return (yield from self._redirected(command.redirects, _nothing()))
        found, stdin = yield from self._standard_input(command.redirects, stdin)
        if not found:
            return 1
        kept = {name: self.variables.get(name) for name in sets}
        self.variables.update(sets)
        try:
            return (yield from self._redirected(command.redirects, self._call(words, stdin)))
        finally:
            for name, value in kept.items():
                if value is None:
                    self.variables.pop(name, None)
                else:
                    self.variables[name] = value

    def _standard_input(
        self, redirects: Sequence[Redirect], stdin: str | None
    ) -> Generator[Happening, None, tuple[bool, str | None]]:
        """Return (whether there is the file that it is to read, what a command reads)."""
        for redirect in redirects:
            if redirect.how == "<":
                target = yield from text_of(self, redirect.word)
                stdin = self.read(target)
                if stdin is None:
                    yield Wrote(2, f"sh: can't open {target}: no such file\n")
                    return False, None
        return True, stdin

    def _subshell(self, body: Script, stdin: str | None) -> Running:
        """Run a script that changes neither variables nor folder of this shell."""
        kept, folder = dict(self.variables), self.folder
        try:
            return (yield from self._script(body, stdin))
        except Exit as end:
            return end.code
        finally:
            self.variables, self.folder = kept, folder

    def _call(self, words: Sequence[str], stdin: str | None) -> Running:
        number = int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 9 else None
        match words[0]:
            case "exit" | "return":
                raise Exit((self.code if number is None else number) & 255)
            case "break" | "continue":
                raise _Leave(words[0] == "continue", number or 1)
            case "exec":
                if len(words) > 1:
                    raise Exit((yield from self.call(words[1:], stdin)))
                return 0
            case "read":
                # A body's command reads what its pipe or redirection has given to the whole.
                return (yield from self._read(words, stdin))
            case _:
                return (yield from self.call(words, stdin))

    def _read(self, words: Sequence[str], stdin: str | None) -> Running:
        if not self.input:
            self.input = stdin if stdin is not None else (yield from self.sent.taken())
        line, ended, self.input = self.input.partition("\n")
        names = [word for word in words[1:] if not word.startswith("-")] or ["REPLY"]
        values = line.split(None, len(names) - 1)
        for index, name in enumerate(names):
            self.variables[name] = values[index] if index < len(values) else ""
        return 0 if line or ended else 1

    def _redirected(self, redirects: Sequence[Redirect], running: Running) -> Running:
        """Run something whose output goes elsewhere."""
        targets: dict[int, str] = {1: "&1", 2: "&2"}
        for redirect in redirects:
            if redirect.how == "<":
                continue
            word = yield from text_of(self, redirect.word)
            targets[redirect.fd] = targets.get(int(word[1:]), word) if word[:1] == "&" and word[1:].isdigit() else word
            if not word.startswith("&"):
                wrong = self.write(word, "", more=redirect.how == ">>")
                if wrong:
                    yield Wrote(2, f"sh: {wrong}\n")
                    return 1
        if len(redirects) == 0:
            return (yield from running)
        while True:
            try:
                one = next(running)
            except StopIteration as end:
                return int(end.value)
            if not isinstance(one, Wrote):
                yield one
                continue
            target = targets[one.fd]
            if target.startswith("&"):
                yield Wrote(int(target[1:]), one.text)
            else:
                self.write(target, one.text, more=True)

    # -- words ------------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> str:
        """Return a variable's value."""
        match name:
            case "?":
                return str(self.code)
            case "#":
                return str(max(0, len(self.arguments) - 1))
            case "@" | "*":
                return " ".join(self.arguments[1:])
            case "$":
                return "1"
            case "!":
                return ""
            case "RANDOM":
                return str(self.inside.chance(self.steps_left) & 32767)
            case _ if name.isdecimal():
                number = int(name[:4])
                return self.arguments[number] if number < len(self.arguments) else ("sh" if number == 0 else "")
            case _:
                return self.variables.get(name, "")

    def output(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return what it prints, without the last line's end."""
        kept = dict(self.variables)
        text = yield from self._collected(self._inner(script))
        self.variables = kept
        return text.rstrip("\n")

    def _inner(self, script: Script) -> Running:
        try:
            return (yield from self._script(script))
        except Exit as end:
            self.code = end.code
            return end.code


def _nothing() -> Running:
    yield from ()
    return 0
