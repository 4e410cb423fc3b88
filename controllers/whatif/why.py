"""Why a pod of any cluster finds no node: its objects as documents in, one decision taken apart out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from controllers.kinds.table import find_kind
from controllers.log.memory import MemoryStore
from controllers.log.store import Store
from controllers.registry.context import SESSION
from controllers.scheduler.past import Past
from controllers.scheduler.settings import NAME, RESOURCE, Settings, spec_of
from controllers.scheduler.watching import WATCHED
from controllers.whatif.deciding import Decision, attempt_now, is_pending
from controllers.whatif.fits import fits
from controllers.whatif.wishes import RESOURCES, Stuck, written
from controllers.whatif.world import PODS, World
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request
from scheduler_core.api.said import said
from scheduler_core.framework.profile import ProfileError
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.era import refused
from scheduler_core.snapshot.node_info import PodInfo

ATTEMPT: Final = 1
"""The attempt that is made in thought; chance is drawn for it."""


def load(
    documents: Iterable[Document],
    *,
    seed: int,
    scheduler: Document | None = None,
    plugins: PluginRegistry | None = None,
) -> MemoryStore:
    """Return a store with those of the objects that a scheduler reads, as they are: a cluster's API has checked them.

    Args:
        documents: objects of a cluster, in any order; what no scheduler reads (a Secret, say) is left out.
        seed: chance is drawn from it.
        scheduler: what `PUT …/scheduler` takes; None: kube-scheduler's defaults, under every scheduler name asked for.
        plugins: those of installed packages.

    Raises:
        ApiError: 400, an object is none; 422, the configuration is wrong.
    """
    store = MemoryStore(seed=seed, plugins=plugins)
    names: set[str] = set()
    with store.transaction(SESSION) as transaction:
        for resource, document in read_by_scheduler(documents):
            if resource == PODS:
                names.add(scheduler_of(document))
            metadata = document["metadata"]
            transaction.put(resource, metadata.get("namespace", ""), metadata["name"], document)
        spec_given = spec_for(scheduler, names)
        if spec_given is not None:
            Settings.of(spec_given, plugins)
            configured = {"metadata": {"name": NAME, "uid": NAME}, "spec": spec_given}
            transaction.put(RESOURCE, "", NAME, configured)
    return store


def read_by_scheduler(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """Yield (group resource, document) of those objects of a cluster that a scheduler reads, named and with a uid.

    Everything else is dropped as it comes, Secrets above all: nobody ever holds them.

    Raises:
        ApiError: 400, an object has no name.
    """
    for document in documents:
        metadata = document.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        kind = find_kind(str(document.get("apiVersion")), str(document.get("kind")))
        if kind is None or kind.resource not in WATCHED or kind.resource == RESOURCE:
            continue
        if not isinstance(name, str) or not name:
            raise bad_request(said("why.noName", "a {kind} has no metadata.name", kind=kind.kind))
        metadata = cast("dict[str, Any]", metadata)
        namespace = str(metadata.get("namespace") or "default") if kind.namespaced else ""
        kept = {key: value for key, value in metadata.items() if key != "managedFields"}
        kept |= {"uid": metadata.get("uid") or f"{kind.resource}/{namespace}/{name}"}
        kept |= {"namespace": namespace} if kind.namespaced else {}
        yield kind.resource, {**document, "metadata": kept}


def scheduler_of(pod: Document) -> str:
    """Return the scheduler name that a pod asks for, empty where it says none."""
    spec = pod.get("spec")
    return str((spec if isinstance(spec, dict) else {}).get("schedulerName") or "")


def spec_for(scheduler: Document | None, names: set[str]) -> Document | None:
    """Return the spec to run: as given, else the defaults for each scheduler name that pods ask for."""
    if scheduler is not None:
        return spec_of(scheduler)[0]
    others = sorted(names - {"", "default-scheduler"})
    if not others:
        return None
    return {"configuration": {"profiles": [{"schedulerName": name} for name in ("default-scheduler", *others)]}}


def why(store: Store, wanted: str = "") -> Document:
    """Return why a pending pod finds no node, or where it would go.

    Args:
        store: as `load` made it.
        wanted: the pod, as `namespace/name` or its name alone; empty: the pending pod of the highest priority that
            waits longest.

    Returns:
        `pod`, `priority`, `requests`, `pending` (how many pods wait in all), `result`, `message` (upstream's sentence),
        `chosen`, `gated` (what holds it back before any node is looked at: the rest is as it would be without), `nodes`
        (each that refused: `plugin`, `reasons`, and by resource what it has too little: `asked`, `free`, `short`; the
        nearest first), `reasons` (how many nodes say what), `preemption` (what it would do; who eliminated whom) and
        `fits` (as `GET …/fits`).

    Raises:
        ApiError: 404, there is no such pod, or none waits; 422, the pod is not pending, or no profile runs it.
    """
    past = Past(store)
    pod, pending = find_waiting(past, wanted)
    decision = Decision(past, attempt_now(past, pod, ATTEMPT))
    world = decision.world()
    try:
        gate = _gate(world, pod)
        trace = decision.taken(world)
    except KeyError as error:
        profiles = ", ".join(one.scheduler_name for one in world.configuration.profiles)
        text = said(
            "profile.unknown",
            "no profile is named {scheduler_name!r}; these are: {known}",
            scheduler_name=pod.pod.spec.scheduler_name,
            known=profiles,
        )
        raise refused(Cause("profiles", text)) from error
    except ProfileError as error:
        raise refused(Cause("configuration", str(error))) from error
    result = trace["result"]
    asked = {name: written(name, amount) for name, amount in sorted(pod.sums.asked.items()) if amount}
    nodes = _refusals(Stuck.of(decision, world, result), result)
    return {
        "pod": pod.key,
        "uid": pod.uid,
        "priority": pod.priority,
        "requests": asked,
        "pending": pending,
        "result": "gated" if gate else result.get("result", ""),
        "message": result.get("fitError") or "",
        "chosen": None if gate else result.get("chosen") or None,
        "gated": gate,
        "nodes": nodes,
        "reasons": _counted(nodes),
        "preemption": _preemption(trace, world),
        "fits": _ungated(pod, result.get("chosen")) if gate else fits(decision),
    }


def _gate(world: World, pod: PodInfo) -> str:
    """Return what PreEnqueue says against a pod, empty where it lets it pass.

    Raises:
        KeyError: no profile has its scheduler name.
        ProfileError: its profile cannot run.
    """
    profiles = {one.scheduler_name: one for one in world.configuration.profiles}
    framework = Framework(profiles[pod.pod.spec.scheduler_name], world.settings.registry())
    return "; ".join(framework.run_pre_enqueue(pod).reasons)


def _ungated(pod: PodInfo, chosen: str | None) -> list[Document]:
    """Return the way past the gates of a pod's spec, as `fits` would; none where no node takes it then."""
    gates = ", ".join(gate.name for gate in pod.pod.spec.scheduling_gates)
    if not gates or not chosen:
        return []
    place = {"kind": "Pod", "namespace": pod.pod.namespace, "name": pod.pod.name}
    text = {"en": f"take off its scheduling gate {gates}", "zh": f"去掉它的调度门控 {gates}"}
    change = {"patch": {**place, "patch": {"spec": {"schedulingGates": None}}}}
    return [{"changes": [change], "text": text, "node": chosen, "checked": True}]


def find_waiting(past: Past, wanted: str = "") -> tuple[PodInfo, int]:
    """Return the pod that is asked about, see `why`, and how many wait in all.

    Raises:
        ApiError: 404, there is no such pod, or none waits; 422, it is not pending.
    """
    waiting = [info for info in past.pods if is_pending(info)]
    return _find(past, waiting, wanted), len(waiting)


def _find(past: Past, waiting: Sequence[PodInfo], wanted: str) -> PodInfo:
    if not wanted:
        if not waiting:
            raise ApiError(
                404,
                "NotFound",
                said("why.nonePending", "no pod is pending: all of {pods:,} pods have a node", pods=len(past.pods)),
            )
        ungated = [info for info in waiting if not info.pod.spec.scheduling_gates]
        return min(ungated or waiting, key=_turn)
    found = [info for info in past.pods if wanted in (info.key, info.pod.name)]
    if not found:
        raise ApiError(
            404,
            "NotFound",
            said(
                "why.noPod",
                "there is no pod {wanted!r} among {pods:,}; write namespace/name",
                wanted=wanted,
                pods=len(past.pods),
            ),
        )
    if len(found) > 1:
        known = ", ".join(info.key for info in found[:5])
        raise ApiError(
            404,
            "NotFound",
            said(
                "why.several",
                "several pods are named {wanted!r} ({known}); write namespace/name",
                wanted=wanted,
                known=known,
            ),
        )
    if not is_pending(found[0]):
        node = found[0].pod.spec.node_name
        state = f"is on node {node}" if node else "has finished or is being deleted"
        raise refused(
            Cause(
                "pod",
                said(
                    "why.notWaiting", "{key} {state}: name a pod that waits for a node", key=found[0].key, state=state
                ),
            )
        )
    return found[0]


def _turn(info: PodInfo) -> tuple[int, str, str]:
    return -info.priority, str(info.pod.metadata.creation_timestamp or ""), info.key


def _refusals(stuck: Stuck, result: Mapping[str, Any]) -> list[Document]:
    """Return the nodes that refused, those with the least missing first."""
    shown = [
        {
            "node": name,
            "plugin": said.get("plugin", ""),
            "reasons": said.get("reasons") or [],
            "short": _short(stuck, name) if said.get("plugin") == RESOURCES else {},
            "distance": _distance(stuck, name),
            "others": len(stuck.refusals.get(name, ())),
        }
        for name, said in (result.get("firstFail") or {}).items()
    ]
    shown.sort(key=lambda row: (row["others"], row["distance"], row["node"]))
    return [{key: value for key, value in row.items() if key not in ("distance", "others")} for row in shown]


def _short(stuck: Stuck, node: str) -> Document:
    return {
        name: {
            "asked": written(name, one["asked"]),
            "free": written(name, max(one["free"], 0)),
            "short": written(name, one["missing"]),
        }
        for name, one in sorted(stuck.shortages.get(node, {}).items())
    }


def _distance(stuck: Stuck, node: str) -> float:
    """Return what the node has too little, as parts of what is asked."""
    return sum(float(one["missing"] / max(one["asked"], 1)) for one in stuck.shortages.get(node, {}).values())


def _counted(nodes: Sequence[Document]) -> Document:
    count = Counter(reason for row in nodes for reason in row["reasons"])
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def _preemption(trace: Mapping[str, Any], world: World) -> Document | None:
    """Return what preemption would do, None where nothing triggered it; pods by their names."""
    found = trace["result"].get("preemption")
    if not found:
        return None
    keys = {info.uid: info.key for info in world.pods}
    named: Callable[[Iterable[str]], list[str]] = lambda uids: [keys.get(uid, uid) for uid in uids]  # noqa: E731
    account = (trace.get("explanation") or {}).get("preemption") or {}
    return {
        "eligible": bool(found.get("eligible")),
        "whyNot": account.get("whyNot", ""),
        "node": found.get("nominatedNode") or None,
        "victims": named(found.get("victims") or ()),
        "candidates": {
            name: {"victims": named(one["victims"]), "numPDBViolations": one["numPDBViolations"]}
            for name, one in sorted((found.get("candidates") or {}).items())
        },
        "eliminated": {
            one["node"]: one["eliminatedBy"] for one in account.get("candidates") or () if one.get("eliminatedBy")
        },
    }
