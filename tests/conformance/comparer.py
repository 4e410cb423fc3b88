"""Compares answers with recorded ones, field by field, as strictly as the format asks.

Absent, null and empty are one thing; 1, 1.0 and true are three. Order does not count in `reasons`, `best`, `ties`,
`feasible`, `skip`, `nodeNames` and the score table's nodes; it counts among victims.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Difference = tuple[str, Any, Any]


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, list | dict | str) and not value)


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal under the format's strictness."""
    if _empty(left) and _empty(right):
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return all(same(left.get(key), right.get(key)) for key in left.keys() | right.keys())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _set(value: Any) -> Any:
    return sorted(value, key=lambda one: (str(type(one)), str(one))) if isinstance(value, list) else value


def _status(value: Any) -> Any:
    return {**value, "reasons": _set(value.get("reasons"))} if isinstance(value, dict) else value


def _field(path: str, want: Any, got: Any) -> Iterator[Difference]:
    if not same(want, got):
        yield path, want, got


def _statuses(path: str, want: Any, got: Any) -> Iterator[Difference]:
    want, got = want or {}, got or {}
    for name in sorted(want.keys() | got.keys()):
        yield from _field(f"{path}[{name}]", _status(want.get(name)), _status(got.get(name)))


def _filters(want: dict[str, Any], got: dict[str, Any], skips: bool) -> Iterator[Difference]:
    before, after = want.get("preFilter") or {}, got.get("preFilter") or {}
    for key in sorted(before.keys() | after.keys()):
        if key != "skip" or skips:
            ordered = key not in ("skip", "nodeNames", "reasons")
            pair = (before.get(key), after.get(key)) if ordered else (_set(before.get(key)), _set(after.get(key)))
            yield from _field(f"preFilter.{key}", *pair)
    tables = want.get("filters") or {}, got.get("filters") or {}
    for node in sorted(tables[0].keys() | tables[1].keys()):
        yield from _statuses(f"filters[{node}]", tables[0].get(node), tables[1].get(node))
    yield from _statuses("firstFail", want.get("firstFail"), got.get("firstFail"))
    yield from _field("feasible", _set(want.get("feasible")), _set(got.get("feasible")))
    used = want.get("usedNominatedNode") or False, got.get("usedNominatedNode") or False
    yield from _field("usedNominatedNode", *used)


def _columns(scores: dict[str, Any], only_total: bool) -> dict[tuple[str, str], Any]:
    columns = {"total": scores["total"]}
    if not only_total:
        for plugin, part in (scores.get("plugins") or {}).items():
            columns |= {f"{plugin}.{kind}": part[kind] for kind in ("raw", "normalized", "weighted")}
    nodes = scores["nodes"]
    return {(name, node): value for name, column in columns.items() for node, value in zip(nodes, column, strict=True)}


def _scores(want: Any, got: Any, step: bool, skips: bool) -> Iterator[Difference]:
    if _empty(want) or _empty(got):
        yield from _field("scores", None if _empty(want) else "present", None if _empty(got) else "present")
        return
    if skips:
        yield from _field("scores.skip", _set(want.get("skip")), _set(got.get("skip")))
    yield from _field("scores.nodes", sorted(want["nodes"]), sorted(got["nodes"]))
    left, right = _columns(want, step), _columns(got, step)
    for key in sorted(left.keys() | right.keys()):
        one, other = left.get(key), right.get(key)
        if not skips and None in (one, other):
            # A plugin that one side skips weighs nothing there.
            if key[0].endswith(".weighted"):
                yield from _field(f"scores.{key[0]}[{key[1]}]", one or 0, other or 0)
            continue
        yield from _field(f"scores.{key[0]}[{key[1]}]", one, other)


def _best(want: dict[str, Any], got: dict[str, Any], step: bool) -> Iterator[Difference]:
    yield from _field("best", _set(want.get("best")), _set(got.get("best")))
    if step:
        yield from _field("chosen", want.get("chosen"), got.get("chosen"))
    elif got.get("chosen") and got["chosen"] not in (want.get("best") or []):
        yield "chosen", want.get("best"), got["chosen"]


def _preemption(want: Any, got: Any) -> Iterator[Difference]:
    if not isinstance(want, dict) or not isinstance(got, dict):
        yield from _field("preemption", want, got)
        return
    yield from _field("preemption.code", want.get("code"), got.get("code"))
    for key in ("eligible", "clearsNomination"):
        yield from _field(f"preemption.{key}", want.get(key) or False, got.get(key) or False)
    for key in ("reasons", "ties"):
        yield from _field(f"preemption.{key}", _set(want.get(key)), _set(got.get(key)))
    candidates = want.get("candidates") or {}
    yield from _field("preemption.candidates", candidates, got.get("candidates") or {})
    yield from _statuses("preemption.nodeStatus", want.get("nodeStatus"), got.get("nodeStatus"))
    ties, taken = want.get("ties") or [], got.get("nominatedNode") or ""
    if taken not in ties if ties else taken != (want.get("nominatedNode") or ""):
        yield "preemption.nominatedNode", ties, taken
    victims = (candidates.get(taken) or {}).get("victims")
    yield from _field("preemption.victims", victims, got.get("victims"))


def differences(
    want: dict[str, Any],
    got: dict[str, Any],
    *,
    step: bool = False,
    skips: bool = False,
    messages: bool = True,
    preemption: bool = True,
) -> list[Difference]:
    """Return (path, recorded, answered) of everything that differs.

    Args:
        want: the recorded answer.
        got: ours.
        step: both are steps of a sequence, which hold less.
        skips: whether to compare which plugins were skipped.
        messages: whether to compare the FailedScheduling text.
        preemption: whether to compare what preemption found.
    """
    found = [*_field("result", want.get("result"), got.get("result"))]
    if "steps" in want or "steps" in got:
        pairs = want.get("steps") or [], got.get("steps") or []
        found += _field("steps", len(pairs[0]), len(pairs[1]))
        for index, (one, other) in enumerate(zip(*pairs, strict=False)):
            inner = differences(one, other, step=True, skips=skips, messages=messages, preemption=preemption)
            found += [(f"steps[{index}].{path}", left, right) for path, left, right in inner]
        return found
    found += _field("preEnqueue", _status(want.get("preEnqueue")), _status(got.get("preEnqueue")))
    if step:
        found += _field("pod", want.get("pod"), got.get("pod"))
    found += _filters(want if not step else {**want, "preFilter": None}, got, skips)
    found += _scores(want.get("scores"), got.get("scores"), step, skips)
    found += _best(want, got, step)
    if messages:
        found += _field("fitError", want.get("fitError"), got.get("fitError"))
    if preemption:
        found += _preemption(want.get("preemption"), got.get("preemption"))
    return found
