"""Variables that a shell has of itself: `$?`, `$#`, `$1`, `$RANDOM`, `$PWD`.

Source: POSIX.1-2024, Shell Command Language, 2.5.2; the Bash Reference Manual, 5.2.
"""

from __future__ import annotations

from typing import Final

from controllers.kubelet.shell.expanding import BLANKS
from controllers.kubelet.shell.surroundings import Surroundings

VERSION: Final = "5.2.0(1)-release"
"""As which bash these shells speak its language."""


def special(shell: Surroundings, name: str) -> str | None:
    """Return what a shell says of itself under a name that nobody has given a value; None where that is nothing."""
    if name.isdecimal():
        number = int(name[:4])
        return shell.arguments[number] if number < len(shell.arguments) else ("sh" if number == 0 else None)
    match name:
        case "?":
            return str(shell.code)
        case "#":
            return str(max(0, len(shell.arguments) - 1))
        case "@" | "*":
            return " ".join(shell.arguments[1:])
        case "-":
            return "".join(sorted(one for one in shell.options if len(one) == 1))
        case "$" | "BASHPID":
            return "1"
        case "!":
            return ""
        case "PWD":
            return shell.folder
        case "IFS":
            return BLANKS
        case "PPID":
            return "0"
        case "RANDOM":
            return str(shell.inside.chance(shell.steps_left) & 32767)
        case "SECONDS" if shell.bash:
            return str((shell.now_ms - shell.begun_ms) // 1000)
        case "EPOCHSECONDS" if shell.bash:
            return str(shell.now_ms // 1000)
        case "UID" | "EUID" if shell.bash:
            return str(shell.inside.user.uid)
        case "BASH_VERSION" if shell.bash:
            return VERSION
        case "FUNCNAME" | "LINENO":
            return ""
        case _:
            return shell.held(name)
