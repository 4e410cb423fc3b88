"""Which HTTP extenders sessions may call: those at the origins that the operator names in CLUSTERSIM_EXTENDERS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings

from scheduler_core.api.errors import Cause
from scheduler_core.extender.configuration import origin_of

SETTING: Final = "CLUSTERSIM_EXTENDERS"

_SECTIONS: Final = ("configuration", "policy")
"""Members of a session's scheduler spec whose documents have extenders."""


def is_allowed(url: str) -> bool:
    """Return whether sessions may call the URL's origin."""
    try:
        return origin_of(url) in settings.EXTENDER_ORIGINS
    except ValueError:
        return False


def refusals(spec: Mapping[str, Any]) -> list[Cause]:
    """Return a cause for each extender of a session's scheduler spec whose origin the operator has not allowed.

    Args:
        spec: read without complaint before; paths are as in it.
    """
    causes: list[Cause] = []
    for section in _SECTIONS:
        for index, extender in enumerate((spec.get(section) or {}).get("extenders") or ()):
            url = extender["urlPrefix"]
            if not is_allowed(url):
                text = (
                    f'Forbidden: "{url}": this installation calls no extender there; '
                    f"whoever runs it can add {origin_of(url)} to {SETTING}"
                )
                causes.append(Cause(f"{section}.extenders[{index}].urlPrefix", text, "FieldValueForbidden"))
    return causes
