"""Playing commands in a container: what of them is known here, and what a probe's comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from controllers.kubelet.keeping import Change, changed
from controllers.kubelet.shell.asking import ASKING
from controllers.kubelet.shell.hosting import HOSTING
from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS, REFUSED
from controllers.kubelet.shell.running import Exit, Running, TooLong, Waits, Watches, Wrote

STEPS_MAX: Final = 500
"""Commands of one run that are played; a script that does more runs on and on."""

HOOK_MS: Final = 3_600_000
"""How long a hook may wait; what it does stands at its container's start, or where that is asked to end."""

PROBE_TEXT_MAX: Final = 10 * 1024
"""Characters of what a probe's command prints that its event tells (pkg/probe/exec, maxReadLength)."""

ASKED: Final = frozenset({"nslookup", *ASKING})
"""Programs that ask the network: they are played where somebody knows it."""

_ELSEWHERE: Final = ("ps", *HOSTING, *REFUSED)
"""Programs that look at more than the kubelet knows."""

_ALL: Final = {name: program for name, program in PROGRAMS.items() if name not in _ELSEWHERE}

KNOWN: Final = {name: program for name, program in _ALL.items() if name not in ASKED}
"""The programs that are played without a network."""


class Probed(NamedTuple):
    """What a command of a probe came to."""

    succeeds: bool
    text: str


def can_play(inside: Inside, words: Sequence[str], *, asks: bool = False) -> bool:
    """Return whether a command's program is known here, and its image has it; `asks`: whether there is a network."""
    name = words[0].rpartition("/")[2]
    return (name in (_ALL if asks else KNOWN) and inside.has(name)) or inside.is_script(words)


def ask(
    inside: Inside, words: Sequence[str], files: Mapping[str, str | None], unix_ms: int, limit_ms: int, *, known: bool
) -> Probed | None:
    """Return what a probe's command finds among files; None where that cannot be told.

    `known`: whether all that others have written is among them.
    """
    if inside.answer(words) is None and not can_play(inside, words):
        return None
    shell = shell_of(inside, unix_ms)
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


class Hooked(NamedTuple):
    """What the command of a hook came to."""

    code: int
    changes: tuple[Change, ...]


NO_FILES: Final[Mapping[str, str | None]] = MappingProxyType({})
UNHOOKED: Final = Hooked(0, ())
"""Nothing was run, or nothing is known of it: it is taken to have gone well."""


def hook(inside: Inside, words: Sequence[str], unix_ms: int, files: Mapping[str, str | None] = NO_FILES) -> Hooked:
    """Return what a command comes to that runs when its container has started, or is to end (`lifecycle`).

    `files` is what has been written there before.
    """
    if not words or (inside.answer(words) is None and not can_play(inside, words)):
        return UNHOOKED
    shell = shell_of(inside, unix_ms)
    for path, text in files.items():
        shell.change(path, text)
    try:
        code, _, _ = _answered(shell.call(words), HOOK_MS)
    except (ArithmeticError, LookupError, RecursionError, TooLong, TypeError, ValueError):
        return UNHOOKED
    unsure = shell.unknown - {"&"} or shell.unsure
    return Hooked(0 if unsure else code, tuple(changed(files, shell.own(), unix_ms)))


def shell_of(inside: Inside, unix_ms: int, *, asks: bool = False) -> Shell:
    """Return a shell that plays what is known here; `asks`: whether there is a network."""
    environment, programs = dict(inside.environment), _ALL if asks else KNOWN
    return Shell(inside, programs, unix_ms, environment, inside.folder, steps_left=STEPS_MAX, lenient=True)


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
            elif isinstance(one, Watches):
                passed_ms = limit_ms + 1
    except StopIteration as end:
        return int(end.value), printed, passed_ms
    except Exit as end:
        return end.code, printed, passed_ms
    return 1, printed, passed_ms
