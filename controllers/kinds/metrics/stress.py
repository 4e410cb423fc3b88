"""What `stress` takes, by its options: the program with which people show what limits and evictions do.

Source: the manuals of stress 1.0, stress-ng and github.com/vishh/stress, as Kubernetes' tasks use them ("Assign Memory
Resources", "Assign CPU Resources").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from scheduler_core.api.quantity import QuantityError, amount

_PROGRAMS: Final = frozenset({"stress", "stress-ng"})
_VALUED: Final = {
    "cpu": "cpu", "c": "cpu", "cpus": "cpu", "vm": "vm", "m": "vm", "vm-bytes": "bytes", "vm-hang": "hang",
    "mem-total": "bytes",
}  # fmt: skip
_BYTES: Final = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
VM_BYTES: Final = 256 << 20
"""What each worker of `--vm` allocates where it is not told."""

LENGTH_MAX: Final = 1024
"""Characters of a command that is read; a longer one says nothing."""

_NUMBER_MAX: Final = 1_000_000


class Taken(NamedTuple):
    """Cpu in millicores, memory in bytes; None: the command does not say it."""

    cpu: int | None = None
    memory: int | None = None


NOTHING: Final = Taken()


def taken_by(container: Mapping[str, Any]) -> Taken:
    """Return what a container's command takes, where it is one of these."""
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    image = str(container.get("image") or "")
    if not words or not ("stress" in image or "stress" in str(words[0])):
        return NOTHING
    told = tuple(str(word) for word in words)
    if sum(map(len, told)) > LENGTH_MAX:
        return NOTHING
    return _taken(told, "stress" in image and not container.get("command"))


@lru_cache(maxsize=1024)
def _taken(words: tuple[str, ...], arguments: bool) -> Taken:
    """`arguments`: the program is the image's own, and words are what it is given."""
    if not arguments:
        if words[0].rpartition("/")[2] not in _PROGRAMS:
            return NOTHING
        words = words[1:]
    told: dict[str, str] = {}
    for name, value in _options(words):
        told[name] = value
    workers = _number(told.get("vm")) if "vm" in told else (1 if "bytes" in told else 0)
    spinning = _number(told.get("cpu")) + (workers if "vm" in told and "hang" not in told else 0)
    cpu = 1000 * spinning if "cpu" in told or spinning else None
    return Taken(cpu, workers * _bytes(told.get("bytes")) if workers else None)


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for index, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in _VALUED:
            yield _VALUED[name], value if equals else words[index + 1] if index + 1 < len(words) else ""


def _number(text: str | None) -> int:
    return min(int(text), _NUMBER_MAX) if text and text.isdecimal() else 1 if text else 0


def _bytes(text: str | None) -> int:
    """Return bytes of `150M` as the first program writes them, or of `950Mi` as the last does."""
    if not text:
        return VM_BYTES
    if text[:-1].isdecimal() and text[-1].lower() in _BYTES:
        return int(text[:-1]) * _BYTES[text[-1].lower()]
    try:
        return max(0, amount("memory", text))
    except QuantityError:
        return VM_BYTES
