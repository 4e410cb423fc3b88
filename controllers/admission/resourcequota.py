"""ResourceQuota: what is made is charged to the quotas of its namespace, in the transaction that stores it.

Source: k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go. Nothing comes between reading a quota and
writing it here, so there are no retries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.quota.evaluator import Evaluator, counted_for, evaluator_of
from controllers.quota.usage import NONE, Usage, add, equal, only, raise_to, read, subtract, written
from controllers.registry.admission import Attempt, Charge, Plugin, Verb
from controllers.registry.kind import Kind

QUOTAS: Final = "resourcequotas"


def _watches(verb: Verb, kind: Kind, subresource: str) -> bool:
    evaluator = evaluator_of(kind.stored_resource)
    may_move = evaluator.moves is not None and (verb, subresource) == ("update", "")
    charged = kind.namespaced and ((verb, subresource) in evaluator.charged or may_move)
    return charged or _is_count(verb, kind, subresource)


def _is_count(verb: Verb, kind: Kind, subresource: str) -> bool:
    """Return whether a write says what a quota's namespace uses."""
    return kind.resource == QUOTAS and (verb, subresource) == ("update", "status")


def _count_anew(attempt: Attempt) -> str:
    """Let a quota's status say at least what is there, where it begins to limit it or says less than before.

    Whoever wrote it may have counted before others came: those that it did not limit by then changed no quota, so it
    is no conflict.
    """
    assert attempt.old is not None, "an update has a state before"
    quota, status = attempt.document, attempt.document.get("status") or {}
    before = attempt.old.get("status") or {}
    told, known = read(status.get("used")), only(read(before.get("used")), before.get("hard") or ())
    names = [name for name in status.get("hard") or () if name in told]
    names = [name for name in names if name not in known or told[name].nano < known[name].nano]
    used = dict(told)
    for resource in counted_for(names):
        evaluator = evaluator_of(resource)
        raise_to(used, _counted(attempt, evaluator, quota, resource, evaluator.matching(names)))
    if used == told:
        return ""
    quota["status"] = {**status, "used": written(used)}
    return "counted anew"


def _charge(attempt: Attempt) -> Sequence[Charge]:
    if _is_count(attempt.verb, attempt.kind, attempt.subresource):
        return ()
    quotas = attempt.lookup.list(QUOTAS, attempt.namespace)
    if not quotas:
        return ()
    evaluator = evaluator_of(attempt.kind.stored_resource)
    if (attempt.verb, attempt.part) not in evaluator.charged and not _moves(attempt, evaluator):
        return ()
    concerned = [quota for quota in quotas if evaluator.concerns(quota, attempt.document)]
    for quota in concerned:
        _check_counted(attempt, evaluator, quota)
    if not concerned:
        return ()
    usage = evaluator.usage(attempt.document, attempt.context.unix_ms)
    negative = sorted(name for name, amount in usage.items() if amount.nano < 0)
    if negative:
        raise attempt.refuse(f"quota usage is negative for resource(s): {','.join(negative)}")
    before = None if attempt.old is None else evaluator.usage(attempt.old, attempt.context.unix_ms)
    charges = []
    for quota in concerned:
        delta = usage
        if attempt.old is not None and before is not None and evaluator.concerns(quota, attempt.old):
            delta = _more(usage, before)
        paid = _pay(attempt, evaluator, quota, {name: amount for name, amount in delta.items() if amount.nano})
        if paid is not None:
            charges.append(Charge(QUOTAS, paid))
    return charges


def _moves(attempt: Attempt, evaluator: Evaluator) -> bool:
    return attempt.old is not None and evaluator.moves is not None and evaluator.moves(attempt.document, attempt.old)


def _check_counted(attempt: Attempt, evaluator: Evaluator, quota: Mapping[str, Any]) -> None:
    status, name = quota.get("status") or {}, quota["metadata"]["name"]
    restricted = evaluator.matching(status.get("hard") or {})
    missing = evaluator.missing(restricted, attempt.document)
    if missing:
        raise attempt.refuse(f"failed quota: {name}: {missing}")
    if not set(restricted) <= (status.get("used") or {}).keys():
        listed = ",".join(sorted(restricted))
        raise attempt.refuse(f"status unknown for quota: {name}, resources: {listed}")


def _more(usage: Usage, before: Usage) -> Usage:
    """Return by how much an object counts for more than before; what it counts for less is given back later."""
    return {name: amount if amount.nano > 0 else NONE for name, amount in subtract(usage, before).items()}


def _pay(attempt: Attempt, evaluator: Evaluator, quota: Mapping[str, Any], delta: Usage) -> dict[str, Any] | None:
    """Return a quota with what is asked for in it; None where that is nothing.

    Raises:
        ApiError: 403, it is more than is left.
    """
    status = quota["status"]
    hard, used = read(status["hard"]), read(status.get("used"))
    requested = only(delta, hard)
    total = add(used, requested)
    exceeded = _beyond(total, hard, requested)
    if exceeded:
        # What was given back may not have been recounted yet: upstream's controller does it within milliseconds.
        total = {
            **total,
            **add(
                _counted(attempt, evaluator, quota, attempt.kind.stored_resource, exceeded), only(requested, exceeded)
            ),
        }
        exceeded = _beyond(total, hard, requested)
    if exceeded and attempt.subresource != "status":
        raise attempt.refuse(
            f"exceeded quota: {quota['metadata']['name']}, requested: {_told(requested, exceeded)}, "
            f"used: {_told(used, exceeded)}, limited: {_told(hard, exceeded)}"
        )
    if equal(total, used):
        return None
    return {**quota, "status": {**status, "used": written(total)}}


def _beyond(total: Usage, hard: Usage, requested: Usage) -> list[str]:
    return sorted(name for name in requested if total[name].nano > hard[name].nano)


def _counted(
    attempt: Attempt, evaluator: Evaluator, quota: Mapping[str, Any], resource: str, names: list[str]
) -> Usage:
    """Return what the objects that are there count for, under these names; the one that changes as it was."""
    there = attempt.lookup.list(resource, attempt.namespace)
    if not evaluator.matching((quota.get("status") or {}).get("hard") or {}):
        there = ()
    return evaluator.total(quota, there, names, attempt.context.unix_ms)


def _told(amounts: Usage, names: list[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names if name in amounts)


PLUGIN: Final = Plugin(
    "ResourceQuota",
    "Charges what is made to the quotas of its namespace, and refuses what is beyond them.",
    watches=_watches,
    mutate=_count_anew,
    mutates=_is_count,
    charge=_charge,
    rules=QUOTAS,
)
