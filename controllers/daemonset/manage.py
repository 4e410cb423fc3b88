"""Which of a DaemonSet's pods come and go: one on each node, and a new one for an old one. Pure functions.

Source: `podsShouldBeOnNode` (k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go), `rollingUpdate`
(pkg/controller/daemon/update.go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from controllers.daemonset.placement import Fit, Placement, by_age, is_updated, node_of
from controllers.kit.history import POD_HASH
from controllers.kit.pods import is_available, ready_since_ms
from scheduler_core.api.document import Document, has_ended

ByNode = dict[str, list[Document]]
"""Node → the set's pods that run there or are meant for it."""


@dataclass(slots=True)
class Steps:
    """What is to be done."""

    nodes: list[str] = field(default_factory=list)
    """Nodes that need a pod."""
    pods: list[Document] = field(default_factory=list)
    """Pods that go."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one reconciliation looks at."""

    owner: Document
    nodes: Sequence[Document]
    pods: ByNode
    code: str
    """The hash of the present revision."""
    unix_ms: int
    placement: Placement
    seen: tuple[int, ...] = ()
    """What the copies of pods and nodes, and the clock, were at: while they are there, another look is this one."""
    fits: dict[str, Fit] = field(default_factory=dict)
    """By name of a node, as they are asked for."""

    def fit(self, node: Document) -> Fit:
        """Return what one of the nodes is for the DaemonSet."""
        name = node["metadata"]["name"]
        found = self.fits.get(name)
        if found is None:
            found = self.fits[name] = self.placement.fit(node)
        return found

    def is_available(self, pod: Document) -> bool:
        """Return whether a pod has been ready for long enough."""
        return is_available(pod, self.owner["spec"].get("minReadySeconds", 0), self.unix_ms)


def by_node(pods: Sequence[Document], *, with_ended: bool = False) -> ByNode:
    """Return the pods by node; those that have ended and are on their way out only where they are asked for."""
    found: ByNode = {}
    for pod in pods:
        ended = _is_going(pod) and has_ended(pod)
        name = node_of(pod)
        if name is not None and (with_ended or not ended):
            found.setdefault(name, []).append(pod)
    return found


def surge_and_unavailable(owner: Mapping[str, Any], wanted: int) -> tuple[int, int]:
    """Return (maxSurge, maxUnavailable) in pods; never both 0 where pods are wanted."""
    strategy = owner["spec"].get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate") if strategy.get("type") == "RollingUpdate" else None
    if rolling is None:
        return 0, 0
    surge, unavailable = _scaled(rolling.get("maxSurge", 0), wanted), _scaled(rolling.get("maxUnavailable", 0), wanted)
    if wanted > 0 and surge == unavailable == 0:
        unavailable = 1
    return surge, unavailable


def _scaled(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else -(-int(value.removesuffix("%")) * total // 100)


def allows_surge(owner: Mapping[str, Any]) -> bool:
    """Return whether a node may have a second pod while it is renewed."""
    rolling = (owner["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return _scaled(rolling.get("maxSurge", 0), 1) > 0


def ended_pods(look: Round) -> list[tuple[str, Document]]:
    """Return (node, pod) of the pods that ran to an end on nodes where they ought to run for ever."""
    return [
        (node["metadata"]["name"], pod)
        for node in look.nodes
        if look.fit(node).stays
        for pod in look.pods.get(node["metadata"]["name"], ())
        if not _is_going(pod) and has_ended(pod)
    ]


def placed(look: Round) -> Steps:
    """Return what makes it one pod on each node that fits and none elsewhere; `ended_pods` tells the ended ones."""
    steps = Steps()
    present = {node["metadata"]["name"] for node in look.nodes}
    for node in look.nodes:
        name = node["metadata"]["name"]
        fit = look.fit(node)
        pods = look.pods.get(name)
        if fit.runs and pods is None:
            steps.nodes.append(name)
        elif fit.stays:
            _keep_one(look, name, fit.runs, steps)
        elif pods is not None:
            steps.pods += [pod for pod in pods if not _is_going(pod)]
    for name, pods in look.pods.items():
        if name not in present:
            # Of a node that is gone: nobody will ever bind them, so nobody else deletes them.
            steps.pods += [pod for pod in pods if not pod["spec"].get("nodeName") and not _is_going(pod)]
    return steps


def _keep_one(look: Round, name: str, runs: bool, steps: Steps) -> None:
    """Leave one pod on a node; with surge, an old one that is ready beside a new one that is not yet available."""
    pods = look.pods.get(name, [])
    running = by_age(pod for pod in pods if not _is_going(pod) and not has_ended(pod))
    if not allows_surge(look.owner):
        steps.pods += running[1:]
        return
    if len(running) <= 1:
        if not running and runs:
            steps.nodes.append(name)
        return
    new: Document | None = None
    old: Document | None = None
    for pod in running:
        is_new = (pod["metadata"].get("labels") or {}).get(POD_HASH) == look.code
        if is_new and new is None:
            new = pod
        elif not is_new and old is None:
            old = pod
        else:
            steps.pods.append(pod)
    if new is not None and old is not None and (ready_since_ms(old) is None or look.is_available(new)):
        steps.pods.append(old)


def renewed(look: Round) -> Steps:
    """Return the next step of a rolling update."""
    wanted = [node["metadata"]["name"] for node in look.nodes if look.fit(node).runs]
    surge, unavailable = surge_and_unavailable(look.owner, len(wanted))
    pairs = {name: _new_and_old(look, look.pods.get(name, ())) for name in dict.fromkeys([*look.pods, *wanted])}
    if surge == 0:
        return Steps(pods=_replaced(look, pairs, unavailable))
    return _surged(look, pairs, surge, len(wanted))


Pair = tuple[Document | None, Document | None] | None
"""(new, old) pod of a node; None where it has several of a sort, which `placed` cleans up first."""


def _new_and_old(look: Round, pods: Sequence[Document]) -> Pair:
    living = [pod for pod in pods if not _is_going(pod)]
    new = [pod for pod in living if is_updated(pod, look.owner, look.code)]
    old = [pod for pod in living if not is_updated(pod, look.owner, look.code)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None, old[0] if old else None)


def _replaced(look: Round, pairs: Mapping[str, Pair], most: int) -> list[Document]:
    """Return the old pods that go now: those that are not available, and as many others as may be missing."""
    missing = 0
    allowed: list[Document] = []
    candidates: list[Document] = []
    for pair in pairs.values():
        new, old = pair or (None, None)
        if (new is None) == (old is None):
            missing += 1
        elif new is not None:
            missing += not look.is_available(new)
        elif old is not None and not look.is_available(old):
            allowed.append(old)
            missing += 1
        elif old is not None and missing < most:
            candidates.append(old)
    return allowed + candidates[: max(0, most - missing)]


def _surged(look: Round, pairs: Mapping[str, Pair], most: int, wanted: int) -> Steps:
    """Return the nodes that get a second pod now, and the old pods whose successors are available."""
    fits = {node["metadata"]["name"]: look.fit(node).runs for node in look.nodes}
    steps = Steps()
    candidates: list[str] = []
    leaving: list[Document] = []
    surging = available = 0
    for name, pair in pairs.items():
        if pair is None:
            surging += 1
            continue
        new, old = pair
        first = old or new
        available += first is not None and look.is_available(first)
        if old is None:
            continue
        if new is not None:
            if look.is_available(new):
                steps.pods.append(old)
            else:
                surging += 1
        elif not look.is_available(old):
            if fits.get(name):
                steps.nodes.append(name)
            else:
                steps.pods.append(old)
        elif not fits.get(name):
            leaving.append(old)
        elif surging < most:
            candidates.append(name)
    # Where the nodes change, an old pod goes only when there are enough available ones elsewhere.
    steps.pods += leaving[: max(0, available - wanted)]
    steps.nodes += candidates[: max(0, most - surging)]
    return steps


def _is_going(pod: Document) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _phase(pod: Document) -> str:
    return str((pod.get("status") or {}).get("phase") or "")
