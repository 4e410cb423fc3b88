"""What a wrong rule is: its words, the sort of question that it answers, and how it would decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from controllers.rules.scheduling import Mistake

Kind = Literal["node", "victims", "leader", "choice"]

Text = Mapping[str, str]
"""Language (`en`, `zh`) → words."""

ENGINE: Final = "engine"
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that a person may believe in.

    Attributes:
        id: names it in packages, polls and addresses.
        title: a few words, as a chart names it.
        because: what a vote says after "because"; never names a node.
        kind: the sort of question that it answers best.
        mistake: how a scheduler would have to be to follow it; None: it says nothing of where a pod goes.
        expiry: how an elector would have to be; None: it says nothing of who leads.
    """

    id: str
    title: Text
    because: Text
    kind: Kind
    mistake: Mistake | None = None
    expiry: str | None = None

    @property
    def decides(self) -> bool:
        """Return whether it comes to an answer of its own, so that a world can run under it."""
        return self.mistake is not None or self.expiry is not None

    def as_dict(self) -> dict[str, object]:
        """Return it as the session API shows it."""
        return {
            "id": self.id,
            "title": dict(self.title),
            "because": dict(self.because),
            "kind": self.kind,
            "decides": self.decides,
        }
