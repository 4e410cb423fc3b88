"""Where the engine leaves the formal model: each way has a name, and definitions take the names that are granted.

With nothing granted a definition is the document's formula; with everything granted it is what the engine does. A step
of the engine that the model refuses must be enabled once some of these are granted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Granted = frozenset[str]
"""Names of the deviations that hold."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One named difference between the document's model and kube-scheduler 1.34 as built here.

    Attributes:
        name: as steps, screens and docs/model.md call it.
        section: the document's section or definition that it touches.
        model: what the model says.
        engine: what the engine does.
        why: the reason for it.
        example: the smallest cluster that shows it.
    """

    name: str
    section: str
    model: str
    engine: str
    why: str
    example: str


CORDON: Final = "cordon-can-be-tolerated"
CONDITIONS: Final = "conditions-are-taints"
SIDECARS: Final = "sidecars-overhead-pod-requests"
NOTHING_ASKED: Final = "asking-nothing-fits"
PREFER: Final = "prefer-no-schedule-only-scores"
EMPTY_OPERATOR: Final = "empty-operator-is-equal"
EMPTY_COVERS_ALL: Final = "empty-key-or-effect-covers-all"
EMPTY_TERM: Final = "empty-term-matches-nothing"
MATCH_FIELDS: Final = "match-fields"
UNREADABLE: Final = "unreadable-terms-match-nothing"
ONE_FOR_ALL: Final = "one-pod-for-all-terms"
FIRST_OF_KIND: Final = "first-of-its-kind"
MUTUAL: Final = "anti-affinity-is-mutual"
MORE_FILTERS: Final = "more-filters"
NORMALISED: Final = "normalised-weighted-scores"
SAMPLING: Final = "sampling"
NOMINATED_FIRST: Final = "nominated-node-first"
GATED: Final = "gates"
BACKOFF: Final = "backoff"
PARKED: Final = "failed-pods-wait-for-an-event"
NOMINATIONS: Final = "nominations-count"
LATER: Final = "victims-leave-later"
GREEDY: Final = "greedy-reprieve"
CRITERIA: Final = "six-criteria"
NEVER: Final = "never-preempts"
BIND_FAILS: Final = "binding-can-fail"

_ALL: Final = (
    Deviation(
        CORDON,
        "1.1",
        "Node.Spec.Unschedulable = FALSE, for every Pod",
        "a pod that tolerates node.kubernetes.io/unschedulable:NoSchedule may go to a cordoned node",
        "a cordon is a taint today, and DaemonSet pods tolerate it",
        "a cordoned node and a pod that tolerates node.kubernetes.io/unschedulable: bound there",
    ),
    Deviation(
        CONDITIONS,
        "1.1",
        'Node.Status.Phase = "Running"; the Ready condition stands for the phase, which nodes no longer have',
        "conditions are not asked; a node that is not ready gets taints, and those keep pods away",
        "one mechanism, and a pod may tolerate a state for a while",
        "a node whose Ready condition is False and has no taint yet: a pod is bound there",
    ),
    Deviation(
        SIDECARS,
        "1.2",
        "asked is Max over init containers and Sum over containers, each alone",
        "sidecars run on beside what follows them, overhead is added, and pod-level requests replace sums",
        "restartable init containers, sandboxes and spec.resources came later",
        "a node with 1 cpu, a container and a sidecar of 1 cpu each: refused",
    ),
    Deviation(
        NOTHING_ASKED,
        "1.2",
        "0 ≤ what is left, which is false on an over-committed node",
        "a resource of which the pod asks nothing is not looked at",
        "the pod makes the shortage no worse",
        "a node with 1 cpu and a pod of 2 on it; one that asks for 0 cpu: bound there",
    ),
    Deviation(
        PREFER,
        "1.4",
        "∀ Taint ∈ Node.Spec.Taints, whatever its effect",
        "only NoSchedule and NoExecute are hard; an untolerated PreferNoSchedule lowers the score",
        "the effect is a wish by its name",
        "a node with an untolerated PreferNoSchedule taint: a pod is bound there",
    ),
    Deviation(
        EMPTY_OPERATOR,
        "1.4",
        'CASE "Exists", "Equal", OTHER ⟶ FALSE: the empty operator matches nothing',
        "the empty operator is Equal",
        "the API's default",
        "a toleration of key and value without an operator: covers the taint",
    ),
    Deviation(
        EMPTY_COVERS_ALL,
        "1.4",
        "Toleration.key = Taint.key and Toleration.Effect = Taint.Effect, always",
        "an empty key or an empty effect of the toleration covers every one",
        "one toleration can stand for many taints",
        "a toleration that says Exists and nothing else: covers the taint",
    ),
    Deviation(
        EMPTY_TERM,
        "1.5",
        "∀ over no requirement is TRUE",
        "a node selector term without any requirement matches no node",
        "a forgotten term must not open all nodes",
        "required node affinity with one term, {}: no node will do",
    ),
    Deviation(
        MATCH_FIELDS,
        "1.5",
        "a term has requirements on Node.Labels only",
        "matchFields asks about metadata.name too",
        "DaemonSet pods are bound to their node by it",
        "a term that wants metadata.name m, a node n: refused",
    ),
    Deviation(
        UNREADABLE,
        "1.5",
        "every requirement has a value: In ∅ is FALSE, NotIn ∅ is TRUE, Gt takes the maximum of its values",
        "a requirement with a wrong number or kind of values cannot be read: a required term then matches nothing, a "
        "preferred one ends the attempt with an error",
        "the API refuses such objects; the scheduler fails safe where one slips through",
        "a term with NotIn and no values: no node will do",
    ),
    Deviation(
        ONE_FOR_ALL,
        "1.5",
        "∀ PodAffinityTerm : some Pod is near that the term means; each term may find its own",
        "the pod that is near must be meant by all required terms at once",
        "terms are read as one description of the wanted neighbour",
        "terms app=x and tier=y, and a pod of each on the node, none of both: refused",
    ),
    Deviation(
        FIRST_OF_KIND,
        "1.5",
        "P_Affinity holds only with a matching Pod bound nearby",
        "where no such pod exists at all and the pod matches its own terms, any node with the topology labels will do",
        "the first pod of a group would wait for ever",
        "app=x wants app=x on its node, and nobody is there: bound",
    ),
    Deviation(
        MUTUAL,
        "1.5",
        "only the Pod's own anti-affinity is asked",
        "required anti-affinity of pods that run already keeps the newcomer away, too",
        "a promise given to a running pod holds",
        "a pod that keeps app=x away runs on the node; app=x asks for nothing: refused",
    ),
    Deviation(
        MORE_FILTERS,
        "1",
        "Filter_1 ∧ Filter_2 ∧ …, of which 1.1 to 1.5 are written out",
        "host ports, volumes, topology spread and others are filters as well",
        "the document calls its list a part",
        "host port 80 is taken on the node: refused",
    ),
    Deviation(
        NORMALISED,
        "2",
        "Viability is the sum of the weights of matched terms; anti-affinity weights are added",
        "each plugin's score is normalised to 0…100 over the feasible nodes, weighted and summed; anti-affinity is "
        "subtracted; resources, taints, spread and images score too",
        "plugins of different scales must be comparable",
        "two nodes, app=x on one; a pod that would rather not be near it is bound to the other",
    ),
    Deviation(
        SAMPLING,
        "Scheduling",
        "∀ Other ∈ Feasible: the best of all nodes",
        "with percentageOfNodesToScore < 100 the search ends at enough feasible nodes; a preemptor looks for enough "
        "candidates",
        "time; asked for by configuration, off by default here",
        "101 nodes, the preferred one last, percentageOfNodesToScore 1: the last is never looked at",
    ),
    Deviation(
        NOMINATED_FIRST,
        "Scheduling",
        "the most viable node of all",
        "a nominated node that passes is taken without scoring any other",
        "its victims were evicted for this pod",
        "a pod nominated to n that prefers m: bound to n",
    ),
    Deviation(
        GATED,
        "Scheduler",
        "every unbound Pod competes; the highest priority goes first",
        "a gated pod, or one whose preemption is being carried out, stays out of the queue",
        "its owner, or its own victims, are not ready yet",
        "a gated pod of priority 5, another of 0: the other is bound",
    ),
    Deviation(
        BACKOFF,
        "Scheduler",
        "every unbound Pod competes; the highest priority goes first",
        "a pod that failed pauses for 1 s, doubled up to 10 s, and lesser pods go first meanwhile",
        "a pod that keeps failing must not starve the rest",
        "the binding of priority 5 is refused; the pod of priority 0 is bound meanwhile",
    ),
    Deviation(
        PARKED,
        "Scheduler",
        "every unbound Pod competes; OTHER ⟶ UNCHANGED would try the same Pod for ever",
        "a pod that failed waits until an event may help it (or five minutes), and lesser pods go first meanwhile",
        "trying again without a change is waste",
        "priority 5 fits nowhere; the pod of priority 0 is bound meanwhile",
    ),
    Deviation(
        NOMINATIONS,
        "Scheduling",
        "nothing is kept of a preemption but the deletion",
        "a node is also judged with the pods of no lower priority that are nominated to it; their anti-affinity is "
        "asked only where some term concerned the newcomer before",
        "the room that was made is promised to the preemptor",
        "room for one pod, promised to one that is gated; an equal one is refused",
    ),
    Deviation(
        LATER,
        "Preemption",
        "Objects' = Objects ∖ Pods in the same step",
        "victims are deleted gracefully and count until they are gone; meanwhile the preemptor may not preempt again",
        "processes get their grace period",
        "the only pod of a full node is a victim: it leaves in a step of its own",
    ),
    Deviation(
        GREEDY,
        "Preemption",
        "some subset of Jeopardy with the least Casualty",
        "where it may help, all lesser pods are taken away, then given back one by one, budget-protected and "
        "important ones first, as long as the preemptor fits; budgets are judged once, as if all were lost",
        "2ⁿ subsets become n trials",
        "pods of 2, 1 and 1 cpu on 4, the oldest the largest; 2 cpu are wanted: the two small ones go",
    ),
    Deviation(
        CRITERIA,
        "Casualty",
        "Casualty counts broken budgets, then pods; the least of all nodes",
        "fewest broken budgets, lowest top priority, lowest sum of priorities, fewest victims, latest start; "
        "then a lot",
        "who is hurt matters more than how many",
        "one victim of priority 1 on n, two of 0 on m: the two go",
    ),
    Deviation(
        NEVER,
        "PreemptionEnabled",
        "every Pod may preempt",
        "a pod with preemptionPolicy Never waits",
        "a place at the front of the queue without harm to others",
        "a full node of a lesser pod, preemptionPolicy Never: nobody goes, the pod waits",
    ),
    Deviation(
        BIND_FAILS,
        "Scheduling",
        "the step sets Spec.NodeName at once",
        "binding is a request beside the cycle and may be refused; the pod then goes back to the queue",
        "the API server has the last word",
        "the API refuses the only binding: the pod is back in the queue",
    ),
)

DEVIATIONS: Final[Mapping[str, Deviation]] = {one.name: one for one in _ALL}
"""By name, in the order of the document's sections."""

AS_WRITTEN: Final[Granted] = frozenset()
"""Nothing granted: the document's formulas."""

TODAY: Final[Granted] = frozenset(DEVIATIONS)
"""Everything granted: what the engine does."""
