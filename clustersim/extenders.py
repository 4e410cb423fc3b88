"""Which HTTP extenders sessions may call: those at the origins that the operator names in CLUSTERSIM_EXTENDERS."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings

from scheduler_core.api.errors import Cause
from scheduler_core.extender.configuration import origin_of

SETTING: Final = "CLUSTERSIM_EXTENDERS"


def is_allowed(url: str) -> bool:
    """Return whether sessions may call the URL's origin."""
    try:
        return origin_of(url) in settings.EXTENDER_ORIGINS
    except ValueError:
        return False


def refusals(calls: Iterable[tuple[str, str]]) -> list[Cause]:
    """Return a cause for each address that an object would have called and the operator has not allowed.

    Args:
        calls: (path, URL), as `Kind.calls` gives them.
    """
    causes: list[Cause] = []
    for path, url in calls:
        if not is_allowed(url):
            text = (
                f'Forbidden: "{url}": this installation calls no extender there; '
                f"whoever runs it can add {origin_of(url)} to {SETTING}"
            )
            causes.append(Cause(path, text, "FieldValueForbidden"))
    return causes
