"""Simple commands: assignments, what is called with which words, and where its output goes.

Source: POSIX.1-2024, Shell Command Language, 2.9.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence

from controllers.kubelet.shell.disk import Disk
from controllers.kubelet.shell.expanding import fields_of, text_of
from controllers.kubelet.shell.opening import DROPPED, Opened, opened
from controllers.kubelet.shell.parameters import shown
from controllers.kubelet.shell.running import Exit, Happening, Return, Running, Sent, Wrote
from controllers.kubelet.shell.surroundings import Surroundings
from controllers.kubelet.shell.tree import Assignment, Command, Redirect, Simple
from controllers.kubelet.shell.variables import Own, Variables


class Simples(Disk, Variables, Surroundings):
    """What a shell does with simple commands; who is one has these."""

    __slots__ = ()

    arguments: tuple[str, ...]
    sent: Sent
    functions: dict[str, Command]
    lasting: dict[int, str]
    """Where `exec` has sent what is printed."""
    substituted: int
    """How the last `$(…)` of a command ended."""
    place: Command | None
    """The simple command that runs, or ran last."""

    @abstractmethod
    def invoke(self, words: Sequence[str], stdin: Sent | None = None) -> Running:
        """Run one command of a script by its words."""

    @abstractmethod
    def command(self, command: Command, stdin: Sent | None) -> Running:
        """Run a command of a script."""

    def simple(self, command: Simple, stdin: Sent | None) -> Running:
        """Run a simple command."""
        self.substituted = 0
        words = yield from fields_of(self, command.words)
        if not words:
            for one in command.sets:
                yield from self._assigned(one)
            code = self.substituted
            return (yield from self.redirected(command.redirects, stdin, lambda _: _nothing(code)))
        if words == ["exec"]:
            return (yield from self._executed(command.redirects, stdin))
        names = {one.name for one in command.sets}
        before = [(name, self.variables.get(name), self.arrays.get(name), name in self.exported) for name in names]
        for one in command.sets:
            yield from self._assigned(one)
        self.exported |= names
        yield from self.traced(" ".join(map(shown, words)))
        self.place = command
        try:
            return (
                yield from self.redirected(command.redirects, stdin, lambda given: self._called(words, command, given))
            )
        finally:
            for name, text, elements, exported in before:
                self.variables.pop(name, None)
                self.arrays.pop(name, None)
                if text is not None:
                    self.variables[name] = text
                if elements is not None:
                    self.arrays[name] = elements
                if not exported:
                    self.exported.discard(name)

    def _called(self, words: Sequence[str], command: Simple, stdin: Sent | None) -> Running:
        function = self.functions.get(words[0])
        if function is None:
            code = yield from self.invoke(words, stdin)
        else:
            code = yield from self._function(function, words, stdin)
        for one in command.declared:
            yield from self._assigned(one)
        return code

    def _function(self, function: Command, words: Sequence[str], stdin: Sent | None) -> Running:
        kept, self.arguments = self.arguments, (*(self.arguments[:1] or ("sh",)), *words[1:])
        self.calls.append(Own())
        try:
            return (yield from self.command(function, stdin))
        except Return as end:
            return end.code
        finally:
            self.leave()
            self.arguments = kept

    def _assigned(self, one: Assignment) -> Generator[Happening, None, None]:
        index = None if one.index is None else (yield from text_of(self, one.index))
        name = one.name if index is None else f"{one.name}[{index}]"
        sign = "+=" if one.more else "="
        if one.items is None:
            text = yield from text_of(self, one.word)
            self.put(one.name, text, index, more=one.more)
            yield from self.traced(f"{name}{sign}{shown(text) if text else ''}")
            return
        items: list[tuple[str | None, str]] = []
        for key, word in one.items:
            if key is None:
                items += [(None, text) for text in (yield from fields_of(self, [word]))]
            else:
                items.append(((yield from text_of(self, key)), (yield from text_of(self, word))))
        self.put_all(one.name, items, more=one.more)
        self.spend(len(items) >> 4)
        yield from self.traced(f"{name}{sign}({' '.join(shown(text) for _, text in items)})")

    def _executed(self, redirects: Sequence[Redirect], stdin: Sent | None) -> Running:
        """Send what is printed, and read, elsewhere from now on."""
        found = yield from opened(self, redirects, stdin)
        if found is None:
            raise Exit(1)
        for fd, target in found.targets.items():
            known = target[1:].isdigit() and target.startswith("&")
            self.lasting[fd] = self.lasting.get(int(target[1:]), target) if known else target
        self.inputs = found.inputs
        self.sent = found.stdin or self.sent
        return 0

    def redirected(
        self, redirects: Sequence[Redirect], stdin: Sent | None, start: Callable[[Sent | None], Running]
    ) -> Running:
        """Run something whose output goes elsewhere."""
        if not redirects:
            return (yield from start(stdin))
        found = yield from opened(self, redirects, stdin)
        if found is None:
            return 1
        kept, self.inputs = self.inputs, found.inputs
        try:
            return (yield from self._to(found, start(found.stdin)))
        finally:
            self.inputs = kept

    def _to(self, found: Opened, running: Running) -> Running:
        while True:
            try:
                one = next(running)
            except StopIteration as end:
                return int(end.value)
            target = found.targets.get(one.fd) if isinstance(one, Wrote) else None
            if target is None or not isinstance(one, Wrote):
                yield one
            elif target.startswith("&"):
                yield Wrote(int(target[1:]), one.text)
            elif target != DROPPED:
                self.write(target, one.text, more=True)


def _nothing(code: int) -> Running:
    yield from ()
    return code
