"""Eviction as a part of the kubelets: when a node is looked at, what is written of it, and which pod has to go.

A node is looked at where it or a pod of it tells what it uses, and every `EVERY_MS` as long as there is too little of
something; an idle cluster is not looked at at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from controllers.flags.flag import InForce
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.flags.thresholds import Amount
from controllers.kinds.metrics.usage import tells_usage
from controllers.kit.informer import Lister
from controllers.kubelet.containers import merged_conditions
from controllers.kubelet.evicting import Threshold, Verdict, Watch, grace_seconds, thresholds
from controllers.kubelet.home import Going
from controllers.kubelet.machine import Machine
from controllers.kubelet.pressure import (
    ASKED_SHARE,
    OUT_OF_DISK,
    asked,
    changes,
    observed,
    pressed_conditions,
    resource_of,
    victim,
    why,
)
from controllers.log.operations import Patch
from controllers.loop.loop import Tick
from scheduler_core.api.document import Document

EVERY_MS: Final = 10_000
"""A node looks again after this long (the eviction manager's monitoring interval); one pod goes at a time."""


class Relief:
    """What kubelets do about nodes that run out of something."""

    def __init__(self, flags: InForce, nodes: Lister, pods: Lister, go: Callable[[Document, Going], None]) -> None:
        """Begin with empty memory. `go` lets a pod go."""
        self._flags, self._nodes, self._pods, self._go = flags, nodes, pods, go
        self._watches: dict[str, Watch] = {}
        self._looks: dict[str, None] = {}

    def node_changed(self, old: Document | None, new: Document | None) -> None:
        """Look at a node that tells what it uses, or told so until now."""
        if new is None:
            if old is not None:
                self._watches.pop(old["metadata"]["name"], None)
            return
        told = _told(new, self._flags[ANNOTATION_PREFIX])
        if told != (old is not None and _told(old, self._flags[ANNOTATION_PREFIX])) or (told and old is not None):
            self._looks[new["metadata"]["name"]] = None

    def pod_changed(self, old: Document | None, new: Document | None) -> None:
        """Look at the node of a pod that tells what it uses."""
        pod = new or old
        if pod is not None and (tells_usage(pod) or (old is not None and tells_usage(old))):
            name = pod["spec"].get("nodeName")
            if name:
                self._looks[name] = None

    def flags_changed(self) -> None:
        """Look at all nodes: other thresholds count."""
        self._looks |= {node["metadata"]["name"]: None for node in self._nodes.all()}

    def plan(self, tick: Tick) -> None:
        """Plan looks at nodes of which something has changed."""
        looks, self._looks = self._looks, {}
        for name in looks:
            tick.plan(("look", name), tick.now_ms)

    def look(self, node: Document, machine: Machine, tick: Tick) -> None:
        """Look at a node: tell its conditions, and let one pod go where there is too little."""
        name, unix_ms = machine.name, tick.epoch_ms + tick.now_ms
        short = asked(node, self._flags[ANNOTATION_PREFIX])
        wanted = list(thresholds(self._flags))
        if short and short != OUT_OF_DISK and not any(one.signal == short for one in wanted):
            wanted.append(Threshold(short, ASKED_SHARE, Amount(), 0, hard=True))
        pods = self._pods.indexed("node", name)
        seen = observed(node, pods, wanted, short, unix_ms)
        watch = self._watches.setdefault(name, Watch())
        verdict = watch.look(wanted, self._flags, seen, tick.now_ms)
        self._tell(node, machine, verdict, short, tick)
        if verdict.over:
            del self._watches[name]
            return
        tick.plan(("look", name), tick.now_ms + EVERY_MS)
        threshold = verdict.acts if tick.now_ms >= watch.next_ms else None
        pod = victim(pods, threshold, unix_ms) if threshold is not None else None
        if threshold is not None and pod is not None:
            text = f"Attempting to reclaim {resource_of(threshold)}"
            machine.recorder.event(tick, node, "Node", "EvictionThresholdMet", text, event_type="Warning")
            text = why(pod, threshold, seen[threshold.signal], unix_ms)
            seconds = grace_seconds(self._flags, threshold, pod["spec"].get("terminationGracePeriodSeconds"))
            self._go(pod, Going("Evicted", text, seconds, told=True))
            watch.next_ms = tick.now_ms + EVERY_MS

    def _tell(self, node: Document, machine: Machine, verdict: Verdict, short: str, tick: Tick) -> None:
        """Write the conditions that are to change."""
        pressed = verdict.pressed | ({OUT_OF_DISK} if short == OUT_OF_DISK else frozenset())
        tell(node, machine, changes(node, pressed), tick)


def tell(node: Document, machine: Machine, changed: list[tuple[Document, str]], tick: Tick) -> None:
    """Write conditions of a node, each with its event."""
    if not changed:
        return
    known = (node.get("status") or {}).get("conditions") or ()
    fresh = {
        one["type"]: one for one in merged_conditions(known, [one for one, _ in changed], tick.epoch_ms + tick.now_ms)
    }
    status: dict[str, Any] = {"status": {"conditions": [fresh.get(one["type"], one) for one in known]}}
    tick.emit(Patch("nodes", "", machine.name, status, "merge", "status"), actor=machine.actor)
    for _, reason in changed:
        text = f"Node {machine.name} status is now: {reason}"
        machine.recorder.event(tick, node, "Node", reason, text)


def _told(node: Document, prefix: str) -> bool:
    return bool(tells_usage(node) or asked(node, prefix) or pressed_conditions(node))
