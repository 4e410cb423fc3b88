"""Redirections: what a command reads from, and where its output goes.

Source: POSIX.1-2024, Shell Command Language, 2.7.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.kubelet.shell.expanding import text_of
from controllers.kubelet.shell.running import Happening, Sent, Wrote
from controllers.kubelet.shell.surroundings import Surroundings
from controllers.kubelet.shell.tree import HERE, Redirect

DROPPED: Final = ""
"""Where output goes whose descriptor is closed."""

_DEVICES: Final = {
    "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/1": 1, "/dev/fd/2": 2, "/proc/1/fd/1": 1, "/proc/1/fd/2": 2,
    "/proc/self/fd/1": 1, "/proc/self/fd/2": 2,
}  # fmt: skip


@dataclass(slots=True)
class Opened:
    """What a command reads and where its output goes: a path, `&` and a descriptor, or nowhere."""

    stdin: Sent | None
    inputs: dict[int, Sent]
    targets: dict[int, str]


def opened(
    shell: Surroundings, redirects: Sequence[Redirect], stdin: Sent | None
) -> Generator[Happening, None, Opened | None]:
    """Return what redirections come to; None where one cannot be, which is said."""
    found = Opened(stdin, dict(shell.inputs), {})
    for redirect in redirects:
        text = yield from text_of(shell, redirect.word)
        reads = redirect.how in ("<", HERE)
        problem = _reads(shell, found, redirect, text) if reads else _writes(shell, found, redirect, text)
        if problem:
            yield Wrote(2, f"sh: {problem}\n")
            return None
    return found


def _reads(shell: Surroundings, found: Opened, redirect: Redirect, text: str) -> str:
    if redirect.how == HERE:
        source = Sent(text)
    elif text.startswith("&"):
        number = int(text[1:]) if text[1:].isdecimal() and len(text) == 2 else -1
        own = shell.sent if found.stdin is None else found.stdin
        source = own if number == 0 else found.inputs.get(number, Sent())
    else:
        held = shell.read(text)
        if held is None:
            if not shell.lacks(text):
                shell.unknown.add(text)
            return f"can't open {text}: no such file"
        source = Sent(held)
    if redirect.fd:
        found.inputs[redirect.fd] = source
    else:
        found.stdin = source
    return ""


def _writes(shell: Surroundings, found: Opened, redirect: Redirect, text: str) -> str:
    if text == "&-":
        target = DROPPED
    elif text.startswith("&"):
        if not text[1:].isdecimal() or len(text) != 2:
            return f"{text[1:]}: bad file descriptor"
        target = found.targets.get(int(text[1:]), text)
    elif text in _DEVICES:
        target = found.targets.get(_DEVICES[text], f"&{_DEVICES[text]}")
    elif not text:
        return "can't create : no such file"
    else:
        problem = shell.write(text, "", more=redirect.how == ">>")
        if problem:
            return problem
        target = shell.path(text)
    found.targets[redirect.fd] = target
    if redirect.both:
        found.targets[2] = target
    return ""
