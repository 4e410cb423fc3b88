"""How a script goes on: lists, pipes, groups, loops, choices, and what ends them.

Source: POSIX.1-2024, Shell Command Language, 2.9.2 to 2.9.5; the Bash Reference Manual, 3.2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator
from typing import Final

from controllers.kubelet.shell.arithmetic import Unreckonable, value_of
from controllers.kubelet.shell.endless import never_ends
from controllers.kubelet.shell.expanding import fields_of, segments_of, text_of
from controllers.kubelet.shell.opening import DROPPED
from controllers.kubelet.shell.parameters import shown
from controllers.kubelet.shell.patterns import compiled, of_pattern
from controllers.kubelet.shell.running import (
    VALUE_LENGTH_MAX,
    Exit,
    Happening,
    Leave,
    Return,
    Running,
    Sent,
    TooLong,
    Waits,
    Wrote,
)
from controllers.kubelet.shell.simple import Simples
from controllers.kubelet.shell.testing import NoCondition, condition_holds
from controllers.kubelet.shell.tree import (
    Cases,
    Choice,
    Command,
    Condition,
    Counted,
    Each,
    Function,
    Group,
    Loop,
    Pipeline,
    Reckoned,
    Script,
    Simple,
    Word,
)
from controllers.kubelet.shell.variables import Own, Trouble

TURN_STEPS: Final = 50
"""Commands that a turn may have of a loop that nothing ends, where it takes time."""

LEVELS_MAX: Final = 48
"""Commands within commands that run at once: loops, conditions, functions that call functions."""


class Flow(Simples):
    """What a shell does with all that is made of simple commands; who is one has these."""

    __slots__ = ()

    depth: int
    over: bool
    traps: dict[str, str]
    levels: int
    nested: int
    tested: int
    """In how many conditions it is: there `set -e` ends nothing."""
    rounds: int
    spare: int
    steps_left: int
    lasting_loops: set[int]
    endless: int
    """In how many loops it is that nothing ends."""

    @abstractmethod
    def evaluate(self, text: str, stdin: Sent | None = None) -> Running:
        """Run a script as a part of the one that runs."""

    def traced(self, text: str) -> Iterator[Wrote]:
        """Print a command before it runs, where `set -x` asks for that."""
        if "x" in self.options:
            yield Wrote(2, f"{'+' * (1 + self.nested)} {text}\n")

    def trapped(self, code: int) -> Running:
        """Run what is to be run when the shell ends."""
        text = self.traps.pop("EXIT", "")
        if text:
            self.code, self.over = code, False
            ended = yield from self.outward(self.to_its_end(self.evaluate(text), whole=True))
            return ended if self.over else code
        return code

    def to_its_end(self, running: Running, *, whole: bool) -> Running:
        """Run something that ends with what runs it; `whole`: that is this shell, else a part of it."""
        try:
            return (yield from running)
        except Exit as end:
            self.over = self.over or whole
            return end.code
        except Return as end:
            return end.code
        except Leave:
            return self.code
        except Trouble as trouble:
            yield Wrote(2, f"sh: {trouble.text}\n")
            self.over = self.over or (whole and self.depth > 0)
            return trouble.code
        except Unreckonable as wrong:
            yield Wrote(2, f"sh: {wrong}\n")
            return 1 if self.bash else 2

    def outward(self, running: Running) -> Running:
        """Print what runs to where `exec` has sent it."""
        while True:
            try:
                one = next(running)
            except StopIteration as end:
                return int(end.value)
            if not isinstance(one, Wrote):
                yield one
                continue
            target = self.lasting.get(one.fd, f"&{one.fd}")
            if target in ("&1", "&2"):
                yield Wrote(int(target[1:]), one.text)
            elif not target.startswith("&") and target != DROPPED:
                self.write(target, one.text, more=True)

    def script(self, script: Script, stdin: Sent | None = None) -> Running:
        """Run the commands of a script."""
        self.code = 0 if not script else self.code
        for number, pipeline in enumerate(script, 1):
            if (pipeline.join == "&&" and self.code) or (pipeline.join == "||" and not self.code):
                continue
            if pipeline.background:
                # What runs beside is not followed.
                self.unknown.add("&")
                yield Waits(0)
                self.code = 0
                continue
            tested = pipeline.negated or (number < len(script) and script[number].join != "")
            self.code = yield from self._tested(self._pipeline(pipeline, stdin), tested)
            if self.code and "e" in self.options and not tested and not self.tested:
                raise Exit(self.code)
        return self.code

    def _tested(self, running: Running, tested: bool = True) -> Running:
        """Run something whose failure ends nothing."""
        self.tested += tested
        try:
            return (yield from running)
        finally:
            self.tested -= tested

    def _pipeline(self, pipeline: Pipeline, stdin: Sent | None) -> Running:
        *before, last = pipeline.commands
        codes: list[int] = []
        begun_ms = self.now_ms
        for command in before:
            text, code = yield from self.collected(self.apart(self.command(command, stdin)))
            stdin = Sent(text)
            codes.append(code)
        running = self.command(last, stdin)
        codes.append((yield from (self.apart(running) if before else running)))
        if self.bash:
            self.arrays["PIPESTATUS"] = {number: str(code) for number, code in enumerate(codes)}
        if pipeline.timed:
            minutes, ms = divmod(self.now_ms - begun_ms, 60_000)
            yield Wrote(2, f"\nreal\t{minutes}m{ms / 1000:.3f}s\nuser\t0m0.000s\nsys\t0m0.000s\n")
        code = codes[-1]
        if "pipefail" in self.options:
            code = next((one for one in reversed(codes) if one), 0)
        return int(not code) if pipeline.negated else code

    def apart(self, running: Running, *, checks: bool = True) -> Running:
        """Run something in a shell of its own that begins like this one; `checks`: whether `set -e` goes on in it."""
        self.spend(sum(map(len, self.arrays.values())) >> 8)
        kept = (
            dict(self.variables), {name: dict(held) for name, held in self.arrays.items()}, set(self.keyed),
            set(self.exported), set(self.readonly), dict(self.functions), set(self.options), self.traps, self.lasting,
            dict(self.inputs), [Own(dict(one.texts), dict(one.arrays)) for one in self.calls],
            self.folder, self.arguments, self.numeric,
        )  # fmt: skip
        self.traps, self.lasting, self.numeric = {}, {}, set(self.numeric)
        if not checks:
            self.options.discard("e")
        try:
            self.code = yield from self.outward(self.to_its_end(running, whole=False))
            over, self.over = self.over, False
            code = yield from self.trapped(self.code)
            self.over = over
            return code
        finally:
            (
                self.variables, self.arrays, self.keyed, self.exported, self.readonly, self.functions, self.options,
                self.traps, self.lasting, self.inputs, self.calls, self.folder, self.arguments, self.numeric,
            ) = kept  # fmt: skip

    def collected(self, running: Running) -> Generator[Happening, None, tuple[str, int]]:
        """Run something; return (its standard output, its exit code)."""
        texts: list[str] = []
        room = VALUE_LENGTH_MAX
        while True:
            try:
                one = next(running)
            except StopIteration as end:
                return "".join(texts), int(end.value)
            if isinstance(one, Wrote) and one.fd == 1:
                texts.append(one.text[:room])
                room -= len(texts[-1])
            else:
                yield one

    def command(self, command: Command, stdin: Sent | None) -> Running:
        """Run a command of a script."""
        self.spend(1)
        self.levels += 1
        if self.levels > LEVELS_MAX:
            raise TooLong
        try:
            return (yield from self._run(command, stdin))
        finally:
            self.levels -= 1

    def _run(self, command: Command, stdin: Sent | None) -> Running:
        match command:
            case Simple():
                return (yield from self.simple(command, stdin))
            case Group():
                return (yield from self.redirected(command.redirects, stdin, lambda given: self._group(command, given)))
            case Loop(condition, body, until):
                endless = "e" not in self.options and never_ends(command, self.functions)
                if not endless:
                    return (yield from self._loop(condition, body, stdin, until=until))
                self.endless += 1
                self.lasting_loops.add(id(command))
                try:
                    return (yield from self._on_and_on(self._loop(condition, body, stdin, until=until)))
                finally:
                    self.lasting_loops.discard(id(command))
                    self.endless -= 1
            case Each():
                return (yield from self._each(command, stdin))
            case Counted():
                return (yield from self._counted(command, stdin))
            case Choice(branches, otherwise):
                for condition, body in branches:
                    if (yield from self._tested(self.script(condition, stdin))) == 0:
                        return (yield from self.script(body, stdin))
                self.code = 0
                return (yield from self.script(otherwise, stdin)) if otherwise is not None else 0
            case Cases():
                return (yield from self._cases(command, stdin))
            case Function(name, body):
                self.functions[name] = body
                return 0
            case Condition(test, _):
                try:
                    return 0 if (yield from condition_holds(self, test)) else 1
                except (NoCondition, Unreckonable) as wrong:
                    yield Wrote(2, f"sh: [[: {wrong}\n")
                    return 2 if isinstance(wrong, NoCondition) else 1
            case Reckoned(expression):
                try:
                    return 0 if (yield from self._reckoned(expression)) else 1
                except Unreckonable as wrong:
                    yield Wrote(2, f"sh: ((: {wrong}\n")
                    return 1

    # -- compound commands ------------------------------------------------------------------------------------------

    def _group(self, command: Group, stdin: Sent | None) -> Running:
        inner = self.script(command.body, stdin)
        return (yield from (self.apart(inner) if command.apart else inner))

    def _loop(self, condition: Script, body: Script, stdin: Sent | None, *, until: bool) -> Running:
        code = 0
        while True:
            yield from self._tested(self.script(condition, stdin))
            if (self.code == 0) == until:
                return code
            if (yield from self._body(body, stdin)):
                return 0
            code = self.code

    def _on_and_on(self, loop: Running) -> Running:
        """Run a loop that nothing ends: each turn that takes time may have some commands more, while there are any."""
        while True:
            try:
                one = next(loop)
            except StopIteration as end:
                return int(end.value)
            yield one
            if isinstance(one, Waits) and one.ms and self.steps_left < TURN_STEPS <= self.spare:
                self.spare -= TURN_STEPS - self.steps_left
                self.steps_left = TURN_STEPS

    def _each(self, command: Each, stdin: Sent | None) -> Running:
        words = self.arguments[1:] if command.words is None else (yield from fields_of(self, command.words))
        self.code = 0
        for value in words:
            yield from self.traced(f"for {command.name} in {' '.join(map(shown, words))}")
            self.put(command.name, value)
            self.rounds += 1
            if (yield from self._body(command.body, stdin)):
                return 0
        return self.code

    def _counted(self, command: Counted, stdin: Sent | None) -> Running:
        yield from self._reckoned(command.first)
        self.code = 0
        while not command.condition or (yield from self._reckoned(command.condition)):
            if (yield from self._body(command.body, stdin)):
                return 0
            yield from self._reckoned(command.step)
        return self.code

    def _reckoned(self, expression: Word) -> Generator[Happening, None, int]:
        text = yield from text_of(self, expression)
        yield from self.traced(f"(( {text.strip()} ))")
        return value_of(text, self)

    def _cases(self, command: Cases, stdin: Sent | None) -> Running:
        value = yield from text_of(self, command.word)
        yield from self.traced(f"case {shown(value)} in")
        self.code, through = 0, False
        for patterns, body, end in command.branches:
            if not through:
                for pattern in patterns:
                    segments = yield from segments_of(self, pattern)
                    self.spend(len(value) * sum(len(text) for text, _ in segments) >> 16)
                    if compiled(of_pattern(segments)).fullmatch(value) is not None:
                        break
                else:
                    continue
            yield from self.script(body, stdin)
            if end in (";;", ""):
                break
            through = end == ";&"
        return self.code

    def _body(self, body: Script, stdin: Sent | None) -> Generator[Happening, None, bool]:
        """Run a loop's body once; whether the loop is left."""
        self.spend(1)
        try:
            yield from self.script(body, stdin)
        except Leave as leave:
            self.code = 0
            if leave.levels > 1:
                raise Leave(leave.again, leave.levels - 1) from leave
            return not leave.again
        return False
