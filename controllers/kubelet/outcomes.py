"""What becomes of a container that runs: for how long, and with what it ends.

Nothing is executed. An annotation says it, else the image, else as much of the command as can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.kinds.core.commands import script_of
from controllers.kubelet.orders import Orders
from controllers.kubelet.stages.pods import Stages

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_SLEEP: Final = re.compile(r"(\d{1,9})([smhd]?)")
QUIET: Final = frozenset(
    {
        ":", "arch", "cat", "date", "df", "echo", "export", "free", "groups", "hostname", "id", "ifconfig", "ip", "ls",
        "mount", "nproc", "printenv", "printf", "ps", "pwd", "set", "touch", "true", "uname", "uptime", "whoami",
    }
)  # fmt: skip
"""Commands that are over at once and well; so is `env` where it is not told what to run."""

_REQUESTS: Final = frozenset({"wget", "curl", "nslookup"})
REQUEST_MS: Final = 1000
"""How long a container runs at least that sends requests: nobody could look at what were over at once."""

LONGEST_MS: Final = 1000 * 3600 * 24 * 7
"""What runs longer runs on and on."""

_STAYS: Final = re.compile(r"\b(tail|wait|infinity)\b")
_ENDLESS: Final = re.compile(rf"\b(while|until|for|trap)\b|{_STAYS.pattern}")
_PARTS: Final = re.compile(r";|&&|\n")


class Outcome(NamedTuple):
    """A container ends with `code` after `ms` of running; `reason` where the code does not say why.

    `message` is what it leaves behind.
    """

    ms: int
    code: int
    reason: str = ""
    message: str = ""
    asks: bool = False
    """Then it does not end: it asks something, and what becomes of it is looked at anew."""
    doubtful: bool = False
    """Whether it may be the simulation alone that has failed."""


def outcome_of(
    container: Mapping[str, Any],
    orders: Orders,
    stages: Stages,
    play: Callable[[], Outcome | None],
    lacks: Callable[[], bool],
    *,
    task: bool,
    init: bool,
    init_ms: int,
) -> Outcome | None:
    """Return what becomes of a container; None where it runs for ever.

    Args:
        container: from the spec.
        orders: what annotations of the pod say.
        stages: what images do, and times that nothing says.
        play: plays the container's own script; None where it comes to nothing known.
        lacks: whether something is not there that an init container waits for whose script cannot be played.
        task: whether its pod is meant to end (its restart policy is not Always).
        init: whether it is an init container that has to end.
        init_ms: how long such a one runs of which nothing is known.
    """
    if not init and (orders.exit_code is not None or orders.seconds is not None):
        seconds = stages.seconds.told if orders.seconds is None else orders.seconds
        return Outcome(1000 * seconds, orders.exit_code or 0)
    rule = stages.of_image(str(container.get("image", "")))
    if rule is not None and rule.exit is not None:
        return Outcome(1000 * rule.seconds, rule.exit, rule.reason)
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    if container.get("stdin") and only_reads(words):
        # Whoever attaches to it has some time to send what it reads.
        return Outcome(1000 * stages.seconds.task, 0) if task else None
    known, endless = _of_command(words)
    played = None if _STAYS.search(" ".join(words)) else play()
    if known is not None:
        if played is not None and played.code and not (played.asks or played.doubtful) and played.ms <= LONGEST_MS:
            # A file is not there.
            return played
        same = played is not None and played.code == known.code
        return known._replace(message=played.message) if played is not None and same else known
    if played is not None and played.ms <= LONGEST_MS:
        return played
    if init:
        return None if lacks() else Outcome(init_ms, 0)
    if words and words[0].rpartition("/")[2] in _REQUESTS:
        return Outcome(REQUEST_MS, 0)
    if task and not words and not container.get("stdin") and stages.is_shell(str(container.get("image", ""))):
        return Outcome(0, 0)
    if played is not None or endless or not task or not words:
        return None
    return Outcome(1000 * stages.seconds.task, 0)


def only_reads(words: Sequence[str]) -> bool:
    """Return whether a command does nothing but show what is sent to it."""
    return bool(words) and words[0].rpartition("/")[2] == "cat" and all(word == "-" for word in words[1:])


def _of_command(words: Sequence[str]) -> tuple[Outcome | None, bool]:
    """Return (what is known of a command, whether it seems to run for ever)."""
    if not words:
        return None, True
    text = script_of(words) or " ".join(words)
    if _ENDLESS.search(text):
        return None, True
    seconds = 0
    for part in _PARTS.split(text):
        word, _, rest = part.strip().partition(" ")
        word = word.rpartition("/")[2]
        if word == "sleep":
            found = _SLEEP.fullmatch(rest.strip())
            if found is None:
                return None, True
            seconds += int(found[1]) * _UNITS[found[2]]
        elif word == "exit":
            code = rest.strip()
            return (Outcome(1000 * seconds, int(code) & 255), False) if code.isdecimal() else (None, False)
        elif word == "false":
            return Outcome(1000 * seconds, 1), False
        elif word and word not in QUIET and part.strip() != "env":
            return None, False
    return Outcome(1000 * seconds, 0), False
