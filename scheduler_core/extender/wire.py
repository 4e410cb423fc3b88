"""What goes over the wire: upstream's types k8s.io/kube-scheduler/extender/v1, written and read.

Upstream's Go types have no JSON names, so members are spelt as the fields are (`Pod`, `NodeNames`); answers are read as
Go reads them, in any spelling of upper and lower case. An answer is kept as what the scheduler makes of it, without the
Node objects:

    filter      {nodes: [name] | null, failedNodes: {name: reason}, failedAndUnresolvableNodes: {name: reason}}
    prioritize  {scores: [[name, score]]}
    preempt     {nodes: {name: {pods: [uid], numPDBViolations}}}
    bind        {}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from scheduler_core.api.document import FrozenDocument
from scheduler_core.extender.calls import ExtenderCall, HttpAnswer, Purpose, Record, failed

OK: Final = 200

REASON_CHARS_MAX: Final = 1_024
"""Characters of a reason that an extender gives for a node; the rest is cut."""

RECORD_BYTES_MAX: Final = 1_048_576
"""Bytes of what is kept of one answer; one that says more counts as a failure of its extender."""

SCORE_ABS_MAX: Final = 1_000_000
"""Largest score, and smallest with a minus, that is taken from an extender, so that no total overflows; its range is 0
to 10, but upstream does not insist."""


def nodes_and_pod(
    pod: FrozenDocument, nodes: Sequence[FrozenDocument], names: Sequence[str], *, names_only: bool
) -> dict[str, Any]:
    """Return ExtenderArgs."""
    return {
        "Pod": pod,
        "Nodes": None if names_only else {"metadata": {}, "items": list(nodes)},
        "NodeNames": list(names) if names_only else None,
    }


def preemption_args(
    pod: FrozenDocument, victims: Mapping[str, tuple[Sequence[FrozenDocument], int]], *, names_only: bool
) -> dict[str, Any]:
    """Return ExtenderPreemptionArgs; `victims` is node → (pods, how many of them break a budget)."""
    whole = {node: {"Pods": list(pods), "NumPDBViolations": violations} for node, (pods, violations) in victims.items()}
    if not names_only:
        return {"Pod": pod, "NodeNameToVictims": whole, "NodeNameToMetaVictims": None}
    meta = {
        node: {"Pods": [{"UID": one["metadata"]["uid"]} for one in pods], "NumPDBViolations": violations}
        for node, (pods, violations) in victims.items()
    }
    return {"Pod": pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": meta}


def binding_args(namespace: str, name: str, uid: str, node: str) -> dict[str, Any]:
    """Return ExtenderBindingArgs."""
    return {"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node}


def encode(call: ExtenderCall) -> bytes:
    """Return the body of a call."""
    return msgspec.json.encode(call.body)


def read(call: ExtenderCall, answer: HttpAnswer) -> Record:
    """Return the record of a call: what came, as the scheduler understands it, or why it is of no use."""
    if answer.error:
        return failed(call, answer.error, answer.duration_ms)
    if answer.status != OK:
        verb = call.url.removeprefix(call.extender.url(""))
        text = f"failed {verb} with extender at URL {call.url}, code {answer.status}"
        return failed(call, text, answer.duration_ms)
    try:
        found = _READ[call.purpose](call, msgspec.json.decode(answer.body))
    except (msgspec.DecodeError, RecursionError) as wrong:
        return failed(call, f"the answer of {call.url} is no JSON: {wrong}", answer.duration_ms)
    except _Refused as wrong:
        return failed(call, str(wrong), answer.duration_ms)
    except _Misshapen as wrong:
        return failed(call, f"the answer of {call.url} cannot be read: {wrong}", answer.duration_ms)
    size = len(msgspec.json.encode(found))
    if size > RECORD_BYTES_MAX:
        text = f"the answer of {call.url} comes to {size} bytes; an answer may say {RECORD_BYTES_MAX}"
        return failed(call, text, answer.duration_ms)
    return {
        "extender": call.extender.name,
        "verb": call.purpose,
        "durationMs": round(answer.duration_ms, 3),
        "answer": found,
    }


class _Misshapen(Exception):
    """The answer has another shape; the text names the place."""


class _Refused(Exception):
    """The extender itself says that it failed, in these words."""


def _member(document: Any, name: str, of: type, place: str = "") -> Any:
    """Return a member in any spelling of its name, the exact one first; None where it is absent or null."""
    if not isinstance(document, Mapping):
        raise _Misshapen(f"{place or 'it'} must be an object")
    value = document.get(name)
    if value is None:
        lower = name.lower()
        value = next((one for key, one in document.items() if key.lower() == lower and one is not None), None)
    if value is not None and (not isinstance(value, of) or (of is int and isinstance(value, bool))):
        raise _Misshapen(f"{place}{name} must be {_SAID[of]}")
    return value


_SAID: Final = {dict: "an object", list: "a list", str: "a text", int: "an integer"}


def _reasons(document: Any, name: str) -> dict[str, str]:
    reasons = _member(document, name, dict) or {}
    if not all(isinstance(reason, str) for reason in reasons.values()):
        raise _Misshapen(f"{name} must hold texts")
    return {node: reason[:REASON_CHARS_MAX] for node, reason in reasons.items()}


def _filtered(call: ExtenderCall, document: Any) -> dict[str, Any]:
    refusal = _member(document, "Error", str)
    if refusal:
        raise _Refused(refusal)
    names: list[str] | None = None
    listed = _member(document, "NodeNames", list)
    whole = _member(document, "Nodes", dict)
    if call.extender.node_cache_capable and listed is not None:
        names = listed
    elif whole is not None:
        names = [
            _member(_member(item, "metadata", dict, "Nodes.items."), "name", str, "Nodes.items.metadata.")
            for item in _member(whole, "items", list, "Nodes.") or ()
        ]
    if names is not None and not all(isinstance(name, str) for name in names):
        raise _Misshapen("the names of nodes must be texts")
    return {
        "nodes": names,
        "failedNodes": _reasons(document, "FailedNodes"),
        "failedAndUnresolvableNodes": _reasons(document, "FailedAndUnresolvableNodes"),
    }


def _scored(call: ExtenderCall, document: Any) -> dict[str, Any]:
    if document is not None and not isinstance(document, list):
        raise _Misshapen("it must be a list of hosts with scores")
    scores: list[list[Any]] = []
    for item in document or ():
        score = _member(item, "Score", int) or 0
        if abs(score) > SCORE_ABS_MAX:
            raise _Misshapen(f"a score must be within ±{SCORE_ABS_MAX}")
        scores.append([_member(item, "Host", str) or "", score])
    return {"scores": scores}


def _preempted(call: ExtenderCall, document: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for name, victims in (_member(document, "NodeNameToMetaVictims", dict) or {}).items():
        pods = [] if victims is None else _member(victims, "Pods", list, f"{name}.") or []
        nodes[name] = {
            "pods": [_member(pod, "UID", str, f"{name}.Pods.") or "" for pod in pods],
            "numPDBViolations": 0 if victims is None else _member(victims, "NumPDBViolations", int) or 0,
        }
    return {"nodes": nodes}


def _bound(call: ExtenderCall, document: Any) -> dict[str, Any]:
    refusal = _member(document, "Error", str)
    if refusal:
        raise _Refused(refusal)
    return {}


_READ: Final[Mapping[Purpose, Callable[[ExtenderCall, Any], dict[str, Any]]]] = {
    "filter": _filtered,
    "prioritize": _scored,
    "preempt": _preempted,
    "bind": _bound,
}
