"""The single-step global optimum: one placement of all pods with the highest utility, as an integer program for HiGHS.

The constraints are the filters with everything granted, so that the engine could run what comes out; the utility is the
document's Viability. Priorities are maximised one after another, the score last. Source of the solver: highs.dev, MIT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import highspy
import numpy as np

from scheduler_core.api.errors import Cause, invalid
from scheduler_core.api.said import said
from scheduler_core.model.objects import Objects
from scheduler_core.model.placement import Placement, Utility, priorities, utility
from scheduler_core.model.program import Program
from scheduler_core.snapshot.node_info import PodInfo

CELLS_MAX: Final = 10_000
"""Pods × nodes of an optimum; more are refused with 422: choose fewer pods."""

PODS_MAX: Final = 500
"""Pods of an optimum; more are refused with 422: choose fewer."""

PAIRS_MAX: Final = 300_000
"""Pods² × nodes that affinity, anti-affinity and host ports may span; more are refused with 422."""

SOLVER_SECONDS: Final = 5.0
"""Real seconds that the solver may take; then the best placement found so far is the answer, not proven."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """What the solver found.

    Attributes:
        placement: uid → node.
        utility: what it is worth.
        proven: no placement is worth more.
        gap: at most by how much the aim that was not proven (a priority's pods, or the score) could still be better,
            relative to what the solver found; 0 when proven.
    """

    placement: Placement
    utility: Utility
    proven: bool
    gap: float


def not_modelled(pod: PodInfo) -> list[str]:
    """Return the paths of what the pod demands beyond the model's filters."""
    spec = pod.pod.spec
    found = [
        f"spec.topologySpreadConstraints[{index}]"
        for index, one in enumerate(spec.topology_spread_constraints)
        if one.when_unsatisfiable == "DoNotSchedule"
    ]
    sources = ("persistent_volume_claim", "ephemeral", "gce_persistent_disk", "aws_elastic_block_store", "rbd", "iscsi")
    found += [
        f"spec.volumes[{index}]"
        for index, volume in enumerate(spec.volumes)
        if any(getattr(volume, source) is not None for source in sources)
    ]
    return found + (["spec.resourceClaims"] if spec.resource_claims else [])


def check(pods: Sequence[PodInfo], objects: Objects) -> None:
    """Refuse what is too large, or demands what the model has no formula for.

    Raises:
        ApiError: 422 with the causes.
    """
    causes = []
    cells = len(pods) * len(objects.nodes)
    if len(pods) > PODS_MAX:
        causes.append(
            Cause(
                "pods",
                said(
                    "optimum.podsMost",
                    "{pods:,} pods are more than {pods_max}; choose fewer",
                    pods=len(pods),
                    pods_max=PODS_MAX,
                ),
            )
        )
    if cells > CELLS_MAX:
        text = said(
            "optimum.cellsMost",
            "{pods} pods × {nodes} nodes are more than {cells_max:,}; choose fewer pods",
            pods=len(pods),
            nodes=len(objects.nodes),
            cells_max=CELLS_MAX,
        )
        causes.append(Cause("pods", text))
    pairing = sum(_pairs(pod) for pod in pods)
    if pairing * cells > PAIRS_MAX:
        text = said(
            "optimum.pairsMost",
            "{pairing} pods with terms or host ports among {cells:,} places are too many; choose fewer pods",
            pairing=pairing,
            cells=cells,
        )
        causes.append(Cause("pods", text))
    for pod in pods:
        causes += [
            Cause(f"pods[{pod.key}].{path}", said("optimum.noFormula", "the model has no formula for it"))
            for path in not_modelled(pod)
        ]
    if causes:
        raise invalid("Optimum", "clustersim.io", "", causes[:20])


def _pairs(pod: PodInfo) -> bool:
    terms = pod.terms
    return bool(pod.host_ports or terms.affinity or terms.anti_affinity or terms.preferred or terms.preferred_anti)


def solve(
    pods: Sequence[PodInfo], objects: Objects, *, seconds: float = SOLVER_SECONDS, known: Placement | None = None
) -> Optimum:
    """Return the best placement of the pods, all in one step.

    Args:
        pods: the pods to place; where they are now does not count.
        objects: the cluster; its other bound pods stay where they are.
        seconds: real seconds for the solver.
        known: a placement that is feasible; out of time, it is the answer if nothing better was found.

    Raises:
        ApiError: 422, see `check`.
    """
    check(pods, objects)
    program = Program(pods, objects.without(pods))
    values = np.zeros(program.columns)
    proven, gap, left = True, 0.0, seconds
    for priority in priorities(pods):
        aim = program.count_of(priority)
        values, sure, rest, used = _maximise(program, aim, values, left)
        left = max(left - used, 0.01)
        proven, gap = proven and sure, max(gap, rest)
        program.at_least(aim, round(float(aim @ values)))
    values, sure, rest, _ = _maximise(program, program.score, values, left)
    placement = program.placement(values)
    worth = utility(pods, placement, objects)
    proven, gap = proven and sure, max(gap, rest)
    if known is not None and not proven and (better := utility(pods, known, objects)) > worth:
        placement, worth = known, better
    return Optimum(placement, worth, proven, gap)


def _maximise(
    program: Program, aim: np.ndarray, start: np.ndarray, seconds: float
) -> tuple[np.ndarray, bool, float, float]:
    """Return (values, proven, relative gap, seconds used); `start` is a solution, and stays if time runs out."""
    if not aim.any():
        return start, True, 0.0, 0.0
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 0),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 1e-6),
        ("time_limit", seconds),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(program.model(aim))
    known = highspy.HighsSolution()
    known.col_value = start.tolist()
    solver.setSolution(known)
    solver.run()
    info = solver.getInfo()
    used = float(solver.getRunTime())
    found = np.array(solver.getSolution().col_value)
    if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
        return found, True, 0.0, used
    bound = min(float(info.mip_dual_bound), program.most(aim))
    worth = float(aim @ start)
    if len(found) == len(start) and program.holds(found) and float(aim @ found) >= worth:
        start, worth = found, float(aim @ found)
    return start, False, max(bound - worth, 0.0) / max(abs(worth), 1.0), used
