"""What a plugin answers: a code, the reasons, and whose answer it is."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import msgspec


class Code(IntEnum):
    """The answer's kind. Numbers are stable: verdict arrays hold them."""

    SUCCESS = 0
    ERROR = 1
    """Something broke; nobody knows whether the pod fits. Retried soon, and shown."""
    UNSCHEDULABLE = 2
    """It does not fit now; evicting pods might help."""
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    """It does not fit, and evicting pods cannot help."""
    WAIT = 4
    """Permit only: hold the pod until allowed, rejected or timed out."""
    SKIP = 5
    """PreFilter and PreScore: leave my Filter or Score out of this cycle. Bind: let the next one bind."""
    PENDING = 6
    """It waits for something outside that the plugin will announce itself."""

    @property
    def wire(self) -> str:
        """Return upstream's spelling, as traces show it."""
        return _WIRE[self]


_WIRE: Final = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}

# Looking a member up on the class is slow, and every answer of every plugin is asked these.
_SKIP: Final = Code.SKIP
_REJECTIONS: Final = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)


class Status(msgspec.Struct, frozen=True):
    """One answer. `plugin` is filled by the framework for answers other than success."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the answer is success."""
        return not self.code

    @property
    def skipped(self) -> bool:
        """Return whether the plugin asks to be left out."""
        return self.code is _SKIP

    @property
    def rejected(self) -> bool:
        """Return whether this is one of the kinds of no (not an error)."""
        return self.code in _REJECTIONS

    @property
    def message(self) -> str:
        """Return the reasons as one text."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the status with the plugin named, unless one is named already."""
        return self if self.plugin else Status(self.code, self.reasons, plugin)

    def as_dict(self) -> dict[str, Any]:
        """Return the form that traces hold: code and reasons, plugin where there is one."""
        shown: dict[str, Any] = {"code": self.code.wire, "reasons": list(self.reasons)}
        if self.plugin:
            shown["plugin"] = self.plugin
        return shown


SUCCESS: Final = Status()
SKIP: Final = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a no that evicting pods might turn into a yes."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a no that evicting pods cannot change."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """Return the answer of something broken."""
    return Status(Code.ERROR, reasons)
