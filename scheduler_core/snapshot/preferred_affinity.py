"""What a pod prefers of its node's labels: weighted terms."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from scheduler_core.api.pod import NodeAffinity, PreferredSchedulingTerm
from scheduler_core.api.selectors import CompiledTerm, aggregate, compile_term

Preferred = tuple[tuple[int, CompiledTerm], ...]
"""(weight, term) of each preference."""


class PreferredTermError(ValueError):
    """A preferred term that cannot be read: for those upstream fails the pod instead of ignoring the term."""


READ_MAX: Final = 1_024
"""Distinct preferences kept as they were read; past it the one used longest ago is read again."""


def preferred_of(affinity: NodeAffinity) -> Preferred:
    """Return (weight, term) of the preferred terms that say anything.

    Raises:
        PreferredTermError: a term cannot be read.
    """
    return _read(affinity.preferred)


@lru_cache(maxsize=READ_MAX)
def _read(preferred: tuple[PreferredSchedulingTerm, ...]) -> Preferred:
    found: list[tuple[int, CompiledTerm]] = []
    errors: list[str] = []
    for index, written in enumerate(preferred):
        term = compile_term(written.preference, f"[{index}]")
        if written.weight == 0 or term.empty:
            continue
        errors.extend(term.errors)
        found.append((written.weight, term))
    if errors:
        raise PreferredTermError(aggregate(errors))
    return tuple(found)
