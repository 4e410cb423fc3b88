"""Polls: what a class is asked, and once it is revealed what became true. Which answer is right stands elsewhere."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.registry.kind import Column, Lookup
from controllers.registry.models.clustersim_v1 import PollSpec
from controllers.registry.structs import beyond
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said

RESOURCE: Final = "polls.clustersim.io"

POLLS_MAX: Final = 200
"""Polls of one session; one more is refused with 422: what was asked stays, for the result sheet."""


def _validate(document: dict[str, Any]) -> list[Cause]:
    return beyond(document["spec"], PollSpec, "spec")


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    if len(lookup.list(RESOURCE)) < POLLS_MAX:
        return []
    return [
        Cause(
            "metadata.name",
            said("poll.most", "a session has at most {polls_max} polls: delete one first", polls_max=POLLS_MAX),
            "FieldValueForbidden",
        )
    ]


KIND: Final = command(
    "Poll",
    "polls",
    Column(
        "Of", "string", "What is asked for: a node, victims, a leader, or one of the choices.", shown("spec", "kind")
    ),
    Column("Pod", "string", "The pod that is asked about.", shown("spec", "pod")),
    Column("State", "string", "open, closed or revealed.", shown("status", "state")),
    Column("Round", "string", "The first vote, or the second.", shown("status", "round")),
    defaults=with_spec,
    admit=_admit,
    validate=_validate,
    page={"spec": True, "status": True},
)
