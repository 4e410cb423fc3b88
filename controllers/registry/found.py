"""What is wrong with a changed object, in the order in which upstream's rules find it."""

from __future__ import annotations

from dataclasses import dataclass, field

from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause


@dataclass(slots=True)
class Found:
    """What is wrong with a changed object, by which rules."""

    metadata: list[list[Cause]] = field(default_factory=list)
    """As `metadata.validate_change` tells it."""
    whole: list[Cause] = field(default_factory=list)
    """By the kind's rules of creates."""
    admitted: list[Cause] = field(default_factory=list)
    changes: list[Cause] = field(default_factory=list)
    """By its rules of changes."""

    def told(self, kind: Kind) -> list[Cause]:
        """Return all in the order in which upstream's rules are asked, as often as they are."""
        looks = kind.metadata_looks
        if not looks.startswith("w") or "c" not in looks:
            causes = [cause for look in self.metadata for cause in look]
            return causes + self.admitted + self.whole * kind.rule_checks + self.changes
        # The rules of creates are asked first, of the metadata as of all the rest.
        general, *own = self.metadata or [[] for _ in f" {looks}"]
        causes, left = list(general), kind.rule_checks
        for look, found in zip(looks, own, strict=True):
            causes += found
            if look == "w" and left:
                causes += self.whole
                left -= 1
        return causes + self.whole * left + self.admitted + self.changes
