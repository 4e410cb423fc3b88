"""A person at a prompt: what is typed becomes commands, with as much of a terminal as a lesson needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.running import STEPS_MAX, Running, Wrote
from controllers.kubelet.shell.syntax import parse
from controllers.kubelet.shell.tree import SyntaxProblem

GREETING: Final = "clustersim: this container is simulated, no process runs in it; `help` lists what is known here\n"

LINE_LENGTH_MAX: Final = 4_096
"""Characters of a line that is typed; more are dropped."""

_ERASE: Final = "\b \b"


class Terminal:
    """A shell that reads what somebody types; with `tty` it shows a prompt and what was typed."""

    def __init__(self, shell: Shell, *, tty: bool) -> None:
        """Sit down."""
        self.shell, self._tty = shell, tty
        self._line = ""
        self._before = ""
        """Lines of a command that is not whole yet."""
        self._skips: str = ""

    def prompt(self) -> str:
        """Return what stands at the beginning of a line."""
        if not self._tty:
            return ""
        if self._before:
            return "> "
        return f"{self.shell.folder} {'$' if self.shell.inside.user.uid else '#'} "

    def greeting(self) -> str:
        """Return what is shown first."""
        return self.shown(GREETING) + self.prompt() if self._tty else ""

    def shown(self, text: str) -> str:
        """Return a text as a terminal needs it."""
        return text.replace("\n", "\r\n") if self._tty else text

    def typed(self, text: str) -> Iterator[str | Running]:
        """Yield what to show, and commands to run; `shell.over` says that the session has ended."""
        for letter in text:
            if self.shell.over:
                return
            if not self._tty:
                if letter == "\n":
                    yield from self._entered()
                else:
                    self._line += letter
            elif letter in "\r\n":
                yield "\r\n"
                yield from self._entered()
                if not self.shell.over:
                    yield self.prompt()
            else:
                yield self._key(letter)

    def _key(self, letter: str) -> str:
        if self._skips:
            # The rest of an arrow key.
            self._skips = "" if letter.isalpha() or letter == "~" else self._skips
            return ""
        match letter:
            case "\x1b":
                self._skips = letter
                return ""
            case "\x7f" | "\b":
                had, self._line = self._line, self._line[:-1]
                return _ERASE if had else ""
            case "\x03":
                self._line = self._before = ""
                return "^C\r\n" + self.prompt()
            case "\x04":
                if not self._line:
                    self.shell.over = True
                return ""
            case "\x15":
                had, self._line = self._line, ""
                return _ERASE * len(had)
            case _:
                if not letter.isprintable() or len(self._line) >= LINE_LENGTH_MAX:
                    return ""
                self._line += letter
                return letter

    def closed(self) -> Iterator[str | Running]:
        """Nothing more will be typed: yield what is left to run."""
        if self._line or self._before:
            yield self._ran(self._before + self._line)
        self.shell.over = True

    def _entered(self) -> Iterator[str | Running]:
        text, self._line, self._before = f"{self._before}{self._line}\n", "", ""
        try:
            parse(text, bash=self.shell.bash)
        except SyntaxProblem as problem:
            if problem.unfinished and len(text) < LINE_LENGTH_MAX:
                self._before = text
                return
        yield self._ran(text)

    def _ran(self, text: str) -> Running:
        self.shell.steps_left = STEPS_MAX
        for one in (running := self.shell.run(text)):
            yield Wrote(one.fd, self.shown(one.text)) if isinstance(one, Wrote) else one
        running.close()
        return self.shell.code
