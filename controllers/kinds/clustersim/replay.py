"""Replays: a recorded trace whose pods come and go."""

from __future__ import annotations

from typing import Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.registry.kind import Column
from controllers.registry.models.clustersim_v1 import ReplaySpec

KIND: Final = command(
    "Replay",
    "replays",
    Column("Created", "string", "Objects created so far.", shown("status", "created")),
    Column("Total", "string", "Objects in the trace.", shown("status", "total")),
    Column("Done", "string", "Whether it is over.", shown("status", "done")),
    spec=ReplaySpec,
    defaults=with_spec,
    page={"spec": {"divisor": True, "start": True}, "status": True},
)
