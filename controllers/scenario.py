"""Scenarios: a cluster and what happens to it, as data; run headless, deterministically. Format: docs/scenarios.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.flags.table import wrong_flags
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.table import KINDS, find_kind
from controllers.kit.client import Client
from controllers.leaderelection.standing import overlaps
from controllers.log.memory import DEFAULT_EPOCH_MS, MemoryStore
from controllers.log.operations import Create, Delete, Operation, Patch
from controllers.log.store import Store
from controllers.outside import CarryOut, refuse
from controllers.registry.kind import Kind
from controllers.registry.models.clustersim_v1 import ClientStatus, ReplicaStatus
from controllers.registry.structs import read as read_struct
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request
from scheduler_core.eras import read_spec
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.legacy.conflicts import conflicts_of
from scheduler_core.profiles.era import below

ACTOR: Final = "user:scenario"
"""Who writes what a scenario says."""

DEFAULT_UNTIL_SECONDS: Final = 60
"""How long a scenario runs that does not say."""

UNTIL_SECONDS_MAX: Final = 30 * 24 * 3600
"""A month of simulated time: longer is taken for a slip."""

NODES_MAX: Final = 10_000
"""Nodes that one entry may count."""

_TOP: Final = frozenset(
    {"name", "template", "replicas", "pace", "kubelets", "until", "nodes", "objects", "scheduler", "steps"}
)
_NODE: Final = frozenset(
    {"count", "name", "cpu", "memory", "pods", "gpu", "zone", "labels", "taints", "resources", "annotations"}
)
_ACTIONS: Final = ("apply", "delete", "patch", "scale", "fault", "clock", "scheduler", "flags", "client")


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that happens: at `at_ms`, `what` with its argument; `path` names it in errors."""

    at_ms: int
    what: str
    argument: Any
    path: str


@dataclass(slots=True)
class Scenario:
    """A scenario, read and checked."""

    name: str = ""
    replicas: int = 1
    pace: int = 0
    kubelets: bool = True
    until_ms: int = DEFAULT_UNTIL_SECONDS * 1000
    scheduler: Document | None = None
    objects: list[Document] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Start:
    """What a template contributes."""

    objects: Sequence[Document]
    replicas: int
    pace: int


def read(document: Any, templates: Mapping[str, Start], plugins: PluginRegistry | None = None) -> Scenario:
    """Return the scenario that a document describes.

    Args:
        document: as read from the file.
        templates: what it may begin with.
        plugins: scheduler plugins that are installed beside the in-tree ones.

    Raises:
        ApiError: 400, with the path of every field that is wrong.
    """
    causes: list[Cause] = []
    if not isinstance(document, dict):
        raise bad_request("a scenario is a mapping; see docs/scenarios.md")
    _check_known(document, _TOP, "", causes)
    start = Start((), 1, 0)
    template = document.get("template", "empty")
    if template in templates:
        start = templates[template]
    else:
        causes.append(Cause("template", f"{template!r} is not one of {', '.join(sorted(templates))}"))
    scenario = Scenario(
        name=str(document.get("name", "")),
        replicas=_number(document, "replicas", start.replicas, 1, 9, causes),
        pace=_number(document, "pace", start.pace, 0, 60_000, causes),
        kubelets=bool(document.get("kubelets", True)),
        until_ms=_milliseconds(document.get("until", DEFAULT_UNTIL_SECONDS), "until", causes),
    )
    scenario.objects = [*start.objects, *_nodes(_listed(document, "nodes", causes), causes)]
    for index, found_object in enumerate(_listed(document, "objects", causes)):
        if _kind_of(found_object, f"objects[{index}]", causes) is not None:
            scenario.objects.append(found_object)
    for index, step in enumerate(_listed(document, "steps", causes)):
        _read_step(step, f"steps[{index}]", scenario.actions, plugins, causes)
    scenario.scheduler = _scheduler(document.get("scheduler"), "scheduler", plugins, causes)
    if causes:
        texts = "; ".join(f"{cause.field}: {cause.message}" for cause in causes)
        raise bad_request(f"the scenario cannot be read: {texts}", causes)
    scenario.actions.sort(key=lambda action: action.at_ms)
    return scenario


def run(
    scenario: Scenario,
    *,
    seed: int,
    until_ms: int | None = None,
    plugins: PluginRegistry | None = None,
    call: CarryOut = refuse,
) -> tuple[MemoryStore, Document]:
    """Run a scenario and return its store and the summary.

    Args:
        scenario: the scenario.
        seed: chance is drawn from it.
        until_ms: simulated milliseconds to run; None: the scenario's own.
        plugins: those of installed packages.
        call: calls extenders; time stands meanwhile. Without it their calls fail.

    Raises:
        ApiError: an object or a step was refused; the message names it.
    """
    store = MemoryStore(seed=seed, epoch_ms=DEFAULT_EPOCH_MS, plugins=plugins)
    _create(store, initial_objects(replicas=scenario.replicas, pace=scenario.pace, scheduler=scenario.scheduler))
    _create(store, scenario.objects)
    cluster = Cluster(store, kubelets=scenario.kubelets, call=call)
    cluster.obeys_pause = False
    cluster.start()
    end_ms = scenario.until_ms if until_ms is None else until_ms
    for action in scenario.actions:
        if action.at_ms > end_ms:
            break
        cluster.advance(action.at_ms)
        _act(store, action)
        cluster.obey(store.epoch_ms + cluster.now_ms)
    cluster.advance(end_ms)
    return store, summary(store, cluster, seed, scenario.name)


def summary(store: Store, cluster: Cluster, seed: int, name: str) -> Document:
    """Return what came of a run: counts, and a hash over every row of the log."""
    digest = sha256()
    verbs: Counter[str] = Counter()
    for row in _rows(store):
        verbs[row.verb] += 1
        head = f"{row.revision} {row.now_ms} {row.verb} {row.resource} {row.namespace} {row.name} {row.actor} "
        digest.update(head.encode() + row.data + b"\n")
    nodes = [stored.object for stored in store.list("nodes")[0]]
    pods = [stored.object for stored in store.list("pods")[0]]
    phases = Counter((pod.get("status") or {}).get("phase", "Unknown") for pod in pods)
    leaders = {
        stored.name: stored.object["spec"].get("holderIdentity", "")
        for stored in store.list("leases.coordination.k8s.io", "kube-system")[0]
    }
    return {
        "name": name,
        "seed": seed,
        "simTime": cluster.now_ms / 1000,
        "revision": store.revision,
        "events": cluster.events_run,
        "rows": {verb: verbs[verb] for verb in sorted(verbs)},
        "nodes": len(nodes),
        "pods": len(pods),
        "bound": sum(1 for pod in pods if pod["spec"].get("nodeName")),
        "phases": {phase: phases[phase] for phase in sorted(phases)},
        "conflicts": conflicts_of(nodes, pods).counts(),
        "leaders": leaders,
        "elections": _elections(store, cluster.now_ms),
        "clients": _clients(store),
        "logSha256": digest.hexdigest(),
    }


def _elections(store: Store, now_ms: int) -> Document:
    """Return, for each component, when two of its replicas led at once (seconds), and how many writes were refused."""
    found: dict[str, list[ReplicaStatus]] = {}
    for stored in store.list("replicas.clustersim.io")[0]:
        component = str(stored.object["spec"]["component"])
        found.setdefault(component, []).append(read_struct(stored.object.get("status"), ReplicaStatus))
    return {
        component: {
            "twoLeaders": [
                [since_ms / 1000, until_ms / 1000]
                for since_ms, until_ms in overlaps([status.beliefs for status in statuses], now_ms)
            ],
            "refused": sum(status.refused for status in statuses),
        }
        for component, statuses in sorted(found.items())
    }


def _clients(store: Store) -> Document:
    """Return what came of each client's requests, as far as it is told."""
    found: Document = {}
    for stored in store.list(CLIENTS)[0]:
        status = read_struct(stored.object.get("status"), ClientStatus)
        found[stored.name] = {"sent": status.sent, **{name: count for name, count in status.results.items() if count}}
    return found


def _rows(store: Store) -> Any:
    after = 0
    while rows := store.events(after):
        yield from rows
        after = rows[-1].revision


def _create(store: MemoryStore, documents: list[Document]) -> None:
    for result in found(store, documents):
        if result.error is not None:
            raise result.error


# -- what happens -------------------------------------------------------------------------------------------------


def _act(store: MemoryStore, action: Action) -> None:
    client = Client(store)
    for operation in _operations(store, action):
        result = client.apply(operation, ACTOR)
        if result.error is not None:
            raise ApiError(
                result.error.code,
                result.error.reason,
                f"{action.path} at {action.at_ms / 1000:g} s was refused: {result.error.message}",
                causes=result.error.causes,
            )


def _operations(store: MemoryStore, action: Action) -> list[Operation]:
    argument = action.argument
    match action.what:
        case "apply":
            return [_apply(store, document) for document in argument]
        case "delete":
            kind, namespace = _place(argument)
            grace = argument.get("gracePeriodSeconds")
            propagation = argument.get("propagation", "Background")
            name = argument["name"]
            return [Delete(kind.resource, namespace, name, grace_period_seconds=grace, propagation=propagation)]
        case "patch":
            kind, namespace = _place(argument)
            how = argument.get("type", "strategic")
            return [Patch(kind.resource, namespace, argument["name"], argument["patch"], how)]
        case "scale":
            namespace = argument.get("namespace", "default")
            resource = "deployments.apps" if "deployment" in argument else "replicasets.apps"
            name = argument.get("deployment") or argument["replicaset"]
            return [Patch(resource, namespace, name, {"spec": {"replicas": argument["replicas"]}}, "merge", "scale")]
        case "fault":
            name = argument["replica"]
            stored = store.get("replicas.clustersim.io", "", name)
            known = (stored.object["spec"].get("fault") or {}) if stored is not None else {}
            fault = {key: value for key, value in argument.items() if key != "replica"}
            patch = {"spec": {"fault": {**fault, "id": int(known.get("id") or 0) + 1}}}
            return [Patch("replicas.clustersim.io", "", name, patch)]
        case "scheduler":
            # The whole spec: what the new one does not name is gone.
            patch_spec = [{"op": "add", "path": "/spec", "value": argument}]
            return [Patch("schedulerconfigs.clustersim.io", "", "default", patch_spec, "json")]
        case "client":
            metadata = {"name": argument["name"]}
            spec = {key: value for key, value in argument.items() if key != "name"}
            if store.get(CLIENTS, "", argument["name"]) is not None:
                return [Patch(CLIENTS, "", argument["name"], {"spec": spec})]
            made_client = {"apiVersion": "clustersim.io/v1", "kind": "Client", "metadata": metadata, "spec": spec}
            return [Create(CLIENTS, "", made_client)]
        case "flags":
            document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": FLAGS_NAME}}
            there = store.get(FLAGS, "", FLAGS_NAME) is not None
            made: list[Operation] = [] if there else [Create(FLAGS, "", document)]
            return [*made, Patch(FLAGS, "", FLAGS_NAME, {"spec": argument})]
        case _:
            return [Patch("clocks.clustersim.io", "", "clock", {"spec": argument})]


def _apply(store: MemoryStore, document: Document) -> Operation:
    """Create the object, or merge what is written into the one that is there."""
    kind = find_kind(document["apiVersion"], document["kind"])
    assert kind is not None, "kinds were checked when the scenario was read"
    name = document["metadata"]["name"]
    namespace = (document["metadata"].get("namespace") or "default") if kind.namespaced else ""
    if store.get(kind.resource, namespace, name) is None:
        return Create(kind.resource, namespace, document)
    return Patch(kind.resource, namespace, name, document, "strategic")


def _place(argument: Document) -> tuple[Kind, str]:
    kind = _named_kind(argument)
    assert kind is not None, "kinds were checked when the scenario was read"
    return kind, argument.get("namespace", "default") if kind.namespaced else ""


def _named_kind(argument: Document) -> Kind | None:
    """Return the kind that a step names by `kind` alone, or by apiVersion and kind."""
    if "apiVersion" in argument:
        return find_kind(argument["apiVersion"], str(argument.get("kind")))
    return next((kind for kind in KINDS if kind.kind == argument.get("kind")), None)


# -- reading ------------------------------------------------------------------------------------------------------


def _check_known(document: Document, known: frozenset[str], path: str, causes: list[Cause]) -> None:
    for key in document:
        if key not in known:
            causes.append(Cause(f"{path}{key}", f"unknown field; known are {', '.join(sorted(known))}"))


def _listed(document: Document, key: str, causes: list[Cause]) -> list[Document]:
    value = document.get(key)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return value
    causes.append(Cause(key, "must be a list of mappings"))
    return []


def _number(document: Document, key: str, default: int, least: int, most: int, causes: list[Cause]) -> int:
    value = document.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    causes.append(Cause(key, f"must be a whole number from {least} to {most}"))
    return default


def _milliseconds(value: Any, path: str, causes: list[Cause]) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= UNTIL_SECONDS_MAX:
        return round(value * 1000)
    causes.append(Cause(path, f"must be seconds from 0 to {UNTIL_SECONDS_MAX}"))
    return 0


def _scheduler(spec: Any, path: str, plugins: PluginRegistry | None, causes: list[Cause]) -> Document | None:
    """Return a scheduler's spec, read as a session's is."""
    if spec is None:
        return None
    if not isinstance(spec, dict):
        causes.append(Cause(path, "must be a mapping"))
        return None
    try:
        read_spec(spec, plugins)
    except ApiError as wrong:
        causes.extend(below(wrong, path).causes)
    return spec


def _kind_of(document: Document, path: str, causes: list[Cause]) -> Kind | None:
    kind = find_kind(str(document.get("apiVersion")), str(document.get("kind")))
    if kind is None:
        causes.append(Cause(path, f"no kind {document.get('kind')!r} in {document.get('apiVersion')!r} is served"))
    elif not isinstance(document.get("metadata"), dict) or not document["metadata"].get("name"):
        causes.append(Cause(f"{path}.metadata.name", "is required"))
        return None
    return kind


def _nodes(entries: list[Document], causes: list[Cause]) -> list[Document]:
    """Return the nodes that shorthand entries describe."""
    nodes: list[Document] = []
    for index, entry in enumerate(entries):
        path = f"nodes[{index}]"
        _check_known(entry, _NODE, f"{path}.", causes)
        count = _number(entry, "count", 1, 1, NODES_MAX, causes)
        capacity = {"cpu": str(entry.get("cpu", 4)), "memory": str(entry.get("memory", "16Gi"))}
        capacity["pods"] = str(entry.get("pods", 110))
        if entry.get("gpu"):
            capacity["nvidia.com/gpu"] = str(entry["gpu"])
        capacity.update({key: str(value) for key, value in (entry.get("resources") or {}).items()})
        labels = dict(entry.get("labels") or {})
        if entry.get("zone"):
            labels["topology.kubernetes.io/zone"] = str(entry["zone"])
        prefix = str(entry.get("name", "node"))
        for number in range(count):
            name = (
                prefix if count == 1 and "name" in entry else f"{prefix}-{len(nodes) + 1 if count == 1 else number + 1}"
            )
            metadata: Document = {"name": name, "labels": {**labels, "kubernetes.io/hostname": name}}
            if entry.get("annotations"):
                metadata["annotations"] = dict(entry["annotations"])
            spec: Document = {"taints": entry["taints"]} if entry.get("taints") else {}
            status = {"capacity": capacity, "allocatable": capacity}
            nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status})
    return nodes


def _read_step(
    step: Document, path: str, actions: list[Action], plugins: PluginRegistry | None, causes: list[Cause]
) -> None:
    at_ms = _milliseconds(step.get("at", 0), f"{path}.at", causes)
    _check_known(step, frozenset({"at", *_ACTIONS}), f"{path}.", causes)
    named = [what for what in _ACTIONS if what in step]
    if not named:
        causes.append(Cause(path, f"needs one of {', '.join(_ACTIONS)}"))
    for what in named:
        argument = step[what]
        where = f"{path}.{what}"
        if what == "apply":
            argument = argument if isinstance(argument, list) else [argument]
            for document in argument:
                if not isinstance(document, dict):
                    causes.append(Cause(where, "must be an object or a list of objects"))
                else:
                    _kind_of(document, where, causes)
        elif what == "scheduler":
            _scheduler(argument, where, plugins, causes)
        elif what == "flags":
            causes.extend(wrong_flags(argument, f"{where}.") if _is_flags(argument) else [Cause(where, _FLAGS_SHAPE)])
        else:
            _check_argument(what, argument, where, causes)
        actions.append(Action(at_ms, what, argument, where))


_FLAGS_SHAPE: Final = "must be a mapping of components to mappings of flags to texts"


def _is_flags(argument: Any) -> bool:
    return isinstance(argument, dict) and all(
        isinstance(section, dict) and all(isinstance(text, str) for text in section.values())
        for section in argument.values()
    )


_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "delete": ("kind", "name"),
    "patch": ("kind", "name", "patch"),
    "scale": ("replicas",),
    "fault": ("replica", "kind"),
    "clock": (),
    "client": ("name",),
}


def _check_argument(what: str, argument: Any, where: str, causes: list[Cause]) -> None:
    if not isinstance(argument, dict):
        causes.append(Cause(where, "must be a mapping"))
        return
    for key in _REQUIRED[what]:
        if key not in argument:
            causes.append(Cause(f"{where}.{key}", "is required"))
    if what in ("delete", "patch") and "kind" in argument and _named_kind(argument) is None:
        causes.append(Cause(f"{where}.kind", f"no kind {argument['kind']!r} is served"))
    if what == "scale" and "deployment" not in argument and "replicaset" not in argument:
        causes.append(Cause(where, "needs deployment or replicaset"))
