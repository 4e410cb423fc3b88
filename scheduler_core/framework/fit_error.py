"""The text of the FailedScheduling message, word for word upstream's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NO_NODES_MESSAGE: Final = "no nodes available to schedule pods"

EVENT_NOTE_BYTES_MAX: Final = 1024
"""Bytes of an Event's note; a longer message keeps its first 1,020 bytes and gets ` ...`."""


def fit_error(nodes: int, reasons: Mapping[str, int], *, pre_filter: str = "", post_filter: str = "") -> str:
    """Return the message.

    Args:
        nodes: nodes in the snapshot.
        reasons: reason → how many nodes gave it.
        pre_filter: PreFilter's message when it rejected the pod; it replaces the histogram.
        post_filter: PostFilter's reasons, joined.
    """
    text = f"0/{nodes} nodes are available:"
    if pre_filter:
        text += f" {pre_filter}."
    elif reasons:
        text += " " + ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items())) + "."
    if post_filter:
        text += f" {post_filter}"
    return text


def event_note(message: str) -> str:
    """Return the message as an Event carries it."""
    raw = message.encode()
    if len(raw) <= EVENT_NOTE_BYTES_MAX:
        return message
    return raw[: EVENT_NOTE_BYTES_MAX - 4].decode(errors="ignore") + " ..."
