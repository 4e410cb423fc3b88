"""What plugins have in common."""

from __future__ import annotations

from collections.abc import Callable

from controllers.registry.admission import Verb
from controllers.registry.kind import Kind


def on(*resources: str, verbs: tuple[Verb, ...] = ("create",)) -> Callable[[Verb, Kind, str], bool]:
    """Return what watches writes of whole objects of these kinds."""

    def watches(verb: Verb, kind: Kind, subresource: str) -> bool:
        return verb in verbs and not subresource and kind.resource in resources

    return watches
