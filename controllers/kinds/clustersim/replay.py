"""Replays: a recorded trace whose pods come and go."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.models.clustersim_v1 import ReplaySpec
from controllers.registry.structs import beyond
from controllers.registry.subresources import STATUS
from scheduler_core.api.errors import Cause


def _replay(document: dict[str, Any]) -> list[Cause]:
    return beyond(document["spec"], ReplaySpec, "spec")


KIND: Final = Kind(
    "Replay",
    "replays",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="session",
    defaults=with_spec,
    validate=_replay,
    generation=True,
    columns=(
        NAME,
        Column("Created", "string", "Objects created so far.", shown("status", "created")),
        Column("Total", "string", "Objects in the trace.", shown("status", "total")),
        Column("Done", "string", "Whether it is over.", shown("status", "done")),
        AGE,
    ),
    page={"spec": {"divisor": True, "start": True}, "status": True},
)
