"""Filter 1.5: affinity to nodes, to pods and against pods, as formulas; and Viability, section 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.api.node import Node
from scheduler_core.api.selectors import NodeSelectorTerm, SelectorRequirement, compile_term, parse_int64
from scheduler_core.model.deviations import (
    AS_WRITTEN,
    EMPTY_TERM,
    FIRST_OF_KIND,
    MATCH_FIELDS,
    MUTUAL,
    ONE_FOR_ALL,
    UNREADABLE,
    Granted,
)
from scheduler_core.model.objects import Objects
from scheduler_core.snapshot.affinity_terms import AffinityTerm
from scheduler_core.snapshot.node_info import PodInfo


def match_requirement(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    """Return Match_NS for one NodeSelectorRequirement.

    "In" ⟶ Key ∈ DOMAIN(Node.Labels) ∧ Node.Labels[Key] ∈ Value
    "NotIn" ⟶ ¬ (Key ∈ DOMAIN(Node.Labels) ∧ Node.Labels[Key] ∈ Value)
    "Exists" ⟶ Key ∈ DOMAIN(Node.Labels)
    "DoesNotExist" ⟶ ¬ (Key ∈ DOMAIN(Node.Labels))
    "Gt" ∧ ∀ Value : Value ∈ Int ⟶ Key ∈ DOMAIN(Node.Labels) ∧ Node.Labels[Key] ∈ Int ∧ Node.Labels[Key] > Max(Value)
    "Lt" ∧ ∀ Value : Value ∈ Int ⟶ Key ∈ DOMAIN(Node.Labels) ∧ Node.Labels[Key] ∈ Int ∧ Node.Labels[Key] < Min(Value)

    No case that applies is FALSE.
    """
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return not (value is not None and value in requirement.values)
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            limits = [parse_int64(text) for text in requirement.values]
            whole = [limit for limit in limits if limit is not None]
            number = None if value is None else parse_int64(value)
            if not whole or len(whole) < len(limits) or number is None:
                return False
            return number > max(whole) if requirement.operator == "Gt" else number < min(whole)
        case _:
            return False


def match_term(term: NodeSelectorTerm, node: Node, granted: Granted = AS_WRITTEN) -> bool:
    """Return Match_NS for one NodeSelectorTerm: ∀ NodeSelectorRequirement ∈ NodeSelectorTerm : Match_NS(…, Node)."""
    compiled = compile_term(term)
    if EMPTY_TERM in granted and compiled.empty:
        return False
    if UNREADABLE in granted and compiled.errors:
        return False
    if MATCH_FIELDS in granted and not all((node.name == name) is equal for equal, name in compiled.names):
        return False
    return all(match_requirement(one, node.metadata.labels) for one in term.match_expressions)


def node_affinity(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return the first clause of filter 1.5; it holds for a pod that requires nothing.

    ∃ NodeSelectorTerm ∈ Pod.Spec.Affinity.NodeAffinity.Required.NodeSelectorTerms : Match_NS(NodeSelectorTerm, Node)
    """
    affinity = pod.pod.spec.affinity
    if affinity is None or affinity.node_affinity is None or affinity.node_affinity.required is None:
        return True
    return any(match_term(term, node, granted) for term in affinity.node_affinity.required.node_selector_terms)


def _means(terms: Sequence[AffinityTerm], other: PodInfo, objects: Objects) -> bool:
    namespace = other.pod.namespace
    labels, theirs = other.pod.metadata.labels, objects.namespaces.get(namespace, {})
    return all(term.matches(namespace, labels, theirs) for term in terms)


def _one_place(key: str, node: Node, other: Node) -> bool:
    value = node.metadata.labels.get(key)
    return value is not None and other.metadata.labels.get(key) == value


def p_affinity(term: AffinityTerm, node: Node, objects: Objects, also: Sequence[AffinityTerm] = ()) -> bool:
    """Return P_Affinity, which the document uses and does not write out.

    P_Affinity(Term, Node) ≝ ∃ Other, Place ∈ Objects : BoundTo(Other, Place, Objects) ∧ Term means Other
    ∧ Place.Labels[Term.TopologyKey] = Node.Labels[Term.TopologyKey]

    Args:
        term: the term.
        node: the node.
        objects: the snapshot.
        also: further terms that must mean the same Other.
    """
    return any(
        _one_place(term.topology_key, node, place) and _means((term, *also), other, objects)
        for other, place in objects.placed
    )


def pod_affinity(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return the second clause of filter 1.5.

    ∀ PodAffinityTerm ∈ Pod.Spec.Affinity.PodAffinity.Required : P_Affinity(PodAffinityTerm, Node)
    """
    if UNREADABLE in granted and pod.terms.error:
        return False
    terms = pod.terms.affinity
    also = terms if ONE_FOR_ALL in granted else ()
    if all(p_affinity(term, node, objects, also) for term in terms):
        return True
    if FIRST_OF_KIND not in granted or not _means(terms, pod, objects):
        return False
    anybody = any(
        term.topology_key in place.metadata.labels and _means((term, *also), other, objects)
        for other, place in objects.placed
        for term in terms
    )
    return not anybody and all(term.topology_key in node.metadata.labels for term in terms)


def pod_anti_affinity(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return the third clause of filter 1.5.

    ∀ PodAffinityTerm ∈ Pod.Spec.Affinity.AntiPodAffinity.Required : ¬ P_Affinity(PodAffinityTerm, Node)
    """
    if any(p_affinity(term, node, objects) for term in pod.terms.anti_affinity):
        return False
    if MUTUAL not in granted:
        return True
    return not any(
        _one_place(term.topology_key, node, place) and _means((term,), pod, objects)
        for other, place in objects.placed
        for term in other.terms.anti_affinity
    )


def is_concerned(pod: PodInfo, objects: Objects) -> bool:
    """Return whether required terms concern the pod at all: its own, or anti-affinity of a bound pod that means it.

    Where they do not, the engine's filter is skipped for the whole attempt.
    """
    return bool(pod.terms.affinity or pod.terms.anti_affinity) or any(
        term.topology_key in place.metadata.labels and _means((term,), pod, objects)
        for other, place in objects.placed
        for term in other.terms.anti_affinity
    )


def viability(pod: PodInfo, node: Node, objects: Objects) -> int:
    """Return Viability, section 2: the sum of the weights of matched terms.

    Viability(Pod, Node) ≝ Sum({w : Match_NS(Term, Node)}) over preferred node terms
    + Sum({w : P_Affinity(Term, Node)}) over preferred pod affinity terms
    + Sum({w : P_Affinity(Term, Node)}) over preferred pod anti-affinity terms: added, as the document has it
    """
    affinity = pod.pod.spec.affinity
    liked = affinity.node_affinity.preferred if affinity is not None and affinity.node_affinity is not None else ()
    return sum(one.weight for one in liked if match_term(one.preference, node)) + sum(
        weight for weight, term in (*pod.terms.preferred, *pod.terms.preferred_anti) if p_affinity(term, node, objects)
    )
