"""Of which changes a handler is told: by who controls the object, and by what of it has changed.

A pod is heard of by some twenty handlers, and what happens to most pods concerns three of them. Who says what it looks
at is not called for the rest: all that the handlers of one copy look at is compared once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from scheduler_core.api.document import Document

Handler = Callable[[Document | None, Document | None], None]
"""(old, new): (None, new) added, (old, new) modified, (old, None) deleted. `old` is the last state that was known."""

Part = tuple[str, str]
"""A part of a document: a member of the top, and a member of that, such as `("spec", "nodeName")`."""

NAMESPACE: Final[Part] = ("metadata", "namespace")
UID: Final[Part] = ("metadata", "uid")
OWNERS: Final[Part] = ("metadata", "ownerReferences")
FINALIZERS: Final[Part] = ("metadata", "finalizers")
NODE_NAME: Final[Part] = ("spec", "nodeName")
TOLERATIONS: Final[Part] = ("spec", "tolerations")
POD_VOLUMES: Final[Part] = ("spec", "volumes")

ADDED: Final = -1
DELETED: Final = -2

_NOBODY: Final = ""
_NOTHING: Final[Document] = {}


class _Interest(NamedTuple):
    handler: Handler
    owned_by: str | None
    reads: int | None
    """Bits of the parts; None: it is told whatever has changed."""
    cares: Callable[[], bool] | None
    """Whether it cares now; None: always."""


class Interests:
    """The handlers of one copy, in order."""

    def __init__(self) -> None:
        self._all: list[_Interest] = []
        self._bits: dict[str, dict[str, int]] = {}
        """The bit of each part, by its two members."""
        self._by_owner = False
        self._told: dict[tuple[str, str, int], tuple[Handler, ...]] = {}

    def add(
        self,
        handler: Handler,
        owned_by: str | None,
        reads: Iterable[Part] | None,
        cares: Callable[[], bool] | None = None,
    ) -> None:
        """Take one more handler; see `Lister.add_handler`. Where what `cares` answers has turned: `forget`."""
        self._all.append(_Interest(handler, owned_by, None if reads is None else self.bits_of(reads), cares))
        self._by_owner = self._by_owner or owned_by is not None
        self._told.clear()

    def forget(self) -> None:
        """Work out anew whom changes concern."""
        self._told.clear()

    def bits_of(self, parts: Iterable[Part]) -> int:
        """Return the bits that stand for parts of a document in what has changed."""
        bits = 0
        for top, name in parts:
            known = self._bits.setdefault(top, {})
            if name not in known:
                known[name] = 1 << sum(map(len, self._bits.values()))
            bits |= known[name]
        return bits

    def tell(self, old: Document | None, new: Document | None, changed: int) -> None:
        """Call those whom a change concerns: of parts (`changes`), or `ADDED` or `DELETED`."""
        before = after = _NOBODY
        if self._by_owner:
            before, after = _controlled_by(old), _controlled_by(new)
        key = (before, after, changed)
        told = self._told.get(key)
        if told is None:
            told = self._told[key] = tuple(self._concerned(old, new, key))
        for handler in told:
            handler(old, new)

    def changes(self, old: Document, new: Document) -> int:
        """Return the bits of the parts in which two states differ, of those that anybody looks at."""
        bits = 0
        for top, parts in self._bits.items():
            before, after = old.get(top), new.get(top)
            if before is after:
                continue
            before, after = before or _NOTHING, after or _NOTHING
            for name, bit in parts.items():
                was, now = before.get(name), after.get(name)
                if was is not now and was != now:
                    bits |= bit
        return bits

    def _concerned(self, old: Document | None, new: Document | None, key: tuple[str, str, int]) -> Iterable[Handler]:
        before, after, changed = key
        kinds = {kind for document, kind in ((old, before), (new, after)) if document is not None}
        for handler, owned_by, reads, cares in self._all:
            if owned_by is not None and not kinds & {owned_by, _NOBODY}:
                continue
            if cares is not None and not cares():
                continue
            if reads is None or changed < 0 or reads & changed:
                yield handler


def _controlled_by(document: Document | None) -> str:
    """Return the kind of an object's controlling owner; empty: it has none."""
    if document is not None:
        for reference in document["metadata"].get("ownerReferences") or ():
            if reference.get("controller"):
                return str(reference.get("kind"))
    return _NOBODY
