"""Playing a container's command: how long it runs, with what it ends, and when it does what to files."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from controllers.kubelet.keeping import Change, changed
from controllers.kubelet.outcomes import LONGEST_MS, Outcome
from controllers.kubelet.shell.asking import ASKING
from controllers.kubelet.shell.disk import LAST_WORD
from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS, REFUSED
from controllers.kubelet.shell.running import FOREVER_MS, Exit, Running, TooLong, Waits, Wrote

STEPS_MAX: Final = 500
"""Commands of one run that are played; a script that does more runs on and on."""

CHANGES_MAX: Final = 64
"""Times that a run writes or removes a file; what follows is not known."""

FILES_LENGTH_MAX: Final = 256 * 1024
"""Characters that a run writes to files; what follows is not known."""

MESSAGE_LENGTH_MAX: Final = 4096
LOG_LENGTH_MAX: Final = 2048
"""Letters of what a container leaves behind as its last word; of its log where it leaves nothing.

Source: pkg/kubelet/container (MaxContainerTerminationMessageLength, …LogLength), v1.34.
"""

PROBE_TEXT_MAX: Final = 10 * 1024
"""Characters of what a probe's command prints that its event tells (pkg/probe/exec, maxReadLength)."""

_ELSEWHERE: Final = ("nslookup", "ps", *ASKING, *REFUSED)
"""Programs that look at more than the kubelet knows."""

KNOWN: Final = {name: program for name, program in PROGRAMS.items() if name not in _ELSEWHERE}
"""The programs that are played."""


@dataclass(slots=True)
class Run:
    """What one run of a container has come to."""

    around: tuple[Change, ...]
    """What others do to its files, as it was played."""
    outcome: Outcome | None = None
    changes: list[Change] = field(default_factory=list)
    """What it does to files, in order of time."""
    known_ms: int = FOREVER_MS
    """From when on (Unix) it is not known what it does."""


class Probed(NamedTuple):
    """What a command of a probe came to."""

    succeeds: bool
    text: str


def can_play(inside: Inside, words: Sequence[str]) -> bool:
    """Return whether a command's program is known here, and its image has it."""
    name = words[0].rpartition("/")[2]
    return name in KNOWN and inside.has(name)


def play(inside: Inside, container: Mapping[str, Any], around: tuple[Change, ...], unix_ms: int) -> Run:
    """Play what a container was started with at a moment; `around` is what others do to its files, in order of time."""
    if not inside.words:
        # What an image does of itself is taken to write nothing that anybody asks for.
        return Run(around)
    if not can_play(inside, inside.words):
        return Run(around, known_ms=unix_ms)
    shell = _shell(inside, unix_ms)
    run = Run(around)
    try:
        outcome = _ended(shell, container, run, unix_ms)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        run.known_ms = unix_ms  # what cannot be played is no fault of the kubelet
        return run
    run.outcome = None if shell.unknown else outcome
    return run


def ask(
    inside: Inside, words: Sequence[str], files: Mapping[str, str | None], unix_ms: int, limit_ms: int, *, known: bool
) -> Probed | None:
    """Return what a probe's command finds among files; None where that cannot be told.

    `known`: whether all that others have written is among them.
    """
    if inside.answer(words) is None and not can_play(inside, words):
        return None
    shell = _shell(inside, unix_ms)
    shell.certain = True
    for path, text in files.items():
        shell.change(path, text)
    try:
        code, printed, passed_ms = _answered(shell.call(words), limit_ms)
    except (ArithmeticError, LookupError, RecursionError, TooLong, TypeError, ValueError):
        return None  # what cannot be played is no fault of the kubelet
    # What runs beside changes nothing of how the command ends.
    if shell.unknown - {"&"}:
        return None
    if passed_ms > limit_ms:
        return Probed(False, f'command timed out: "{" ".join(words)}" timed out after {limit_ms // 1000}s')
    if code and (shell.unsure or not known):
        return None
    return Probed(code == 0, printed)


def _shell(inside: Inside, unix_ms: int) -> Shell:
    environment = dict(inside.environment)
    return Shell(inside, KNOWN, unix_ms, environment, inside.folder, steps_left=STEPS_MAX, lenient=True)


def _answered(running: Running, limit_ms: int) -> tuple[int, str, int]:
    """Return (exit code, what was printed, how long it took) of a command, stopped when its time is over."""
    passed_ms, printed = 0, ""
    try:
        while passed_ms <= limit_ms:
            one = next(running)
            if isinstance(one, Wrote):
                printed = (printed + one.text)[:PROBE_TEXT_MAX]
            elif isinstance(one, Waits):
                passed_ms += one.ms
    except StopIteration as end:
        return int(end.value), printed, passed_ms
    except Exit as end:
        return end.code, printed, passed_ms
    return 1, printed, passed_ms


def _ended(shell: Shell, container: Mapping[str, Any], run: Run, begun_ms: int) -> Outcome:
    """Play a container's command to its end, or until it clearly runs on and on; note what it does to files."""
    running = shell.call(shell.inside.words)
    passed_ms, printed = 0, ""
    files = _Noted(shell, run, begun_ms)
    try:
        while passed_ms <= LONGEST_MS:
            one = next(running)
            if isinstance(one, Wrote):
                printed = (printed + one.text)[-LOG_LENGTH_MAX:]
            elif isinstance(one, Waits):
                files.passes(passed_ms, one.ms)
                passed_ms += one.ms
    except StopIteration as end:
        code = int(end.value)
    except Exit as end:
        code = end.code
    except TooLong:
        return Outcome(FOREVER_MS, 0)
    else:
        return Outcome(FOREVER_MS, 0)
    finally:
        files.passes(passed_ms, 0)
    message = shell.read(str(container.get("terminationMessagePath") or LAST_WORD)) or ""
    if not message and code and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        message = printed
    return Outcome(passed_ms, code, message=message[:MESSAGE_LENGTH_MAX])


class _Noted:
    """The files of a run while it is played: what it does is noted, what others do comes at its time."""

    def __init__(self, shell: Shell, run: Run, begun_ms: int) -> None:
        self._shell, self._run, self._begun_ms = shell, run, begun_ms
        self._coming = deque(run.around)
        self._room = FILES_LENGTH_MAX
        self._take(begun_ms)

    def passes(self, passed_ms: int, ms: int) -> None:
        """Note what was done until so many milliseconds after the beginning; then `ms` pass."""
        shell, run, now_ms = self._shell, self._run, self._begun_ms + passed_ms
        for change in changed(self._seen, shell.own(), now_ms):
            self._room -= 0 if change.text is None else len(change.text)
            if len(run.changes) >= CHANGES_MAX or self._room < 0:
                run.known_ms = min(run.known_ms, now_ms)
                break
            run.changes.append(change)
        if shell.unknown:
            run.known_ms = min(run.known_ms, now_ms)
        self._take(now_ms + ms)

    def _take(self, until_ms: int) -> None:
        while self._coming and self._coming[0].ms <= until_ms:
            self._shell.change(self._coming[0].path, self._coming.popleft().text)
        self._seen = self._shell.own()
