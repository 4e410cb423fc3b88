"""What a pod prefers of its node's labels: weighted terms."""

from __future__ import annotations

from scheduler_core.api.pod import NodeAffinity
from scheduler_core.api.selectors import CompiledTerm, aggregate, compile_term

Preferred = tuple[tuple[int, CompiledTerm], ...]
"""(weight, term) of each preference."""


class PreferredTermError(ValueError):
    """A preferred term that cannot be read: for those upstream fails the pod instead of ignoring the term."""


def preferred_of(affinity: NodeAffinity) -> Preferred:
    """Return (weight, term) of the preferred terms that say anything.

    Raises:
        PreferredTermError: a term cannot be read.
    """
    found: list[tuple[int, CompiledTerm]] = []
    errors: list[str] = []
    for index, written in enumerate(affinity.preferred):
        term = compile_term(written.preference, f"[{index}]")
        if written.weight == 0 or term.empty:
            continue
        errors.extend(term.errors)
        found.append((written.weight, term))
    if errors:
        raise PreferredTermError(aggregate(errors))
    return tuple(found)
