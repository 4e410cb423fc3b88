"""AlwaysAdmit and AlwaysDeny: nothing is refused, everything is. Source: k8s.io/kubernetes/plugin/pkg/admission."""

from __future__ import annotations

from typing import Final

from controllers.registry.admission import Attempt, Plugin, Verb
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind


def _every(verb: Verb, kind: Kind, subresource: str) -> bool:
    # Command objects are how this is switched off again.
    return kind.group != CLUSTERSIM_GROUP


def _deny(attempt: Attempt) -> None:
    raise attempt.refuse("admission control is denying all modifications")


ADMIT: Final = Plugin("AlwaysAdmit", "Refuses nothing.", by_default=False)
DENY: Final = Plugin(
    "AlwaysDeny",
    "Refuses every change, components' too.",
    watches=_every,
    validate=_deny,
    by_default=False,
)
