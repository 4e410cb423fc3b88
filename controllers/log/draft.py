"""Documents on their way into a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

_encode: Final = msgspec.json.Encoder().encode


class Draft:
    """A complete document that is about to be stored. Nobody changes it any more.

    Its members are encoded once, however often its size or its bytes are asked for; the revision, which it only gets
    where it is put, is written in between them.
    """

    __slots__ = ("_members", "_spelled", "object")

    def __init__(self, document: dict[str, Any], spelled: Mapping[str, msgspec.Raw] | None = None) -> None:
        """Take a document; `spelled`: how some of its members are written, where that is to stay."""
        self.object = document
        self._spelled = spelled or {}
        self._members: dict[str, Any] | None = None

    @property
    def size(self) -> int:
        """Return how many bytes it has as it stands."""
        return len(self.data())

    def data(self) -> bytes:
        """Return it as JSON, as it stands; whoever asks before it is put has its members kept."""
        if self._members is None:
            self._members = {
                name: _encoded(value) if name == "metadata" else msgspec.Raw(_encode(value))
                for name, value in self.object.items()
            }
            self._members.update(self._spelled)
        return _encode(self._members)

    def at(self, revision: int) -> tuple[bytes, dict[str, Any]]:
        """Return it as JSON with the revision that it gets, and as that is read back; the latter shares its members."""
        document, number = self.object, str(revision)
        stored = {**document, "metadata": {**document["metadata"], "resourceVersion": number}}
        members = self._members
        if members is None:
            return _encode({**stored, **self._spelled} if self._spelled else stored), stored
        return _encode({**members, "metadata": {**members["metadata"], "resourceVersion": number}}), stored


def _encoded(metadata: Mapping[str, Any]) -> dict[str, msgspec.Raw]:
    return {name: msgspec.Raw(_encode(value)) for name, value in metadata.items()}
