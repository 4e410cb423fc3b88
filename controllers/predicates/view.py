"""The view that predicates look at: one session's state at one moment, each thing read when it is first asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from controllers.commands import CLOCK, CLOCKS, REPLICAS
from controllers.kinds.table import KINDS
from controllers.log.store import ADDED, Event, Store, Stored
from controllers.predicates import shapes
from controllers.predicates.deciding import attempt_facts
from controllers.registry.kind import Kind
from controllers.registry.models.clustersim_v1 import ReplicaStatus
from controllers.registry.structs import read
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from controllers.scheduler.reporting import QUEUES
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import parsed
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import amounts, pod_requests
from scheduler_core.api.selector_text import parse_label_selector

NAMESPACE: Final = "default"
LEASES: Final = "leases.coordination.k8s.io"
LEASES_NAMESPACE: Final = "kube-system"
PERSON: Final = "person"
"""What `writers` calls people, whoever they are."""


class Moment(NamedTuple):
    """When a predicate is asked.

    Attributes:
        now_ms: simulated milliseconds now.
        began_ms: when the step's scene began.
        held: `namespace/name` of the pod in hand, empty for none; None: as the clock's status says.
        point: the extension point at which it rests.
        waits_ms: when the step's wait began; None: it has not.
    """

    now_ms: int
    began_ms: int = 0
    held: str | None = None
    point: str = ""
    waits_ms: int | None = None


class View:
    """What predicates are told of one session at one moment."""

    def __init__(self, store: Store, moment: Moment, namespace: str = NAMESPACE) -> None:
        """Read nothing yet.

        Args:
            store: the session's.
            moment: when.
            namespace: of names that say none.
        """
        self.store = store
        self.moment = moment
        self.namespace = namespace
        self._pods: list[tuple[Stored, shapes.PodFacts]] | None = None
        self._creations: Counter[tuple[str, str]] | None = None
        self._traces: dict[tuple[str, int], shapes.TraceFacts] = {}

    # -- pods -----------------------------------------------------------------------------------------------------

    def pod(self, name: str) -> shapes.PodFacts:
        """Return one pod."""
        namespace, name = self._placed(name)
        found = self.store.get("pods", namespace, name)
        return shapes.PodFacts(name=name, namespace=namespace) if found is None else _pod_facts(found.object)

    def pods(self, chosen: str) -> list[shapes.PodFacts]:
        """Return pods by label selector (it has `=`, `!` or ` in `), or by how their names begin; in order of name."""
        namespace, text = self._placed(chosen)
        mine = [facts for _, facts in self._all_pods() if facts.namespace == namespace]
        if not _is_selector(text):
            return [one for one in mine if one.name.startswith(text)]
        requirements = _requirements(text)
        return [one for one in mine if all(each.matches(one.labels) for each in requirements)]

    def creations(self, name: str) -> int:
        """Return how many pods of this name were made since the wait began; before it, as far back as the log reaches.

        A step that is begun again has its scene played again: what that made is none of the answer.
        """
        if self._creations is None:
            self._creations = _counted_creations(self.store, self.moment.waits_ms or 0)
        return self._creations[self._placed(name)]

    def writers(self, resource: str, name: str) -> list[str]:
        """Return who wrote an object, each once, in the order of their first write: `person`, or the component."""
        kind = _kind(resource)
        namespace, name = self._placed(name) if kind.namespaced else ("", name)
        found = self.store.get(kind.resource, namespace, name)
        if found is None:
            return []
        place = (kind.resource, namespace, name, found.uid)
        rows = (row for row in _rows(self.store) if (row.resource, row.namespace, row.name, row.uid) == place)
        return list(dict.fromkeys(_writer(row.actor) for row in rows))

    def _all_pods(self) -> list[tuple[Stored, shapes.PodFacts]]:
        if self._pods is None:
            self._pods = [(stored, _pod_facts(stored.object)) for stored in self.store.list("pods")[0]]
        return self._pods

    def _placed(self, name: str) -> tuple[str, str]:
        namespace, slash, rest = name.partition("/")
        # A label's key may have a slash: what is in front of it names a namespace only where no `=` comes later.
        return (namespace, rest) if slash and not _is_selector(name) else (self.namespace, name)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def node(self, name: str) -> shapes.NodeFacts:
        """Return one node."""
        found = self.store.get("nodes", "", name)
        return shapes.NodeFacts(name=name) if found is None else self._node_facts(found)

    def nodes(self) -> list[shapes.NodeFacts]:
        """Return all nodes, in order of name."""
        return [self._node_facts(stored) for stored in self.store.list("nodes")[0]]

    def _node_facts(self, stored: Stored) -> shapes.NodeFacts:
        document, name = stored.object, stored.name
        spec = document.get("spec") or {}
        here = [one for one, facts in self._all_pods() if facts.node == name]
        requested: Counter[str] = Counter()
        for one in here:
            if not has_ended(one.object):
                requested.update(_requests(one))
        return shapes.NodeFacts(
            exists=True,
            name=name,
            ready=_condition(document, "Ready").get("status") == "True",
            unschedulable=bool(spec.get("unschedulable")),
            taints=[taint["key"] for taint in spec.get("taints") or ()],
            labels=dict(document["metadata"].get("labels") or {}),
            requested=dict(requested),
            allocatable=_allocatable(stored),
            pods=[self._named(one) for one in here],
        )

    def _named(self, stored: Stored) -> str:
        return stored.name if stored.namespace == self.namespace else f"{stored.namespace}/{stored.name}"

    # -- any object -----------------------------------------------------------------------------------------------

    def count(self, resource: str, selector: str) -> int:
        """Return how many objects of a resource there are in the namespace (of cluster-wide kinds: in all)."""
        kind = _kind(resource)
        requirements = _requirements(selector)
        found = self.store.list(kind.resource, self.namespace if kind.namespaced else None)[0]
        labels = (stored.object["metadata"].get("labels") or {} for stored in found)
        return sum(1 for each in labels if all(one.matches(each) for one in requirements))

    def object(self, resource: str, name: str) -> Document:
        """Return an object's document, `{}` where there is none."""
        kind = _kind(resource)
        namespace, name = self._placed(name) if kind.namespaced else ("", name)
        found = self.store.get(kind.resource, namespace, name)
        return {} if found is None else found.object

    def events(self, reason: str) -> int:
        """Return how often events of a reason were told, in all namespaces."""
        told = (stored.object for stored in self.store.list("events")[0])
        return sum(int(one.get("count") or 1) for one in told if one.get("reason") == reason)

    # -- decisions ------------------------------------------------------------------------------------------------

    def trace(self, name: str, attempt: int = 0) -> shapes.TraceFacts:
        """Return an attempt of a pod, 0: its newest."""
        namespace, name = self._placed(name)
        found = self.store.get("pods", namespace, name)
        if found is None:
            return shapes.TraceFacts()
        known = self._traces.get((found.uid, attempt))
        if known is None:
            known = self._traces[found.uid, attempt] = self._trace(found.uid, attempt)
        return known

    def answering(self, name: str, *, newest: bool = False) -> Document | None:
        """Return the trace of the attempt that answers a question about a pod, with its result.

        The first that was decided since the wait began; where there is none, or nothing was waited for, the newest, and
        also where that is asked for.
        """
        found = self.store.get("pods", *self._placed(name))
        kept = [] if found is None else self.store.traces(found.uid)
        since_ms = None if newest else self.moment.waits_ms
        later = [one for one in kept if since_ms is not None and one[0]["simTime"] * 1000 >= since_ms]
        chosen = later[-1] if later else next(iter(kept), None)
        return None if chosen is None else whole(Past(self.store), *chosen)

    def answer(self, name: str) -> shapes.TraceFacts:
        """Return the same attempt as predicates see attempts."""
        trace = self.answering(name)
        return shapes.TraceFacts() if trace is None else self._facts(trace)

    def _trace(self, uid: str, attempt: int) -> shapes.TraceFacts:
        kept = self.store.trace(uid, attempt) if attempt else next(iter(self.store.traces(uid, 1)), None)
        return shapes.TraceFacts() if kept is None else self._facts(whole(Past(self.store), *kept))

    def _facts(self, trace: Document) -> shapes.TraceFacts:
        return attempt_facts(trace, lambda key: key.removeprefix(f"{self.namespace}/"))

    # -- elections ------------------------------------------------------------------------------------------------

    def lease(self, name: str) -> shapes.LeaseFacts:
        """Return an election's Lease."""
        found = self.store.get(LEASES, LEASES_NAMESPACE, name)
        if found is None:
            return shapes.LeaseFacts()
        spec = found.object.get("spec") or {}
        return shapes.LeaseFacts(
            exists=True,
            holder=spec.get("holderIdentity") or "",
            transitions=spec.get("leaseTransitions") or 0,
            renewed=self._seconds(spec.get("renewTime")),
            acquired=self._seconds(spec.get("acquireTime")),
            duration=spec.get("leaseDurationSeconds") or 0,
        )

    def _seconds(self, stamp: Any) -> float:
        if not isinstance(stamp, str):
            return 0.0
        try:
            unix = datetime.fromisoformat(stamp).astimezone(UTC).timestamp()
        except ValueError:
            return 0.0
        return round(unix - self.store.epoch_ms / 1000, 3)

    def leaders(self, component: str) -> int:
        """Return how many replicas of a component believe now that they lead."""
        found = self.store.list(REPLICAS)[0]
        return sum(
            1 for one in found if one.object["spec"].get("component") == component and _status(one.object).leading
        )

    def replica(self, identity: str) -> shapes.ReplicaFacts:
        """Return one replica."""
        found = self.store.get(REPLICAS, "", identity)
        if found is None:
            return shapes.ReplicaFacts()
        status = _status(found.object)
        beliefs = status.beliefs
        return shapes.ReplicaFacts(
            exists=True,
            state=status.state,
            leading=status.leading,
            skew=status.clock_skew_ms / 1000,
            rate=float(status.clock_rate),
            restarts=status.restarts,
            refused=status.refused,
            led=beliefs[-1].from_ms / 1000 if beliefs else 0.0,
            stopped=(beliefs[-1].to_ms or 0) / 1000 if beliefs else 0.0,
            faults=_faults(found.object),
            exit=-1 if status.last_exit is None else status.last_exit.code,
        )

    def queue(self, identity: str) -> shapes.QueueFacts:
        """Return the names of the pods in each part of a scheduler's queue, as far as its status lists them."""
        found = self.store.get(QUEUES, "", identity)
        status = {} if found is None else found.object.get("status") or {}
        return shapes.QueueFacts(
            **{
                lane: [str(one.get("pod", "")).removeprefix(f"{self.namespace}/") for one in status.get(lane) or ()]
                for lane in shapes.QueueFacts.__struct_fields__
            }
        )

    # -- time -----------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """Return session seconds."""
        return self.moment.now_ms / 1000

    def since(self) -> float:
        """Return session seconds since the step's scene began."""
        return (self.moment.now_ms - self.moment.began_ms) / 1000

    def waited(self) -> float:
        """Return session seconds since the step's wait began, 0 before it."""
        began_ms = self.moment.waits_ms
        return 0.0 if began_ms is None else (self.moment.now_ms - began_ms) / 1000

    def held(self) -> str:
        """Return the pod that rests in a scheduler's hand while time stands, empty where none does."""
        return self._rests[0].removeprefix(f"{self.namespace}/")

    def point(self) -> str:
        """Return the extension point that `held` has come to, empty where none is held."""
        return self._rests[1]

    @property
    def _rests(self) -> tuple[str, str]:
        if self.moment.held is not None:
            return self.moment.held, self.moment.point
        found = self.store.get(CLOCKS, "", CLOCK)
        held = ((found.object.get("status") or {}).get("held") or {}) if found is not None else {}
        return str(held.get("pod") or ""), str(held.get("point") or "")


def _counted_creations(store: Store, since_ms: int) -> Counter[tuple[str, str]]:
    made = (row for row in _rows(store) if row.resource == "pods" and row.verb == ADDED and row.now_ms >= since_ms)
    return Counter((row.namespace, row.name) for row in made)


def _rows(store: Store) -> Iterator[Event]:
    after = store.compacted
    while rows := store.events(after):
        yield from rows
        after = rows[-1].revision


def _writer(actor: str) -> str:
    """Return who an actor of the log is: a component without its replica's number and its part, or a person."""
    component = re.sub(r"-\d+$", "", actor.partition("/")[0])
    return PERSON if actor.startswith("user:") else component


def _pod_facts(document: Document) -> shapes.PodFacts:
    metadata, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    scheduled = _condition(document, "PodScheduled")
    waits = scheduled.get("status") == "False"
    owners = [one for one in metadata.get("ownerReferences") or () if one.get("controller")]
    return shapes.PodFacts(
        exists=True,
        name=metadata["name"],
        namespace=metadata.get("namespace") or NAMESPACE,
        uid=metadata.get("uid") or "",
        phase=status.get("phase") or "Pending",
        node=spec.get("nodeName") or "",
        nominated=status.get("nominatedNodeName") or "",
        ready=_condition(document, "Ready").get("status") == "True",
        deleting="deletionTimestamp" in metadata,
        priority=spec.get("priority") or 0,
        reason=(scheduled.get("reason") if waits else status.get("reason")) or "",
        message=(scheduled.get("message") if waits else status.get("message")) or "",
        gates=[gate["name"] for gate in spec.get("schedulingGates") or ()],
        labels=dict(metadata.get("labels") or {}),
        owner=owners[0]["name"] if owners else "",
    )


def _condition(document: Document, named: str) -> Mapping[str, Any]:
    found = (document.get("status") or {}).get("conditions") or ()
    return next((one for one in found if one.get("type") == named), {})


def _requests(stored: Stored) -> Mapping[str, int]:
    try:
        return pod_requests(parsed(stored.data, Pod))
    except (QuantityError, ApiError):
        return {}


def _allocatable(stored: Stored) -> dict[str, int]:
    try:
        return dict(amounts(parsed(stored.data, Node).status.allocatable))
    except (QuantityError, ApiError):
        return {}


def _status(document: Document) -> ReplicaStatus:
    return read(document.get("status"), ReplicaStatus)


def _faults(document: Document) -> list[str]:
    status = document.get("status") or {}
    told = status.get("faults") or ([status["fault"]] if status.get("fault") else [])
    return sorted(str(one.get("kind")) for one in told)


def _is_selector(text: str) -> bool:
    return "=" in text or "!" in text or " in " in text or " notin " in text


def _requirements(text: str) -> Any:
    try:
        return parse_label_selector(text)
    except ApiError as wrong:
        raise ValueError(wrong.message) from wrong


def _kind(resource: str) -> Kind:
    found = next((kind for kind in KINDS if resource in (kind.resource, kind.resource.partition(".")[0])), None)
    if found is None:
        raise ValueError(f"no resource {resource!r} is served; write it as pods or replicasets.apps")
    return found
