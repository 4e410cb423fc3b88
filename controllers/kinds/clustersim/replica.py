"""Replicas: one process of the control plane, its faults and what it is at."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.models.clustersim_v1 import ReplicaSpec
from controllers.registry.structs import beyond
from controllers.registry.subresources import STATUS
from scheduler_core.api.errors import Cause


def _replica(document: dict[str, Any]) -> list[Cause]:
    return beyond(document["spec"], ReplicaSpec, "spec")


KIND: Final = Kind(
    "Replica",
    "replicas",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="session",
    defaults=with_spec,
    validate=_replica,
    generation=True,
    columns=(
        NAME,
        Column("Component", "string", "What it is a replica of.", shown("spec", "component")),
        Column("State", "string", "Running or Crashed.", shown("status", "state")),
        Column("Leading", "string", "Whether it holds the lease.", shown("status", "leading")),
        AGE,
    ),
    page={"spec": True, "status": {"*": True, "answer": False, "cycle": {"*": True, "input": False}}},
)
