"""Reads scheduling cases on standard input, one JSON object a line, and writes what the scheduler decides of each.

`python -m scheduler_core.oracle < cases.jsonl > out.jsonl`. A case is a cluster (`objects`), a configuration and a pod,
or a `sequence` of pods placed one after another. All nodes are scored; ties are reported, not drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TextIO

import msgspec

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.asks import Ask, Reply, complete, refuse
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.status import Code
from scheduler_core.plugins import default_preemption
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import Cycle, decide
from scheduler_core.scheduler.replay import outcome_of
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from scheduler_core.volumes.assumed import AssumedObjects

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

    documents: Mapping[str, Sequence[FrozenDocument]]
    _by_name: dict[tuple[str, str, str], FrozenDocument] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for resource, documents in self.documents.items():
            for document in documents:
                meta = document["metadata"]
                self._by_name[resource, meta.get("namespace", ""), meta["name"]] = document

    def list(self, resource: str) -> Sequence[FrozenDocument]:
        """Return all documents of a group resource."""
        return self.documents.get(resource, ())

    def get(self, resource: str, namespace: str, name: str) -> FrozenDocument | None:
        """Return one document, None where there is none."""
        return self._by_name.get((resource, namespace, name))


def listers_of(objects: Mapping[str, Sequence[FrozenDocument]]) -> CaseListers:
    """Return a case's objects that are neither nodes nor pods."""
    return CaseListers({_RESOURCES[name]: items or () for name, items in objects.items() if name in _RESOURCES})


class Oracle:
    """One case's cluster and the scheduler that runs in it."""

    def __init__(self, case: FrozenDocument, carry_out: Callable[[Ask], Reply] = refuse) -> None:
        """Start the scheduler and show it the cluster.

        Args:
            case: the case.
            carry_out: answers what a cycle asks of the world outside, its calls to extenders; without it they fail.

        Raises:
            ApiError: the case's configuration or an object cannot be read.
        """
        objects: Mapping[str, Sequence[FrozenDocument]] = case.get("objects") or {}
        configuration = read_configuration(case.get("config") or {})
        registry, nominator = in_tree_registry(), Nominator()
        volumes = AssumedObjects(listers_of(objects))
        built = Configuration(
            [_available(profile, registry) for profile in configuration.profiles],
            registry,
            hash="",
            listers=volumes,
            nominator=nominator,
            reuse="sequence" in case,
            extenders=configuration.extenders,
        )
        self._carry_out = carry_out
        self.core = Scheduler(built, nominator, seed=0, volumes=volumes)
        # An API server lists nodes by name; the order decides which node's word on an image's size counts.
        for node in sorted(objects.get("nodes") or (), key=lambda one: str(one["metadata"]["name"])):
            self.core.observe_node(view(node, Node))
        for document in objects.get("pods") or ():
            self.core.observe_pod(PodInfo.of(document))

    def decide(self, info: PodInfo, *, detailed: bool = True) -> dict[str, Any]:
        """Return the decision on one pod, which is forgotten again.

        Args:
            info: the pod.
            detailed: whether to report every filter's verdict and every plugin's scores.
        """
        record, _ = self._attempt(info, detailed=detailed)
        self._drop(info)
        return record

    def step(self, info: PodInfo, number: int) -> dict[str, Any]:
        """Return the decision on a sequence's pod, and place it where it says."""
        record, run = self._attempt(info, detailed=False)
        if run is None or run.result != "scheduled":
            self._drop(info)
            return record
        run.chosen = record["chosen"] = min(record["best"])
        self.core.assume(run)
        started = f"2030-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        self.core.observe_pod(info.placed(run.chosen, started))
        return record

    def _attempt(self, info: PodInfo, *, detailed: bool) -> tuple[dict[str, Any], Run | None]:
        core, frameworks = self.core, self.core.configuration.frameworks
        if not core.is_mine(info):
            # A pod that names no profile of the configuration is decided by the first: cases hold one pod for one.
            spec = msgspec.structs.replace(info.pod.spec, scheduler_name=next(iter(frameworks)))
            info = PodInfo(msgspec.structs.replace(info.pod, spec=spec))
        gate = frameworks[info.pod.spec.scheduler_name].run_pre_enqueue(info)
        if not gate.ok:
            return {"result": "gated", "preEnqueue": gate.as_dict()}, None
        # Whatever its state, the case wants the pod tried; the watch would not bring every pod to the queue.
        core.pods[info.uid] = info
        core.queue.add(info, core.now_ms)
        run = core.begin(0, info.uid)
        assert run is not None, "a pod that no plugin gates has its turn"
        complete(_asks(decide(core, run)), self._carry_out)
        return _record(core, run, detailed=detailed), run

    def _drop(self, info: PodInfo) -> None:
        self.core.queue.done(info.uid)
        self.core.remove_pod(info.uid)


def _asks(cycle: Cycle) -> Generator[Ask, Reply, None]:
    """Hand on what a cycle asks for; at its points nobody holds it."""
    reply: Reply | None = None
    try:
        while True:
            item = cycle.send(reply)
            reply = (yield item) if isinstance(item, Ask) else None
    except StopIteration:
        return


def _record(core: Scheduler, run: Run, *, detailed: bool) -> dict[str, Any]:
    """Return an attempt as FORMAT has it."""
    if run.result == "no_nodes":
        return {"result": run.result, "fitError": run.message}
    broken = run.outcome is not None and bool(run.outcome.rows_with(Code.ERROR))
    if run.outcome is not None:
        # Every filter's word on every node is asked for, also where an error ended the search.
        run.outcome.not_run = None
    record = outcome_of(core, run).as_dict()
    left_out = {"chosen", "lot"}
    if broken:
        left_out |= {"firstFail", "feasible", "usedNominatedNode"}
    if not detailed:
        left_out |= {"preFilter", "filters"}
        record.get("scores", {}).pop("plugins", None)
    if "preemption" in record and default_preemption.NAME not in run.framework.profile.at("postFilter"):
        # Eligibility is told even where DefaultPreemption had no turn, but not where the profile lacks it.
        record["preemption"]["eligible"] = False
    return {key: value for key, value in record.items() if key not in left_out}


def _available(profile: ProfileConfiguration, registry: PluginRegistry) -> ProfileConfiguration:
    """Return the profile as cases mean it: without plugins that do not exist here, all nodes and candidates tried."""
    sets = {
        point: PluginSet(tuple(pair for pair in one.enabled if pair[0] in registry), one.disabled)
        for point, one in profile.sets.items()
    }
    arguments = {**profile.arguments, default_preemption.NAME: _EVERY_CANDIDATE}
    return replace(profile, sets=sets, arguments=arguments, percentage_of_nodes_to_score=None)


def answer(case: FrozenDocument) -> dict[str, Any]:
    """Return the answer to one case."""
    try:
        oracle = Oracle(case)
        if "sequence" in case:
            infos = map(PodInfo.of, case["sequence"])
            steps = [{"pod": info.key, **oracle.step(info, number)} for number, info in enumerate(infos)]
            return {"id": case["id"], "result": "sequence", "steps": steps}
        return {"id": case["id"], **oracle.decide(PodInfo.of(case["pod"]))}
    except ApiError as wrong:
        return {"id": case["id"], "result": "error", "fitError": wrong.message}
    except ValueError as wrong:
        return {"id": case["id"], "result": "error", "fitError": str(wrong)}


def main(source: TextIO, target: TextIO) -> None:
    """Answer every case of a stream."""
    for line in source:
        if line.strip():
            target.write(msgspec.json.encode(answer(msgspec.json.decode(line))).decode())
            target.write("\n")


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
