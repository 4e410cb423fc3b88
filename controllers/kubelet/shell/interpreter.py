"""Running scripts: a generator of what is printed and of waits, which whoever runs it lets pass.

Source: POSIX.1-2024, Shell Command Language, 2.6 to 2.9; words of busybox' ash for what goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from controllers.kubelet.shell.flow import LEVELS_MAX, Flow
from controllers.kubelet.shell.inside import PATH, Inside
from controllers.kubelet.shell.opening import opened
from controllers.kubelet.shell.running import (
    MISSING,
    STEPS_MAX,
    Happening,
    Running,
    Send,
    Sent,
    TooLong,
    Waits,
    Wrote,
)
from controllers.kubelet.shell.shebang import flags_of, interpreter_of
from controllers.kubelet.shell.special import special
from controllers.kubelet.shell.syntax import parse
from controllers.kubelet.shell.tree import (
    Command,
    Script,
    Simple,
    SyntaxProblem,
    Unplayable,
)
from controllers.kubelet.shell.variables import Elements, Own

NESTED_MAX: Final = 16
"""Shells within shells."""

FILES_MAX: Final = 16
"""Files that `<(…)` stands for at once; the oldest are forgotten."""


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
class Shell(Flow):
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
    nested: int = 0
    """In how many `$(…)` it is."""
    begun_ms: int = 0
    first_ms: int = 0
    """When the first of the shells began that this one is within."""
    spare: int = 0
    """Commands that turns of a loop that nothing ends may have beside `steps_left`."""
    lasting_loops: set[int] = field(default_factory=set)
    """Of all the shells that are within each other: the loops that nothing ends, in which they are."""
    missed: list[str] = field(default_factory=list)
    """Files that were looked for and are not there for sure."""
    failed: set[str] = field(default_factory=set)
    """Programs that have failed, other than for a file that is not there for sure."""
    place: Command | None = None
    """The simple command that runs, or ran last."""
    rounds: int = 0
    """How often it has gone on where variables do not show it: to a word of a `for`, to a line that it reads."""
    endless: int = 0
    """In how many loops it is that nothing ends."""

    @property
    def goes_on(self) -> bool:
        """Return whether it is in a loop that nothing ends."""
        return self.endless > 0

    def state(self) -> tuple[object, ...]:
        """Return all that what follows depends on, beside the place in the script and the time."""
        held = dict(self.variables), {name: dict(elements) for name, elements in self.arrays.items()}
        files = dict(self.written), frozenset(self.removed), dict(self.functions), frozenset(self.options)
        return *held, *files, self.folder, self.arguments, self.code, self.rounds, self.levels

    def __post_init__(self) -> None:
        """Know bash where the image has it, and let programs see what there is at the beginning."""
        self.bash = self.bash or self.inside.has("bash")
        self.exported |= self.variables.keys()
        self.begun_ms = self.now_ms
        self.first_ms = self.first_ms or self.now_ms

    # -- running ----------------------------------------------------------------------------------------------------

    def run(self, text: str) -> Running:
        """Run a script.

        Raises:
            TooLong: it does not end.
            Unplayable: it cannot be played here, and nobody reads what would be said of that.
        """
        try:
            script = parse(text, bash=self.bash)
            self.code = yield from self.outward(self.to_its_end(self.script(script), whole=True))
        except SyntaxProblem as problem:
            if self.lenient and isinstance(problem, Unplayable):
                raise
            yield Wrote(2, f"sh: {problem}\n")
            self.code = 2
        return self.code

    def evaluate(self, text: str, stdin: Sent | None = None) -> Running:
        """Run a script as a part of the one that runs."""
        return (yield from self.script(parse(text, bash=self.bash), stdin))

    def call(self, words: Sequence[str], stdin: Sent | None = None) -> Running:
        """Run one command by its words, as a container's first one or a person's.

        Raises:
            TooLong: it does not end.
            Unplayable: it cannot be played here, and nobody reads what would be said of that.
        """
        try:
            return (yield from self.outward(self.to_its_end(self.invoke(words, stdin), whole=False)))
        except SyntaxProblem as problem:
            if self.lenient and isinstance(problem, Unplayable):
                raise
            yield Wrote(2, f"sh: {problem}\n")
            return 2

    def invoke(self, words: Sequence[str], stdin: Sent | None = None) -> Running:
        """Run one command of a script by its words."""
        self.spend(1)
        self.levels += 1
        if self.levels > LEVELS_MAX:
            raise TooLong
        try:
            return (yield from self._call(words, stdin))
        finally:
            self.levels -= 1

    def _call(self, words: Sequence[str], stdin: Sent | None) -> Running:
        name = words[0].rpartition("/")[2]
        answer = self.inside.answer(words)
        if answer is not None:
            for fd, text in ((1, answer.out), (2, answer.err)):
                if text:
                    yield Wrote(fd, text)
            return answer.code
        if self.knows(name):
            missed = len(self.missed)
            code = yield from self.programs[name](Call(self, words, stdin))
            if code and len(self.missed) == missed:
                self.failed.add(name)
            return code
        held = self.read(words[0]) if "/" in words[0] else None
        if held is not None and (interpreter := interpreter_of(held)):
            bash = interpreter == "bash"
            return (yield from self.within(held, words, stdin, bash=bash, options=flags_of(held)))
        if self.lenient and not self._is_missing(words[0]):
            self.unknown.add(name)
            # Whoever plays it sees what was done before.
            yield Waits(0)
            return 0
        yield Wrote(2, f"sh: {words[0]}: not found\n")
        return MISSING

    def _is_missing(self, name: str) -> bool:
        """Return whether there is no program of a name for sure: neither has the image it, nor was it made."""
        if "/" in name or self.unknown or self.variables.get("PATH") != PATH or not self.inside.leaves_out(name):
            return False
        return all(self.read(f"{place}/{name}") is None for place in PATH.split(":"))

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
            levels=self.levels, rounds=self.rounds, endless=self.endless, first_ms=self.first_ms,
            failed=self.failed, missed=self.missed, spare=self.spare, lasting_loops=self.lasting_loops,
        )  # fmt: skip
        try:
            code = yield from inner.run(text)
            code = yield from inner.trapped(code)
        finally:
            self.steps_left, self.spare = inner.steps_left, inner.spare
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
            self.nested += 1
            try:
                text, code = yield from self.collected(self.apart(self.script(script), checks=not self.bash))
            finally:
                self.nested -= 1
        self.code = self.substituted = code
        return text.rstrip("\n")

    def output_file(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return the path of a file with what it prints."""
        text, _ = yield from self.collected(self.apart(self.script(script)))
        path = f"/dev/fd/{63 - len(self.pipes) % FILES_MAX}"
        if path in self.pipes:
            path = next(iter(self.pipes))
            del self.pipes[path]
        self.pipes[path] = text
        return path
