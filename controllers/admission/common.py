"""What plugins have in common."""

from __future__ import annotations

from collections.abc import Callable

from controllers.registry import fields
from controllers.registry.admission import Verb
from controllers.registry.kind import Kind


def unusable_name(name: str) -> str:
    """Return why upstream's client asks for no object of a name, empty where it does (client-go, rest/request.go)."""
    if not name:
        return "resource name may not be empty"
    wrong = [cause.message.rpartition(": ")[2] for cause in fields.path_segment("", name)]
    return f'invalid resource name "{name}": [{" ".join(wrong)}]' if wrong else ""


def on(*resources: str, verbs: tuple[Verb, ...] = ("create",)) -> Callable[[Verb, Kind, str], bool]:
    """Return what watches writes of whole objects of these kinds."""

    def watches(verb: Verb, kind: Kind, subresource: str) -> bool:
        return verb in verbs and not subresource and kind.resource in resources

    return watches
