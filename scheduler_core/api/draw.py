"""Keyed chance: a draw is a pure function of what it is for; no generator state exists anywhere."""

from __future__ import annotations

import hashlib

SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names, as upstream's `k8s.io/apimachinery/pkg/util/rand` has them (no vowels, no 0 1 3)."""


def _digest(seed: int, purpose: str, uid: str, attempt: int) -> bytes:
    text = f"{seed}\x00{purpose}\x00{uid}\x00{attempt}"
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def draw(seed: int, purpose: str, uid: str, attempt: int = 0, *, below: int) -> int:
    """Return an integer in 0 ≤ n < below that depends on nothing but the arguments.

    Raises:
        ValueError: below is not positive.
    """
    if below <= 0:
        raise ValueError(f"below must be positive, got {below}")
    return int.from_bytes(_digest(seed, purpose, uid, attempt), "big") % below


def draw_lot(seed: int, uid: str, attempt: int, *, below: int) -> int:
    """Return which of the best nodes a pod gets where several are, as an index into them in order of name."""
    return draw(seed, "tie", uid, attempt, below=below)


def draw_uid(seed: int, purpose: str, uid: str, attempt: int = 0) -> str:
    """Return an RFC 4122 version 4 shaped uid drawn from the key."""
    raw = bytearray(_digest(seed, "uid/" + purpose, uid, attempt))
    raw[6] = (raw[6] & 0x0F) | 0x40
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def draw_suffix(seed: int, purpose: str, uid: str, attempt: int = 0, *, length: int = 5) -> str:
    """Return `length` letters for a generated name, drawn from the key."""
    number = int.from_bytes(_digest(seed, "suffix/" + purpose, uid, attempt), "big")
    letters: list[str] = []
    for _ in range(length):
        number, rest = divmod(number, len(SAFE_LETTERS))
        letters.append(SAFE_LETTERS[rest])
    return "".join(letters)
