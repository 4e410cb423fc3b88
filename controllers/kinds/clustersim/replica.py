"""Replicas: one process of the control plane, its faults and what it is at."""

from __future__ import annotations

from typing import Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.registry.kind import Column
from controllers.registry.models.clustersim_v1 import ReplicaSpec

KIND: Final = command(
    "Replica",
    "replicas",
    Column("Component", "string", "What it is a replica of.", shown("spec", "component")),
    Column("State", "string", "Running or Crashed.", shown("status", "state")),
    Column("Leading", "string", "Whether it holds the lease.", shown("status", "leading")),
    spec=ReplicaSpec,
    defaults=with_spec,
    page={"spec": True, "status": {"*": True, "answer": False, "cycle": {"*": True, "input": False}}},
)
