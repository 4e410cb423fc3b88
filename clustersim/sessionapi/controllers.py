"""Routes of the controllers' panels: what each works by, what it has seen and what it did last."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpResponse

from clustersim.feed import hints
from clustersim.runtime import metrics
from clustersim.sessionapi.http import Call, answer
from controllers.bootstrap import CONTROLLER_MANAGER
from controllers.flags.table import NAME, told_flags
from controllers.flags.table import RESOURCE as FLAGS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said


def show(call: Call) -> HttpResponse:
    """Answer `GET …/controllers`: those of the manager that leads."""
    return answer(_panels(call))


def one(call: Call, name: str) -> HttpResponse:
    """Answer `GET …/controllers/<name>`, by its name with or without `-controller`."""
    panels = _panels(call)
    wanted = name.removesuffix("-controller")
    found = next((panel for panel in panels if panel["name"] in (name, wanted)), None)
    if found is None:
        known = ", ".join(panel["name"] for panel in panels)
        raise ApiError(
            404,
            "NotFound",
            said(
                "controller.unknown", "there is no controller {name!r}; there are {known}", name=name[:80], known=known
            ),
            name=name[:80],
        )
    return answer(found)


def _panels(call: Call) -> list[dict[str, Any]]:
    """Return what the controllers of one manager are at: the one that leads, or else the first that lives.

    Raises:
        ApiError: 503, none lives, or the session's owner does not answer.
    """
    managers = {
        identity: msgspec.json.decode(text, type=list[Document])
        for identity, text in metrics.ask(call.principal.session_id, hints.PANELS).items()
    }
    if not managers:
        raise ApiError(
            503,
            "ServiceUnavailable",
            said("controller.noManager", "no controller manager runs; recover one and try again"),
        )
    leading = [identity for identity, panels in managers.items() if any(panel["leading"] for panel in panels)]
    identity = leading[0] if leading else next(iter(managers))
    stored = call.store.get(FLAGS, "", NAME)
    flags = told_flags(None if stored is None else stored.object.get("spec"))[CONTROLLER_MANAGER]
    return [
        {**panel, "replica": identity, "flags": {flag: flags[flag] for flag in panel["flags"]}}
        for panel in managers[identity]
    ]
