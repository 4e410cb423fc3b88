"""Single changes that might let a pod in, found from who refused which node; the engine has the last word.

A sort of change looks at the nodes that nothing else refuses. Each yields wishes; a wish's `size` orders those of its
sort, the smallest first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controllers.whatif.deciding import Decision
from controllers.whatif.world import World
from scheduler_core.api.node import Node, Taint
from scheduler_core.api.quantity import Amount
from scheduler_core.api.requests import is_scalar
from scheduler_core.api.selectors import SelectorRequirement
from scheduler_core.api.taints import NO_SCHEDULE_EFFECTS, tolerated
from scheduler_core.scheduler.run import CycleInput
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo

Change = Mapping[str, Any]

RESOURCES: Final = "NodeResourcesFit"
TAINTS: Final = "TaintToleration"
AFFINITY: Final = "NodeAffinity"
CORDON: Final = "NodeUnschedulable"

CROWDED: Final = frozenset({RESOURCES, "NodePorts", "InterPodAffinity", "PodTopologySpread", "NodeVolumeLimits",
                            "VolumeRestrictions"})  # fmt: skip
"""Plugins whose refusal may end when a pod of the node goes."""

OF_CONDITIONS: Final = "node.kubernetes.io/"
"""Begins the keys of the taints that the node life cycle puts on a node for what its kubelet says, or does not."""

HOSTNAME: Final = "kubernetes.io/hostname"
CPU: Final = "cpu"
MILLI: Final = 1_000
"""Millicores of one core."""
PODS: Final = "pods"
_CORDONED: Final = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Wish:
    """One change, or two that only make sense together.

    Attributes:
        changes: as `POST …/whatif` takes them.
        text: what to do, by language.
        size: orders the wishes of one sort.
    """

    changes: Sequence[Change]
    text: Mapping[str, str]
    size: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """A pod that found no node, and who refused which.

    Attributes:
        pod: the pod in hand.
        nodes: by name, with the pods on them.
        refusals: node → the plugins that refuse it, whatever the ones before them said.
        shortages: node → resource → `asked`, `free` and `missing`, in millicores or whole units, where it has too
            little; `pods` where it has no place for one more.
        devices: node → the requests for devices that are short there, as docs/trace.md tells them.
        world: everything that the attempt saw.
    """

    pod: PodInfo
    nodes: Mapping[str, NodeInfo]
    refusals: Mapping[str, frozenset[str]]
    shortages: Mapping[str, Mapping[str, Mapping[str, Any]]]
    devices: Mapping[str, Sequence[Mapping[str, Any]]]
    world: World

    @classmethod
    def of(cls, decision: Decision, world: World, result: Mapping[str, Any]) -> Stuck:
        """Return what is known of an attempt that found no node."""
        given = CycleInput.of(dict(decision.envelope["input"]))
        snapshot = world.seen.snapshot(given)
        refused = result.get("filters") or {}
        details = {
            name: [one for said in found for one in said["details"]] for name, found in decision.refusals(world).items()
        }
        shortages = {
            name: {one["resource"]: one for one in found if one["kind"] == "resource"}
            for name, found in details.items()
        }
        devices = {name: [one for one in found if one["kind"] == "devices"] for name, found in details.items()}
        return cls(
            world.seen.pods[decision.envelope["uid"]],
            {info.name: info for info in snapshot.infos if info.node is not None},
            {info.name: frozenset(refused.get(info.name) or ()) for info in snapshot.infos},
            shortages,
            devices,
            world,
        )

    def refused_by(self, plugins: Collection[str]) -> Iterator[tuple[NodeInfo, Node]]:
        """Yield the nodes that these plugins, and no others, refuse."""
        for name, info in self.nodes.items():
            if self.refusals[name] and self.refusals[name] <= set(plugins) and info.node is not None:
                yield info, info.node

    def short_of(self, name: str) -> dict[str, int]:
        """Return by resource how much a node has too little; `pods` where it has no place for one more."""
        return {resource: one["missing"] for resource, one in self.shortages.get(name, {}).items()}

    def patched(self, patch: Change) -> Change:
        """Return the change of the pod in hand."""
        pod = self.pod.pod
        return {"patch": {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "patch": patch}}


def written(resource: str, amount: int) -> str:
    """Return an amount (millicores, or whole units) as a quantity."""
    if resource == CPU:
        return str(Amount.read(f"{amount}m"))
    if is_scalar(resource) or resource == PODS:
        return str(amount)
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if amount and amount % size == 0:
            return f"{amount // size}{unit}"
    return str(amount)


def amount_told(resource: str, amount: int) -> str:
    """Return an amount as people read it everywhere: of CPU millicores below one core, cores from there on."""
    if resource != CPU or amount < MILLI:
        return written(resource, amount)
    whole, part = divmod(amount, MILLI)
    return f"{whole}.{part:03}".rstrip("0").rstrip(".")


def listed(amounts: Mapping[str, int]) -> str:
    """Return amounts by resource as people read them."""
    return ", ".join(f"{resource} {amount_told(resource, amount)}" for resource, amount in sorted(amounts.items()))


def _node_patch(name: str, patch: Change) -> Change:
    return {"patch": {"kind": "Node", "name": name, "patch": patch}}


def requests(stuck: Stuck) -> Iterator[Wish]:
    """Ask for no more than a node has left."""
    asked = stuck.pod.sums.asked
    for info, _ in stuck.refused_by({RESOURCES}):
        short = stuck.short_of(info.name)
        left = {resource: asked[resource] - amount for resource, amount in short.items() if resource != PODS}
        if PODS in short or not left or min(left.values()) <= 0:
            continue
        given_up = sum(short[resource] / asked[resource] for resource in left)
        instead = {resource: asked[resource] for resource in left}
        yield Wish(
            [{"request": {resource: written(resource, amount) for resource, amount in left.items()}}],
            {
                "en": f"ask for {listed(left)} instead of {listed(instead)}",
                "zh": f"请求 {listed(left)}，而不是 {listed(instead)}",
            },
            (given_up, info.name),
        )


def tolerations(stuck: Stuck) -> Iterator[Wish]:
    """Tolerate the taints of a node."""
    spec = stuck.pod.pod.spec
    for info, node in stuck.refused_by({TAINTS}):
        unwanted = untolerated(stuck, node)
        if any(taint.key.startswith(OF_CONDITIONS) for taint in unwanted):
            # What a condition of the node put there ends with the condition.
            continue
        held = [_toleration(one.key, one.operator, one.value, one.effect, one.toleration_seconds)
                for one in spec.tolerations]  # fmt: skip
        more = [_toleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)
                for taint in unwanted]  # fmt: skip
        named = taints_named(unwanted)
        yield Wish(
            [stuck.patched({"spec": {"tolerations": [*held, *more]}})],
            {"en": f"tolerate {named}, as {info.name} has it", "zh": f"容忍节点 {info.name} 的污点 {named}"},
            (len(unwanted), info.name),
        )


def labels(stuck: Stuck) -> Iterator[Wish]:
    """Give a node the labels that the pod asks for."""
    for info, node in stuck.refused_by({AFFINITY}):
        wanted = labels_wanted(stuck, node)
        if not wanted:
            continue
        named = ", ".join(f"{key}={value}" if value is not None else f"{key}-" for key, value in sorted(wanted.items()))
        yield Wish(
            [_node_patch(info.name, {"metadata": {"labels": wanted}})],
            {"en": f"label node {info.name} with {named}", "zh": f"给节点 {info.name} 打上标签 {named}"},
            (len(wanted), info.name),
        )


def labels_wanted(stuck: Stuck, node: Node) -> dict[str, str | None] | None:
    """Return the fewest labels that a node needs for the pod, None where none helps; one of None is to go."""
    has = node.metadata.labels
    selected = stuck.pod.pod.spec.node_selector
    wanted = _labels_of_terms(stuck, {**has, **selected})
    if wanted is None:
        return None
    return {**{key: value for key, value in selected.items() if has.get(key) != value}, **wanted}


def _labels_of_terms(stuck: Stuck, has: Mapping[str, str]) -> dict[str, str | None] | None:
    """Return the fewest labels that make the pod's required affinity true, None where no label does."""
    affinity = stuck.pod.pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    if required is None:
        return {}
    terms = [_missing(term.match_expressions, has) for term in required.node_selector_terms if not term.match_fields]
    possible = [term for term in terms if term is not None]
    return min(possible, key=lambda term: len(term)) if possible else None


def uncordoned(stuck: Stuck) -> Iterator[Wish]:
    """Uncordon a node."""
    for info, node in stuck.refused_by({CORDON, TAINTS}):
        others = [taint for taint in node.spec.taints if taint.key != _CORDONED]
        if CORDON not in stuck.refusals[info.name] or any(taint.key != _CORDONED for taint in untolerated(stuck, node)):
            continue
        patch: dict[str, Any] = {"unschedulable": None}
        if len(others) != len(node.spec.taints):
            patch["taints"] = [taint_written(taint) for taint in others] or None
        yield Wish(
            [_node_patch(info.name, {"spec": patch})],
            {"en": f"uncordon node {info.name}", "zh": f"恢复节点 {info.name} 的调度（uncordon）"},
            (info.name,),
        )


def taints_gone(stuck: Stuck) -> Iterator[Wish]:
    """Take the taints off a node."""
    for info, node in stuck.refused_by({TAINTS}):
        unwanted = untolerated(stuck, node)
        if any(taint.key.startswith(OF_CONDITIONS) for taint in unwanted):
            # What a condition of the node put there ends with the condition.
            continue
        kept = [taint_written(taint) for taint in node.spec.taints if taint not in unwanted]
        named = taints_named(unwanted)
        yield Wish(
            [_node_patch(info.name, {"spec": {"taints": kept or None}})],
            {"en": f"take {named} off node {info.name}", "zh": f"去掉节点 {info.name} 的污点 {named}"},
            (len(unwanted), info.name),
        )


def room(stuck: Stuck) -> Iterator[Wish]:
    """Give a node as much more as it has too little."""
    for info, _ in stuck.refused_by({RESOURCES}):
        short = stuck.short_of(info.name)
        if not short:
            continue
        grown = {resource: info.allocatable.get(resource, 0) + amount for resource, amount in short.items()}
        amounts = {resource: written(resource, amount) for resource, amount in grown.items()}
        share = sum(amount / max(grown[resource], 1) for resource, amount in short.items())
        yield Wish(
            [_node_patch(info.name, {"status": {"allocatable": amounts, "capacity": amounts}})],
            {
                "en": f"give node {info.name} {listed(short)} more",
                "zh": f"给节点 {info.name} 再加 {listed(short)}",
            },
            (share, info.name),
        )


def pods_gone(stuck: Stuck) -> Iterator[Wish]:
    """Delete one pod."""
    for info, _ in stuck.refused_by(CROWDED):
        short = stuck.short_of(info.name)
        for one in info.pods:
            if any(one.requests.get(resource, 0) < amount for resource, amount in short.items() if resource != PODS):
                continue
            pod = one.pod
            yield Wish(
                [{"remove": {"kind": "Pod", "namespace": pod.namespace, "name": pod.name}}],
                {
                    "en": f"delete pod {one.key} from node {info.name} (priority {one.priority})",
                    "zh": f"删除节点 {info.name} 上的 Pod {one.key}（优先级 {one.priority}）",
                },
                (one.priority, one.requests.get(CPU, 0), one.requests.get("memory", 0), one.key),
            )


def untolerated(stuck: Stuck, node: Node) -> set[Taint]:
    """Return the taints of a node that keep the pod away."""
    return {
        taint
        for taint in node.spec.taints
        if taint.effect in NO_SCHEDULE_EFFECTS and not tolerated(stuck.pod.pod.spec.tolerations, taint)
    }


def _toleration(key: str, operator: str, value: str, effect: str, seconds: int | None = None) -> dict[str, Any]:
    held = {"key": key, "operator": operator, "value": value, "effect": effect, "tolerationSeconds": seconds}
    return {name: part for name, part in held.items() if part not in ("", None)}


def taint_written(taint: Taint) -> dict[str, str]:
    """Return a taint as a document."""
    return {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}


def taints_named(taints: Collection[Taint]) -> str:
    """Return taints as kubectl writes them, in order."""
    return ", ".join(
        sorted(f"{one.key}={one.value}:{one.effect}" if one.value else f"{one.key}:{one.effect}" for one in taints)
    )


def _missing(expressions: Sequence[SelectorRequirement], has: Mapping[str, str]) -> dict[str, str | None] | None:
    """Return the labels that make a term true, None where no label can; a label of None is to be taken away."""
    wanted: dict[str, str | None] = {}
    for one in expressions:
        value = has.get(one.key)
        match one.operator:
            case "In":
                if value not in one.values:
                    wanted[one.key] = one.values[0] if one.values else None
            case "Exists":
                if value is None:
                    wanted[one.key] = "true"
            case "NotIn":
                if value in one.values:
                    wanted[one.key] = None
            case "DoesNotExist":
                if value is not None:
                    wanted[one.key] = None
            case _:
                bound = int(one.values[0]) if one.values and one.values[0].lstrip("-").isdecimal() else None
                if bound is None:
                    return None
                wanted[one.key] = str(bound + 1 if one.operator == "Gt" else bound - 1)
    return wanted
