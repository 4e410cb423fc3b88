"""Loops that nothing ends: `while true; do …; done`, without a way out of it.

Source: POSIX.1-2024, Shell Command Language, 2.9.4 and 2.15 (`break`, `exit`, `return`, `exec`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final

from controllers.kubelet.shell.tree import Cases, Choice, Command, Counted, Each, Group, Loop, Script, Simple, Text

_WAYS_OUT: Final = frozenset({"break", "exit", "return", "exec", "eval", "set", "trap", ".", "source", ""})
_SUCCEED: Final = frozenset({"true", ":", "sleep", "echo", "printf", "date", "usleep"})
"""Commands that end well."""


def never_ends(loop: Loop, functions: Container[str]) -> bool:
    """Return whether a loop goes on whatever its commands come to; `functions` are taken to find a way out."""
    last = loop.condition[-1] if loop.condition else None
    if last is None or last.background or last.join or len(last.commands) != 1:
        return False
    name = _name(last.commands[0])
    if not (name == "false" if last.negated != loop.until else name in _SUCCEED):
        return False
    names = [_name(one) for one in _commands((*loop.condition, *loop.body)) if isinstance(one, Simple) and one.words]
    return not any(name in _WAYS_OUT or name in functions for name in names)


def _name(command: Command) -> str:
    """Return the program that a simple command calls; empty where that is no plain word."""
    if isinstance(command, Simple) and command.words:
        first = command.words[0]
        if all(isinstance(part, Text) for part in first):
            return "".join(part.text for part in first if isinstance(part, Text)).rpartition("/")[2]
    return ""


def _commands(script: Script) -> Iterator[Command]:
    """Yield all commands of a script that can end the shell in which it runs."""
    for pipeline in script:
        for command in pipeline.commands:
            yield command
            match command:
                case Loop(condition, body, _):
                    yield from _commands((*condition, *body))
                case Each(_, _, body) | Counted(_, _, _, body) | Group(body, _, _):
                    yield from _commands(body)
                case Choice(branches, otherwise):
                    for condition, body in branches:
                        yield from _commands((*condition, *body))
                    yield from _commands(otherwise or ())
                case Cases(_, branches):
                    for _, body, _ in branches:
                        yield from _commands(body)
                case _:
                    pass
