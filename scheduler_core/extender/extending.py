"""What one attempt does with extenders: Filter, Score, preemption and Bind.

Source: findNodesThatPassExtenders, prioritizeNodes and extendersBinding (schedule_one.go), callExtenders
(preemption.go) and HTTPExtender (extender.go) of kube-scheduler v1.34. What differs is listed in docs/extenders.md.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from scheduler_core.api.meta import View
from scheduler_core.extender import wire
from scheduler_core.extender.calls import ERROR_CHARS_MAX, Calls, ExtenderCall, Purpose, Record
from scheduler_core.extender.configuration import ExtenderConfiguration
from scheduler_core.framework.asks import Ask, Reply
from scheduler_core.framework.interface import MAX_NODE_SCORE, Listers, Steps
from scheduler_core.framework.scores import PluginScores, Scores
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import PASSED, Codes, FilterOutcome, Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

KEY: Final = "extender/extending"
"""Where CycleState keeps the attempt's `Extending`, for PostFilter plugins."""

REJECTOR: Final = "Extender"
"""What a pod that extenders turned away is said to wait for; every event may help it."""

EXTENDER_SCORE_MAX: Final = 10
"""The best score that an extender gives: MaxExtenderPriority. Totals count it as the best that a plugin gives."""

Victims = Mapping[str, tuple[Sequence[PodInfo], int]]
"""Node → (pods that would go, how many of them break a budget)."""


class Extending:
    """Calls the extenders of one attempt and takes their answers into account."""

    def __init__(
        self,
        extenders: Sequence[ExtenderConfiguration],
        listers: Listers,
        recorded: list[Record],
        score_max: int = MAX_NODE_SCORE,
    ) -> None:
        """Begin an attempt.

        Args:
            extenders: in the order in which they are called.
            listers: has the whole Pod and Node objects; where it lacks one, what the scheduler reads of it is sent.
            recorded: answers of an earlier run of this attempt, not asked for again; new ones are put behind.
            score_max: what the era's plugins give the best node.
        """
        self.extenders = extenders
        self.accounts: list[dict[str, Any]] = []
        """What came of each call, for `explanation.extenders`."""
        self._listers = listers
        self._calls = Calls(recorded)
        self._scale = score_max // EXTENDER_SCORE_MAX

    # Filter.

    def filter(self, pod: PodInfo, outcome: FilterOutcome) -> Steps:
        """Let extenders take nodes out of those that the filters passed, each seeing what the ones before it left.

        Returns success, or the error of an extender that is not ignorable.
        """
        rows = outcome.feasible.tolist()
        for extender in self.extenders:
            if not rows:
                break
            if not extender.filter_verb or not extender.is_interested(pod):
                continue
            names = [outcome.snapshot.names[row] for row in rows]
            call = self._about_nodes(extender, "filter", extender.filter_verb, pod, outcome.snapshot, rows)
            (record,) = yield from self._calls.ask([call])
            account = self._note(call, record, len(names))
            answer = record.get("answer")
            given = set(names)
            unknown = [] if answer is None else [name for name in answer["nodes"] or () if name not in given]
            if answer is None or unknown:
                text = record.get("error") or (
                    f'extender "{extender.url_prefix}" claims a filtered node "{unknown[0]}" '
                    "which is not found in the input node list"
                )
                account |= {"error": text[:ERROR_CHARS_MAX], "ignored": extender.ignorable}
                if extender.ignorable:
                    continue
                return error(text[:ERROR_CHARS_MAX])
            rows = _take_out(outcome, extender.name, rows, answer)
            account |= {
                "nodesOut": len(rows),
                "failedNodes": answer["failedNodes"],
                "failedAndUnresolvableNodes": answer["failedAndUnresolvableNodes"],
            }
        return SUCCESS

    # Score.

    def prioritize(self, pod: PodInfo, snapshot: Snapshot, scores: Scores) -> Generator[Ask, Reply, None]:
        """Add the extenders' scores to the totals; all extenders are asked at the same time, errors are passed over."""
        asked = [one for one in self.extenders if one.prioritize_verb and one.is_interested(pod)]
        if not asked:
            return
        rows = scores.rows.tolist()
        calls = [
            self._about_nodes(extender, "prioritize", extender.prioritize_verb, pod, snapshot, rows)
            for extender in asked
        ]
        records = yield from self._calls.ask(calls)
        place = {snapshot.names[row]: index for index, row in enumerate(rows)}
        parts: dict[str, PluginScores] = {}
        for call, record in zip(calls, records, strict=True):
            account = self._note(call, record, len(rows))
            if "error" in record:
                account["ignored"] = True
                continue
            raw = np.zeros(len(rows), dtype=np.int64)
            for name, score in record["answer"]["scores"]:
                if name in place:
                    raw[place[name]] += score
            scaled = raw * self._scale
            parts[call.extender.name] = PluginScores(raw, scaled, scaled * call.extender.weight)
            account["nodesOut"] = len(record["answer"]["scores"])
        for part in parts.values():
            scores.total = scores.total + part.weighted
        plugins = scores.detail
        scores.detail = lambda: {**plugins(), **parts}

    # Preemption.

    def may_veto(self, pod: PodInfo) -> bool:
        """Return whether an extender is to be asked about preemption for this pod."""
        return any(one.preempt_verb and one.is_interested(pod) for one in self.extenders)

    def preempt(
        self, pod: PodInfo, victims: Victims, snapshot: Snapshot
    ) -> Generator[Ask, Reply, tuple[Victims, Mapping[str, str], Status]]:
        """Let extenders take candidates out or choose other victims, each seeing what the ones before it left.

        Returns:
            The candidates left, node → extender for those taken out, and success or the error of an extender that is
            not ignorable.
        """
        removed: dict[str, str] = {}
        for extender in self.extenders:
            if not victims:
                break
            if not extender.preempt_verb or not extender.is_interested(pod):
                continue
            body = wire.preemption_args(
                self._pod(pod),
                {node: ([self._pod(one) for one in pods], broken) for node, (pods, broken) in victims.items()},
                names_only=extender.node_cache_capable,
            )
            call = ExtenderCall(extender, "preempt", extender.url(extender.preempt_verb), body)
            (record,) = yield from self._calls.ask([call])
            account = self._note(call, record, len(victims))
            left, text = ({}, record["error"]) if "error" in record else _read_victims(extender, record, snapshot)
            if text:
                account |= {"error": text[:ERROR_CHARS_MAX], "ignored": extender.ignorable}
                if extender.ignorable:
                    continue
                return victims, removed, error(text[:ERROR_CHARS_MAX])
            removed |= {node: extender.name for node in victims if node not in left}
            account["nodesOut"] = len(left)
            victims = left
        return victims, removed, SUCCESS

    # Bind.

    def bind(self, pod: PodInfo, node_name: str) -> Steps:
        """Let the first interested binder bind the pod; Skip: the bind plugins shall."""
        for extender in self.extenders:
            if not extender.bind_verb or not extender.is_interested(pod):
                continue
            body = wire.binding_args(pod.pod.namespace, pod.pod.name, pod.uid, node_name)
            call = ExtenderCall(extender, "bind", extender.url(extender.bind_verb), body)
            (record,) = yield from self._calls.ask([call])
            account = self._note(call, record, 1)
            if "error" not in record:
                account["nodesOut"] = 1
                return SUCCESS
            account["ignored"] = extender.ignorable
            if not extender.ignorable:
                return error(record["error"])
        return SKIP

    # Afterwards.

    def rejectors(self, failed: frozenset[str]) -> frozenset[str]:
        """Return the plugins that turned nodes away, extenders by the one name that every event wakes."""
        names = {extender.name for extender in self.extenders}
        return (failed - names) | {REJECTOR} if failed & names else failed

    # Inside.

    def _about_nodes(
        self,
        extender: ExtenderConfiguration,
        purpose: Purpose,
        verb: str,
        pod: PodInfo,
        snapshot: Snapshot,
        rows: Sequence[int],
    ) -> ExtenderCall:
        names_only = extender.node_cache_capable
        nodes = [] if names_only else [self._node(snapshot.infos[row]) for row in rows]
        names = [snapshot.names[row] for row in rows]
        body = wire.nodes_and_pod(self._pod(pod), nodes, names, names_only=names_only)
        return ExtenderCall(extender, purpose, extender.url(verb), body)

    def _pod(self, pod: PodInfo) -> Mapping[str, Any]:
        found = self._listers.get("pods", pod.pod.namespace, pod.pod.name)
        if found is None or found["metadata"].get("uid") != pod.uid:
            return _shown(pod.pod)
        node_name = pod.pod.spec.node_name
        if node_name and not found["spec"].get("nodeName"):
            # Assumed there: the API does not know it yet.
            return {**found, "spec": {**found["spec"], "nodeName": node_name}}
        return found

    def _node(self, info: NodeInfo) -> Mapping[str, Any]:
        found = self._listers.get("nodes", "", info.name)
        if found is not None:
            return found
        assert info.node is not None, "a snapshot's rows are nodes"
        return _shown(info.node)

    def _note(self, call: ExtenderCall, record: Record, nodes: int) -> dict[str, Any]:
        account: dict[str, Any] = {
            "extender": call.extender.name,
            "verb": call.purpose,
            "url": call.url,
            "durationMs": record["durationMs"],
            "nodesIn": nodes,
        }
        if "error" in record:
            account["error"] = record["error"]
        self.accounts.append(account)
        return account


def _shown(value: View) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(value)
    return shown


def _take_out(outcome: FilterOutcome, name: str, rows: Sequence[int], answer: Mapping[str, Any]) -> list[int]:
    """Write an extender's verdicts into the outcome, as those of one more filter; return the rows left."""
    snapshot = outcome.snapshot
    left = set(answer["nodes"] or ())
    statuses = {node: unschedulable(reason) for node, reason in answer["failedNodes"].items()}
    statuses |= {node: unresolvable(reason) for node, reason in answer["failedAndUnresolvableNodes"].items()}
    codes: Codes = np.zeros(len(snapshot), dtype=np.int8)
    # A node that is neither left nor given a reason is absent for upstream: no reason of its own, and no use in
    # preemption.
    reasons: list[tuple[str, ...]] = [outcome.absent_status.reasons]
    keys = np.zeros(len(snapshot), dtype=np.int64)
    asked = set(rows)
    for row in rows:
        if snapshot.names[row] not in left:
            codes[row] = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            outcome.first[row] = len(outcome.plugins)
    for node, status in statuses.items():
        known = snapshot.row_of.get(node)
        if known is None:
            continue
        if known not in asked or node in left:
            # Its word replaces what others said of the node, should nobody let it through.
            outcome.overrides[known] = status.by(name)
            continue
        codes[known], keys[known] = status.code, len(reasons)
        reasons.append(status.reasons)
        outcome.overrides.pop(known, None)
    outcome.verdicts = {**outcome.verdicts, name: Verdicts(codes, keys, reasons.__getitem__)}
    outcome.plugins = (*outcome.plugins, name)
    outcome.work_out_anew()
    return [row for row in rows if outcome.first[row] == PASSED]


def _read_victims(
    extender: ExtenderConfiguration, record: Record, snapshot: Snapshot
) -> tuple[dict[str, tuple[Sequence[PodInfo], int]], str]:
    """Return node → (victims, violations) as an extender wants it, and what is wrong with that."""
    found: dict[str, tuple[Sequence[PodInfo], int]] = {}
    for node, wanted in record["answer"]["nodes"].items():
        row = snapshot.row_of.get(node)
        if row is None:
            return {}, f'nodeinfo not found for node name "{node}"'
        on_node = {info.uid: info for info in snapshot.infos[row].pods}
        for uid in wanted["pods"]:
            if uid not in on_node:
                return {}, (
                    f"extender: {extender.url_prefix} claims to preempt pod (UID: {uid}) on node: {node}, "
                    "but the pod is not found on that node"
                )
        if wanted["pods"]:
            found[node] = ([on_node[uid] for uid in wanted["pods"]], wanted["numPDBViolations"])
        elif not extender.ignorable:
            return {}, f'expected at least one victim pod on node "{node}"'
    return found, ""
