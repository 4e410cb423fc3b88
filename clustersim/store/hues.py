"""Numbers of hues: one for each owner, priority, namespace and plugin of a session, given once and kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import IntegrityError, transaction

from clustersim.store.models import Hue

Key = tuple[str, str]
"""(scope, name): `("owner", "Deployment default/web")`."""

SCOPE_LENGTH_MAX: Final = 12
"""Characters of a scope that are kept."""

KEY_LENGTH_MAX: Final = 330
"""Characters of a name that are kept: a kind, a namespace and a name, each as long as the API lets them be."""


def load(session_id: int) -> dict[Key, int]:
    """Return all numbers that a session has given."""
    rows = Hue.objects.filter(session_id=session_id).values_list("scope", "name", "number")
    return {(scope, name): number for scope, name, number in rows}


def assign(session_id: int, wanted: Iterable[Key]) -> dict[Key, int]:
    """Give each name that has no number the next one of its scope; return all numbers of the session.

    Whatever another process gave meanwhile stands.
    """
    while True:
        known = load(session_id)
        following: dict[str, int] = {}
        for scope, _ in known:
            following[scope] = following.get(scope, 0) + 1
        fresh: list[Hue] = []
        for scope, name in dict.fromkeys(wanted):
            if (scope, name) in known:
                continue
            number = following.get(scope, 0)
            following[scope] = number + 1
            known[scope, name] = number
            fresh.append(Hue(session_id=session_id, scope=scope, name=name, number=number))
        try:
            with transaction.atomic():
                Hue.objects.bulk_create(fresh)
        except IntegrityError:
            continue
        return known
