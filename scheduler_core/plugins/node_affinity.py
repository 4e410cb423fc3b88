"""NodeAffinity: `spec.nodeSelector` and `spec.affinity.nodeAffinity`, and what the profile adds to every pod's."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.meta import view
from scheduler_core.api.pod import NodeAffinity as NodeAffinitySpec
from scheduler_core.api.selectors import CompiledTerm, NodeSelectorTerm, aggregate, compile_selector
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.refusing import unmet
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.kernels.resources import default_normalize
from scheduler_core.snapshot.label_columns import LabelColumns
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.preferred_affinity import Preferred, PreferredTermError, preferred_of
from scheduler_core.snapshot.required_affinity import Required, Terms
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_NODE_DEMANDS

NAME: Final = "NodeAffinity"

REASON_POD: Final = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT: Final = "pod affinity terms conflict"

_REASONS: Final = ((), (REASON_POD,), (REASON_ENFORCED,))


def pinned_names(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the nodes that terms pin by `metadata.name In`; None when a term leaves the name open, or none exists."""
    if not terms:
        return None
    names: frozenset[str] = frozenset()
    for term in terms:
        own: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                values = frozenset(field.values)
                own = values if own is None else own & values
        if own is None:
            return None
        names |= own
    return names


def _affinity_of(pod: PodInfo) -> NodeAffinitySpec | None:
    affinity = pod.pod.spec.affinity
    return affinity.node_affinity if affinity is not None else None


class NodeAffinity:
    """PreFilter, Filter, PreScore and Score on labels and names of nodes."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE
    score_reads: ClassVar[Reads] = Reads.NODE
    score_ranged: ClassVar[bool] = True
    idle_without: Mapping[str, int] = {}

    def __init__(self, added: NodeAffinitySpec | None = None) -> None:
        """Take the profile's addedAffinity.

        Raises:
            ValueError: a term of it cannot be read.
        """
        self._added_required: Terms | None = None
        self._added_preferred: Preferred | None = None
        self._columns = LabelColumns()
        if added is None:
            self.idle_without = {"preFilter": HAS_NODE_DEMANDS, "preScore": HAS_NODE_DEMANDS}
        else:
            if added.required is not None:
                self._added_required = compile_selector(added.required)
                errors = [text for term in self._added_required for text in term.errors]
                if errors:
                    raise ValueError(f"parsing addedAffinity.requiredDuringScheduling: {aggregate(errors)}")
            try:
                # Upstream's plugin scores as soon as the list has a term, even one that says nothing.
                self._added_preferred = preferred_of(added) if added.preferred else None
            except PreferredTermError as wrong:
                raise ValueError(f"parsing addedAffinity.preferredDuringScheduling: {wrong}") from wrong

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> NodeAffinity:
        """Return the plugin for NodeAffinityArgs.

        Raises:
            ValueError: the arguments cannot be read.
        """
        added = arguments.get("addedAffinity")
        return cls(None if added is None else view(added, NodeAffinitySpec))

    # Extension points.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod without demands; the pinned nodes when every term pins some."""
        spec, affinity = pod.pod.spec, _affinity_of(pod)
        required = affinity.required if affinity is not None else None
        if required is None and self._added_required is None and not spec.node_selector:
            return None, SKIP
        state.write(NAME, pod.required)
        names = pinned_names(required.node_selector_terms) if required is not None else None
        if names is None:
            return None, SUCCESS
        if not names:
            return None, unresolvable(REASON_CONFLICT)
        return PreFilterResult(names), SUCCESS

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return what the pod demands."""
        return pod.required

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return what the pod prefers."""
        affinity = pod.pod.spec.affinity
        own = affinity.node_affinity if affinity is not None else None
        return own.preferred if own is not None else ()

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that miss the profile's demands, then for those that miss the pod's."""
        found = state.get(NAME)
        required: Required = pod.required if found is None else found
        held = self._columns.required_holds(required, snapshot, rows)
        keys = np.where(held, 0, 1)
        if self._added_required is not None:
            keys = np.where(self._columns.any_holds(self._added_required, snapshot, rows), keys, 2)
        codes = np.where(keys != 0, np.int8(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), np.int8(0))
        return Verdicts(codes, keys.astype(np.int64), _REASONS.__getitem__)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each condition that does not hold, of every term, with the node's value: any one term would do."""
        info = snapshot.infos[row]
        added = self._added_required
        if added is not None and not any(term.matches(info.name, info.labels) for term in added):
            return unmet("addedAffinity", added, info.name, info.labels)
        required = pod.required
        own = unmet("nodeSelector", (CompiledTerm(required.selector),), info.name, info.labels)
        terms = required.terms
        if terms is None or any(term.matches(info.name, info.labels) for term in terms):
            return own
        return [*own, *unmet("nodeAffinity", terms, info.name, info.labels)]

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Return Skip when neither pod nor profile prefers anything; Error when a preferred term cannot be read."""
        affinity = _affinity_of(pod)
        if (affinity is None or not affinity.preferred) and self._added_preferred is None:
            return SKIP
        try:
            state.write(f"{NAME}/preferred", self._preferred(affinity))
        except PreferredTermError as wrong:
            return error(str(wrong))
        return SUCCESS

    def _preferred(self, affinity: NodeAffinitySpec | None) -> Preferred:
        """Return what profile and pod prefer.

        Raises:
            PreferredTermError: a term of the pod's cannot be read.
        """
        return (*(self._added_preferred or ()), *(preferred_of(affinity) if affinity is not None else ()))

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return the sum of the weights of the preferred terms that hold."""
        kept: Preferred | None = state.get(f"{NAME}/preferred")
        # A profile may leave PreScore out.
        preferred = self._preferred(_affinity_of(pod)) if kept is None else kept
        scores = np.zeros(snapshot.count(rows), dtype=np.int64)
        for weight, term in preferred:
            scores += self._columns.term_holds(term, snapshot, rows) * np.int64(weight)
        return scores

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return the sums scaled to 0…100."""
        return default_normalize(scores)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return nodes that come or change labels so that they match now."""
        event = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (EventRegistration(event, self._after_node, _of_nodes),)

    def _after_node(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        labels, required = new.metadata.labels, pod.required
        if self._added_required is not None and not any(t.matches(new.name, labels) for t in self._added_required):
            return QueueingHint.SKIP
        if not required.matches(new.name, labels):
            return QueueingHint.QUEUE if required.is_unknown(new.name, labels) else QueueingHint.SKIP
        # Of the node as it was, upstream asks only whether it matched the pod's own terms.
        matched = old is not None and required.matches(old.name, old.metadata.labels)
        return QueueingHint.SKIP if matched else QueueingHint.QUEUE


def _of_nodes(pod: PodInfo) -> ActionType:
    """A pod that asks for a node by its name alone, as a DaemonSet's does, gains nothing by labels."""
    required = pod.required
    reads = bool(required.selector) or any(term.labels or term.errors for term in required.terms or ())
    return ActionType.ADD | ActionType.UPDATE_NODE_LABEL if reads else ActionType.ADD
