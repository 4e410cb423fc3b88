"""Running scripts: a generator of what is printed and of waits, which whoever runs it lets pass.

Source: POSIX.1-2024, Shell Command Language, 2.6 to 2.9; words of busybox' ash for what goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from controllers.kubelet.shell.arithmetic import Unreckonable, value_of
from controllers.kubelet.shell.disk import Disk
from controllers.kubelet.shell.expanding import fields_of, segments_of, text_of
from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.opening import DROPPED, Opened, opened
from controllers.kubelet.shell.parameters import shown
from controllers.kubelet.shell.patterns import compiled, of_pattern
from controllers.kubelet.shell.running import (
    MISSING,
    STEPS_MAX,
    VALUE_LENGTH_MAX,
    Exit,
    Happening,
    Leave,
    Return,
    Running,
    Send,
    Sent,
    TooLong,
    Waits,
    Wrote,
)
from controllers.kubelet.shell.special import special
from controllers.kubelet.shell.syntax import parse
from controllers.kubelet.shell.testing import NoCondition, condition_holds
from controllers.kubelet.shell.tree import (
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
    Pipeline,
    Reckoned,
    Redirect,
    Script,
    Simple,
    SyntaxProblem,
    Unplayable,
    Word,
)
from controllers.kubelet.shell.variables import Elements, Own, Trouble, Variables

NESTED_MAX: Final = 16
"""Shells within shells."""

LEVELS_MAX: Final = 48
"""Commands within commands that run at once: loops, conditions, functions that call functions."""

FILES_MAX: Final = 16
"""Files that `<(…)` stands for at once; the oldest are forgotten."""

_SHEBANGS: Final = ("sh", "ash", "bash", "dash")


@dataclass(slots=True)
class Call:
    """One command as its program sees it."""

    shell: Shell
    words: Sequence[str]
    stdin: Sent | None
    """What a pipe or a redirection gives to it; None where it reads what is sent to its shell."""

    def input(self) -> Generator[Happening, None, str]:
        """Return its standard input."""
        return (yield from self.source.taken())

    @property
    def source(self) -> Sent:
        """Return what it reads from."""
        return self.shell.sent if self.stdin is None else self.stdin

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
class Shell(Disk, Variables):
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
    sent: Sent = field(default_factory=Sent)
    unknown: set[str] = field(default_factory=set)
    """What is not known here: programs taken to run well, files that an image may have, `&` (it runs beside)."""
    certain: bool = False
    """Whether a file that is not found is not there, where no image has files of its own."""
    unsure: set[str] = field(default_factory=set)
    """Files that an image may have, and that were not found."""
    send: Send | None = None
    """Sends requests; None: there is no network to send them through."""
    bash: bool = False
    """Whether it knows what bash does; every shell of an image that has bash is taken to."""
    options: set[str] = field(default_factory=set)
    """What `set` has set: `e`, `f`, `u`, `x`, `pipefail` …"""
    functions: dict[str, Command] = field(default_factory=dict)
    traps: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, Elements] = field(default_factory=dict)
    keyed: set[str] = field(default_factory=set)
    numeric: set[str] = field(default_factory=set)
    exported: set[str] = field(default_factory=set)
    readonly: set[str] = field(default_factory=set)
    calls: list[Own] = field(default_factory=list)
    pipes: dict[str, str] = field(default_factory=dict)
    inputs: dict[int, Sent] = field(default_factory=dict)
    """What `read -u` and `<&` read: descriptor → what is there."""
    lasting: dict[int, str] = field(default_factory=dict)
    """Where `exec` has sent what is printed."""
    levels: int = 0
    tested: int = 0
    """In how many conditions it is: there `set -e` ends nothing."""
    substituted: int = 0
    """How the last `$(…)` of a command ended."""
    begun_ms: int = 0

    def __post_init__(self) -> None:
        """Know bash where the image has it, and let programs see what there is at the beginning."""
        self.bash = self.bash or self.inside.has("bash")
        self.exported |= self.variables.keys()
        self.begun_ms = self.now_ms

    # -- running ----------------------------------------------------------------------------------------------------

    def run(self, text: str) -> Running:
        """Run a script.

        Raises:
            TooLong: it does not end.
            Unplayable: it cannot be played here, and nobody reads what would be said of that.
        """
        try:
            script = parse(text, bash=self.bash)
            self.code = yield from self._outward(self._to_its_end(self._script(script), whole=True))
        except SyntaxProblem as problem:
            if self.lenient and isinstance(problem, Unplayable):
                raise
            yield Wrote(2, f"sh: {problem}\n")
            self.code = 2
        return self.code

    def evaluate(self, text: str, stdin: Sent | None = None) -> Running:
        """Run a script as a part of the one that runs."""
        return (yield from self._script(parse(text, bash=self.bash), stdin))

    def call(self, words: Sequence[str], stdin: Sent | None = None) -> Running:
        """Run one command by its words."""
        self.spend(1)
        name = words[0].rpartition("/")[2]
        answer = self.inside.answer(words)
        if answer is not None:
            for fd, text in ((1, answer.out), (2, answer.err)):
                if text:
                    yield Wrote(fd, text)
            return answer.code
        if self.knows(name):
            return (yield from self.programs[name](Call(self, words, stdin)))
        held = self.read(words[0]) if "/" in words[0] else None
        if held is not None and (interpreter := _interpreter(held)):
            bash = interpreter == "bash"
            return (yield from self.within(held, words, stdin, bash=bash, options=_flags(held)))
        if self.lenient:
            self.unknown.add(name)
            # Whoever plays it sees what was done before.
            yield Waits(0)
            return 0
        yield Wrote(2, f"sh: {words[0]}: not found\n")
        return MISSING

    def knows(self, name: str) -> bool:
        """Return whether a program is known here, and the image has it."""
        return name in self.programs and self.inside.has(name)

    def within(
        self,
        text: str,
        arguments: Sequence[str] = (),
        stdin: Sent | None = None,
        *,
        bash: bool = False,
        options: frozenset[str] = frozenset(),
    ) -> Running:
        """Run a script in a shell of its own, with what this one has and is sent, where no pipe gives it other."""
        if self.depth >= NESTED_MAX:
            raise TooLong
        inner = Shell(
            self.inside, self.programs, self.now_ms, self.environment(), self.folder, tuple(arguments),
            self.written, self.removed, 0, self.steps_left, self.depth + 1, False, self.lenient,
            sent=self.sent if stdin is None else stdin, unknown=self.unknown, certain=self.certain,
            unsure=self.unsure, send=self.send, bash=bash, options=set(options), pipes=self.pipes,
            levels=self.levels,
        )  # fmt: skip
        try:
            code = yield from inner.run(text)
            code = yield from inner.trapped(code)
        finally:
            self.steps_left = inner.steps_left
        self.now_ms = inner.now_ms
        return code

    def waits(self, ms: int) -> Iterator[Waits]:
        """Let time pass."""
        yield Waits(ms)
        self.now_ms += ms

    def spend(self, work: int) -> None:
        """Count work as steps.

        Raises:
            TooLong: there are none left.
        """
        self.steps_left -= work
        if self.steps_left < 0:
            raise TooLong

    def traced(self, text: str) -> Iterator[Wrote]:
        """Print a command before it runs, where `set -x` asks for that."""
        if "x" in self.options:
            yield Wrote(2, f"+ {text}\n")

    def trapped(self, code: int) -> Running:
        """Run what is to be run when the shell ends."""
        text = self.traps.pop("EXIT", "")
        if text:
            self.code, self.over = code, False
            ended = yield from self._outward(self._to_its_end(self.evaluate(text), whole=True))
            return ended if self.over else code
        return code

    def _to_its_end(self, running: Running, *, whole: bool) -> Running:
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

    def _outward(self, running: Running) -> Running:
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

    def _script(self, script: Script, stdin: Sent | None = None) -> Running:
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
            text, code = yield from self._collected(self._apart(self._command(command, stdin)))
            stdin = Sent(text)
            codes.append(code)
        running = self._command(last, stdin)
        codes.append((yield from (self._apart(running) if before else running)))
        if self.bash:
            self.arrays["PIPESTATUS"] = {number: str(code) for number, code in enumerate(codes)}
        if pipeline.timed:
            minutes, ms = divmod(self.now_ms - begun_ms, 60_000)
            yield Wrote(2, f"\nreal\t{minutes}m{ms / 1000:.3f}s\nuser\t0m0.000s\nsys\t0m0.000s\n")
        code = codes[-1]
        if "pipefail" in self.options:
            code = next((one for one in reversed(codes) if one), 0)
        return int(not code) if pipeline.negated else code

    def _apart(self, running: Running, *, checks: bool = True) -> Running:
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
            self.code = yield from self._outward(self._to_its_end(running, whole=False))
            over, self.over = self.over, False
            code = yield from self.trapped(self.code)
            self.over = over
            return code
        finally:
            (
                self.variables, self.arrays, self.keyed, self.exported, self.readonly, self.functions, self.options,
                self.traps, self.lasting, self.inputs, self.calls, self.folder, self.arguments, self.numeric,
            ) = kept  # fmt: skip

    def _collected(self, running: Running) -> Generator[Happening, None, tuple[str, int]]:
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

    def _command(self, command: Command, stdin: Sent | None) -> Running:
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
                return (yield from self._simple(command, stdin))
            case Group():
                return (
                    yield from self._redirected(command.redirects, stdin, lambda given: self._group(command, given))
                )
            case Loop(condition, body, until):
                return (yield from self._loop(condition, body, stdin, until=until))
            case Each():
                return (yield from self._each(command, stdin))
            case Counted():
                return (yield from self._counted(command, stdin))
            case Choice(branches, otherwise):
                for condition, body in branches:
                    if (yield from self._tested(self._script(condition, stdin))) == 0:
                        return (yield from self._script(body, stdin))
                self.code = 0
                return (yield from self._script(otherwise, stdin)) if otherwise is not None else 0
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
        inner = self._script(command.body, stdin)
        return (yield from (self._apart(inner) if command.apart else inner))

    def _loop(self, condition: Script, body: Script, stdin: Sent | None, *, until: bool) -> Running:
        code = 0
        while True:
            yield from self._tested(self._script(condition, stdin))
            if (self.code == 0) == until:
                return code
            if (yield from self._body(body, stdin)):
                return 0
            code = self.code

    def _each(self, command: Each, stdin: Sent | None) -> Running:
        words = self.arguments[1:] if command.words is None else (yield from fields_of(self, command.words))
        self.code = 0
        for value in words:
            yield from self.traced(f"for {command.name} in {' '.join(map(shown, words))}")
            self.put(command.name, value)
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
            yield from self._script(body, stdin)
            if end in (";;", ""):
                break
            through = end == ";&"
        return self.code

    def _body(self, body: Script, stdin: Sent | None) -> Generator[Happening, None, bool]:
        """Run a loop's body once; whether the loop is left."""
        self.spend(1)
        try:
            yield from self._script(body, stdin)
        except Leave as leave:
            self.code = 0
            if leave.levels > 1:
                raise Leave(leave.again, leave.levels - 1) from leave
            return not leave.again
        return False

    # -- simple commands --------------------------------------------------------------------------------------------

    def _simple(self, command: Simple, stdin: Sent | None) -> Running:
        self.substituted = 0
        words = yield from fields_of(self, command.words)
        if not words:
            for one in command.sets:
                yield from self._assigned(one)
            code = self.substituted
            return (yield from self._redirected(command.redirects, stdin, lambda _: _nothing(code)))
        if words == ["exec"]:
            return (yield from self._executed(command.redirects, stdin))
        names = {one.name for one in command.sets}
        before = [(name, self.variables.get(name), self.arrays.get(name), name in self.exported) for name in names]
        for one in command.sets:
            yield from self._assigned(one)
        self.exported |= names
        yield from self.traced(" ".join(map(shown, words)))
        try:
            return (
                yield from self._redirected(command.redirects, stdin, lambda given: self._called(words, command, given))
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
            code = yield from self.call(words, stdin)
        else:
            code = yield from self._function(function, words, stdin)
        for one in command.declared:
            yield from self._assigned(one)
        return code

    def _function(self, function: Command, words: Sequence[str], stdin: Sent | None) -> Running:
        kept, self.arguments = self.arguments, (*(self.arguments[:1] or ("sh",)), *words[1:])
        self.calls.append(Own())
        try:
            return (yield from self._command(function, stdin))
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

    def _redirected(
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

    # -- words ------------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> str | None:
        """Return a variable's value; None where it has none."""
        return special(self, name) if name not in self.variables else self.variables[name]

    def output(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return what it prints, without the last line's end."""
        only = script[0].commands[0] if len(script) == 1 and len(script[0].commands) == 1 else None
        if isinstance(only, Simple) and not only.words and [one.how for one in only.redirects] == ["<"]:
            found = yield from opened(self, only.redirects, None)
            text, code = ("", 1) if found is None or found.stdin is None else (found.stdin.text or "", 0)
        else:
            running = self._apart(self._script(script), checks=not self.bash)
            text, code = yield from self._collected(running)
        self.code = self.substituted = code
        return text.rstrip("\n")

    def output_file(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return the path of a file with what it prints."""
        text, _ = yield from self._collected(self._apart(self._script(script)))
        path = f"/dev/fd/{63 - len(self.pipes) % FILES_MAX}"
        if path in self.pipes:
            path = next(iter(self.pipes))
            del self.pipes[path]
        self.pipes[path] = text
        return path


def _nothing(code: int) -> Running:
    yield from ()
    return code


def _interpreter(text: str) -> str:
    """Return which shell a file asks for in its first line; nothing where it asks for another program."""
    first, _, _ = text[:256].partition("\n")
    words = first.removeprefix("#!").split() if first.startswith("#!") else ["sh"]
    name = words[0].rpartition("/")[2] if words else ""
    name = words[1] if name == "env" and len(words) > 1 else name
    return name if name in _SHEBANGS else ""


def _flags(text: str) -> frozenset[str]:
    words = text[:256].partition("\n")[0].split() if text.startswith("#!") else []
    return frozenset(letter for word in words[1:] if word.startswith("-") for letter in word[1:])
