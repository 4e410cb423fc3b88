"""Reads scheduling cases on standard input, one JSON object a line, and writes what the scheduler decides of each.

`python -m scheduler_core.oracle < cases.jsonl > out.jsonl`. A case is a cluster (`objects`), a configuration and a pod,
or a `sequence` of pods placed one after another. All nodes are scored; ties are reported, not drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TextIO

import msgspec
import numpy as np

from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import Document, view
from scheduler_core.api.node import Node
from scheduler_core.extender.extending import KEY as EXTENDING
from scheduler_core.extender.extending import Extending
from scheduler_core.framework.asks import complete, refuse
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.fit_error import NO_NODES_MESSAGE, fit_error
from scheduler_core.framework.interface import Ask, PreFilterResult, Reply
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import ABSENT, FilterOutcome
from scheduler_core.plugins import default_preemption
from scheduler_core.preemption.evaluator import why_not_eligible
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.scheduler.configuration import with_extenders
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.cache import Cache
from scheduler_core.state.nominator import Nominator
from scheduler_core.trace.result import preemption_object, verdict_table

_RESOURCES: Final = {
    "priorityclasses": "priorityclasses.scheduling.k8s.io",
    "pdbs": "poddisruptionbudgets.policy",
    "pvs": "persistentvolumes",
    "pvcs": "persistentvolumeclaims",
    "storageclasses": "storageclasses.storage.k8s.io",
    "csinodes": "csinodes.storage.k8s.io",
    "csidrivers": "csidrivers.storage.k8s.io",
    "csistoragecapacities": "csistoragecapacities.storage.k8s.io",
    "services": "services",
    "replicasets": "replicasets.apps",
    "replicationcontrollers": "replicationcontrollers",
    "statefulsets": "statefulsets.apps",
    "namespaces": "namespaces",
    "volumeattachments": "volumeattachments.storage.k8s.io",
    "resourceclaims": "resourceclaims.resource.k8s.io",
    "resourceclaimtemplates": "resourceclaimtemplates.resource.k8s.io",
    "resourceslices": "resourceslices.resource.k8s.io",
    "deviceclasses": "deviceclasses.resource.k8s.io",
}
"""A case's name of a list of objects → the group resource."""

_EVERY_CANDIDATE: Final = {"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 100}
"""Cases are recorded with every preemption candidate dry-run."""


@dataclass(slots=True)
class CaseListers:
    """The case's other objects."""

    documents: Mapping[str, Sequence[Document]]
    _by_name: dict[tuple[str, str, str], Document] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for resource, documents in self.documents.items():
            for document in documents:
                meta = document["metadata"]
                self._by_name[resource, meta.get("namespace", ""), meta["name"]] = document

    def list(self, resource: str) -> Sequence[Document]:
        """Return all documents of a group resource."""
        return self.documents.get(resource, ())

    def get(self, resource: str, namespace: str, name: str) -> Document | None:
        """Return one document, None where there is none."""
        return self._by_name.get((resource, namespace, name))


class Oracle:
    """One case's cluster and scheduler."""

    def __init__(self, case: Document, carry_out: Callable[[Ask], Reply] = refuse) -> None:
        """Build the cluster.

        Args:
            case: the case.
            carry_out: answers what a cycle asks of the world outside, its calls to extenders; without it they fail.

        Raises:
            ApiError: the case's configuration or an object cannot be read.
        """
        objects: Mapping[str, Sequence[Document]] = case.get("objects") or {}
        self.cache = Cache()
        self.nominator = Nominator()
        # An API server lists nodes by name; the order decides which node's word on an image's size counts.
        for node in sorted(objects.get("nodes") or (), key=lambda one: str(one["metadata"]["name"])):
            self.cache.add_node(view(node, Node))
        for document in objects.get("pods") or ():
            info = PodInfo.of(document)
            if info.pod.spec.node_name:
                self.cache.add_pod(info)
            else:
                self.nominator.add(info)
        documents = {_RESOURCES[name]: items or () for name, items in objects.items() if name in _RESOURCES}
        configuration = read_configuration(case.get("config") or {})
        self._extenders, self._carry_out = configuration.extenders, carry_out
        registry = in_tree_registry()
        listers = CaseListers(documents)
        self._listers = listers
        self._frameworks = {
            profile.scheduler_name: Framework(
                _available(profile, registry),
                registry,
                listers=listers,
                nominator=self.nominator,
                reuse="sequence" in case,
            )
            for profile in with_extenders(configuration.profiles, self._extenders)
        }
        self.snapshot = self.cache.snapshot()

    def decide(self, info: PodInfo, *, detailed: bool = True) -> dict[str, Any]:
        """Return the decision on one pod, without carrying it out.

        Args:
            info: the pod.
            detailed: whether to report every filter's verdict and every plugin's scores.
        """
        # A pod that names no profile of the configuration is decided by the first: cases hold one pod for one profile.
        first_profile = next(iter(self._frameworks.values()))
        framework = self._frameworks.get(info.pod.spec.scheduler_name, first_profile)
        gate = framework.run_pre_enqueue(info)
        if not gate.ok:
            return {"result": "gated", "preEnqueue": gate.as_dict()}
        if not len(self.snapshot):
            return {"result": "no_nodes", "fitError": NO_NODES_MESSAGE}
        state, snapshot = CycleState(), self.snapshot
        extending = Extending(self._extenders, self._listers, [])
        state.write(EXTENDING, extending)
        left, status, narrowing = framework.run_pre_filter(state, info, snapshot)
        record: dict[str, Any] = {}
        if detailed:
            names = left.node_names if status.ok else None
            record["preFilter"] = {
                **status.as_dict(),
                "allNodes": names is None,
                "nodeNames": sorted(names or ()),
                "skip": sorted(state.skip_filter),
            }
        if not status.ok and not status.rejected:
            return {"result": "error", "fitError": status.message, **record}
        if not status.ok:
            first = np.full(len(snapshot), ABSENT, dtype=np.int8)
            outcome = FilterOutcome(snapshot, (), {}, first, absent_status=status)
            return {"result": "unschedulable", **record, **self._fail(framework, state, info, outcome, status.message)}
        outcome, status = self._filter(framework, state, info, left, narrowing)
        if detailed:
            record["filters"] = verdict_table(outcome)
        if not status.ok:
            return {"result": "error", "fitError": status.message, **record}
        record["firstFail"] = {snapshot.names[row]: one.as_dict() for row, one in outcome.failed()}
        record["feasible"] = sorted(snapshot.names[row] for row in outcome.feasible)
        record["usedNominatedNode"] = outcome.used_nominated_node
        if not record["feasible"]:
            return {"result": "unschedulable", **record, **self._fail(framework, state, info, outcome, "")}
        return {**record, **self._score(framework, state, info, outcome, detailed)}

    def _filter(
        self,
        framework: Framework,
        state: CycleState,
        info: PodInfo,
        left: PreFilterResult,
        narrowing: frozenset[str],
        *,
        nominated_first: bool = True,
    ) -> tuple[FilterOutcome, Status]:
        """Run the filters and the extenders; where these refuse the nominated node, all nodes have their turn."""
        outcome = framework.run_filter(state, info, self.snapshot, left, narrowing, nominated_first=nominated_first)
        broken = outcome.rows_with(Code.ERROR)
        if broken:
            return outcome, outcome.status_of(broken[0])
        extending: Extending = state.read(EXTENDING)
        status = complete(extending.filter(info, outcome), self._carry_out)
        if outcome.used_nominated_node and not (status.ok and len(outcome.feasible)):
            return self._filter(framework, state, info, left, narrowing, nominated_first=False)
        return outcome, status

    def _score(
        self, framework: Framework, state: CycleState, info: PodInfo, outcome: FilterOutcome, detailed: bool
    ) -> dict[str, Any]:
        rows = outcome.feasible
        names = self.snapshot.names
        if len(rows) == 1:
            return {"result": "scheduled", "best": [names[rows[0]]]}
        status = framework.run_pre_score(state, info, self.snapshot, rows)
        scores = None
        if status.ok:
            scores, status = framework.run_score(state, info, self.snapshot, outcome)
        if scores is None:
            return {"result": "error", "fitError": status.message}
        extending: Extending = state.read(EXTENDING)
        complete(extending.prioritize(info, self.snapshot, scores), self._carry_out)
        table = scores.as_dict(names)
        if not detailed:
            del table["plugins"]
        return {"result": "scheduled", "scores": table, "best": sorted(names[row] for row in scores.best())}

    def _fail(
        self, framework: Framework, state: CycleState, info: PodInfo, outcome: FilterOutcome, pre_filter: str
    ) -> dict[str, Any]:
        record: dict[str, Any] = {}
        text = ""
        plugins = framework.profile.at("postFilter")
        if plugins:
            result, status = complete(framework.run_post_filter(state, info, outcome), self._carry_out)
            text = status.message
            row = self.snapshot.row_of.get(info.pod.status.nominated_node_name)
            tried = SUCCESS if row is None else outcome.status_of(row)
            # Eligibility is told even where DefaultPreemption had no turn, but not where the profile lacks it.
            eligible = default_preemption.NAME in plugins and not why_not_eligible(info, self.snapshot, tried)
            record["preemption"] = {"eligible": eligible, **preemption_object(result, status)}
        reasons = {} if pre_filter else outcome.reasons()
        record["fitError"] = fit_error(len(self.snapshot), reasons, pre_filter=pre_filter, post_filter=text)
        return record

    def place(self, info: PodInfo, node_name: str, step: int) -> None:
        """Put a decided pod on its node, as a sequence has it."""
        started = f"2030-01-01T{step // 3600:02}:{step // 60 % 60:02}:{step % 60:02}Z"
        self.cache.add_pod(info.placed(node_name, started))
        self.cache.update_snapshot(self.snapshot)


def _available(profile: ProfileConfiguration, registry: PluginRegistry) -> ProfileConfiguration:
    """Return the profile as cases mean it: without plugins that do not exist here, and with every candidate tried."""
    sets = {
        point: PluginSet(tuple(pair for pair in one.enabled if pair[0] in registry), one.disabled)
        for point, one in profile.sets.items()
    }
    arguments = {**profile.arguments, "DefaultPreemption": _EVERY_CANDIDATE}
    return replace(profile, sets=sets, arguments=arguments)


def answer(case: Document) -> dict[str, Any]:
    """Return the answer to one case."""
    try:
        oracle = Oracle(case)
        if "sequence" in case:
            return {"id": case["id"], "result": "sequence", "steps": _steps(oracle, case["sequence"])}
        return {"id": case["id"], **oracle.decide(PodInfo.of(case["pod"]))}
    except ApiError as wrong:
        return {"id": case["id"], "result": "error", "fitError": wrong.message}
    except ValueError as wrong:
        return {"id": case["id"], "result": "error", "fitError": str(wrong)}


def _steps(oracle: Oracle, pods: Iterable[Document]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for index, document in enumerate(pods):
        info = PodInfo.of(document)
        record = {"pod": info.key, **oracle.decide(info, detailed=False)}
        if record["result"] == "scheduled":
            record["chosen"] = min(record["best"])
            oracle.place(info, record["chosen"], index)
        steps.append(record)
    return steps


def main(source: TextIO, target: TextIO) -> None:
    """Answer every case of a stream."""
    for line in source:
        if line.strip():
            target.write(msgspec.json.encode(answer(msgspec.json.decode(line))).decode())
            target.write("\n")


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
