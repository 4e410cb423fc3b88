"""What a mark says: one sentence in the reader's language, made from the row's document and the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controllers.log.store import ADDED, DELETED, Verb
from scheduler_core.api.document import at

LANGUAGES: Final = ("en", "zh-hans")
"""The page's own."""

_LETTERS_MAX: Final = 240
"""Letters of a text; a longer one is cut."""

SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "added": ("{name} made", "{name} 已创建"),
    "changed": ("{name} changed", "{name} 已更改"),
    "deleted": ("{name} deleted", "{name} 已删除"),
    "ending": ("{name} is told to end", "{name} 收到终止通知"),
    "bound": ("{name} bound to {node}", "{name} 绑定到 {node}"),
    "nominated": ("{name} nominated to {node}", "{name} 被提名到 {node}"),
    "refused": ("{name}: {why}", "{name}：{why}"),
    "phase": ("{name} is {phase}", "{name} 现为 {phase}"),
    "ready": ("{name} is ready", "{name} 已就绪"),
    "unready": ("{name} is not ready", "{name} 未就绪"),
    "cordoned": ("{name} cordoned", "{name} 已停止调度"),
    "uncordoned": ("{name} uncordoned", "{name} 已恢复调度"),
    "tainted": ("{name} has the taints {taints}", "{name} 的污点为 {taints}"),
    "untainted": ("{name} has no taints any more", "{name} 不再有污点"),
    "held": ("{name} held by {who}", "{name} 由 {who} 持有"),
    "free": ("{name} given up", "{name} 已被放弃"),
    "renewed": ("{name} renewed by {who}", "{name} 由 {who} 续约"),
    "scaled": ("{name} scaled from {before} to {after}", "{name} 的副本数从 {before} 改为 {after}"),
    "replicas": ("{name} has {ready} of {wanted} ready", "{name} 就绪 {ready}/{wanted}"),
    "paused": ("time stands still", "时间已暂停"),
    "running": ("time runs at {rate} ×", "时间以 {rate} 倍速运行"),
}

_Said = tuple[str, Mapping[str, Any]]


def text_of(
    language: str, verb: Verb, resource: str, name: str, now: Mapping[str, Any], before: Mapping[str, Any] | None
) -> str:
    """Return the sentence of a row.

    Args:
        language: one of LANGUAGES.
        verb: the row's.
        resource: the row's.
        name: how the object is named, `namespace/name` or `name`.
        now: its document.
        before: the one that it replaced; None where there was none.
    """
    key, values = _said(verb, resource, now, before or {})
    text = SENTENCES[key][LANGUAGES.index(language)].format(name=name, **values)
    return text if len(text) <= _LETTERS_MAX else text[: _LETTERS_MAX - 1] + "…"


def _said(verb: Verb, resource: str, now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    if verb == DELETED:
        return "deleted", {}
    if resource == "leases.coordination.k8s.io":
        return _lease(now, before)
    if verb == ADDED:
        return "added", {}
    if at(now, "metadata", "deletionTimestamp") and not at(before, "metadata", "deletionTimestamp"):
        return "ending", {}
    teller = {"pods": _pod, "nodes": _node, "clocks.clustersim.io": _clock}.get(resource, _workload)
    return teller(now, before)


def _pod(now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    node, nominated = at(now, "spec", "nodeName"), at(now, "status", "nominatedNodeName")
    if node and not at(before, "spec", "nodeName"):
        return "bound", {"node": node}
    if nominated and nominated != at(before, "status", "nominatedNodeName"):
        return "nominated", {"node": nominated}
    phase = at(now, "status", "phase")
    if phase and phase != at(before, "status", "phase"):
        return "phase", {"phase": phase}
    ready = _condition(now, "Ready").get("status")
    if ready and ready != _condition(before, "Ready").get("status"):
        return ("ready" if ready == "True" else "unready"), {}
    scheduled = _condition(now, "PodScheduled")
    if scheduled.get("status") == "False" and scheduled.get("message"):
        return "refused", {"why": scheduled["message"]}
    return "changed", {}


def _node(now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    cordoned = bool(at(now, "spec", "unschedulable"))
    if cordoned != bool(at(before, "spec", "unschedulable")):
        return ("cordoned" if cordoned else "uncordoned"), {}
    ready = _condition(now, "Ready").get("status")
    if ready and ready != _condition(before, "Ready").get("status"):
        return ("ready" if ready == "True" else "unready"), {}
    taints = _taints(at(now, "spec", "taints") or ())
    if taints != _taints(at(before, "spec", "taints") or ()):
        return ("tainted", {"taints": taints}) if taints else ("untainted", {})
    return "changed", {}


def _lease(now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    holder = at(now, "spec", "holderIdentity") or ""
    if not holder:
        return "free", {}
    return ("renewed" if holder == at(before, "spec", "holderIdentity") else "held"), {"who": holder}


def _clock(now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    return ("paused", {}) if at(now, "spec", "paused") else ("running", {"rate": f"{at(now, 'spec', 'rate') or 1:g}"})


def _workload(now: Mapping[str, Any], before: Mapping[str, Any]) -> _Said:
    wanted, formerly = at(now, "spec", "replicas"), at(before, "spec", "replicas")
    if wanted is None:
        return "changed", {}
    if wanted != formerly and formerly is not None:
        return "scaled", {"before": formerly, "after": wanted}
    ready = at(now, "status", "readyReplicas") or 0
    if ready != (at(before, "status", "readyReplicas") or 0):
        return "replicas", {"ready": ready, "wanted": wanted}
    return "changed", {}


def _condition(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    conditions = at(document, "status", "conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == name), {})


def _taints(taints: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{taint.get('key', '')}{'=' + taint['value'] if taint.get('value') else ''}:{taint.get('effect', '')}"
        for taint in taints
    )
