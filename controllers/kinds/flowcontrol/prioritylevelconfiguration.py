"""PriorityLevelConfigurations: how many requests of a level may run at a time. Stored, as FlowSchemas are.

Source: pkg/apis/flowcontrol (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, text_of
from controllers.kinds.flowcontrol import bootstrap
from controllers.kinds.flowcontrol.bootstrap import GROUP, LEVELS
from controllers.kinds.flowcontrol.flowschema import STATUS
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

SHARES_DEFAULT: Final = 30
QUEUES_MAX: Final = 10_000_000
"""Queues of one level, as upstream."""

_HASH_BITS: Final = 60
"""Bits of the hash by which flows are dealt to queues."""

_TYPES: Final = ("Exempt", "Limited")
_RESPONSES: Final = ("Queue", "Reject")
_QUEUING: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    for key, shares in (("exempt", 0), ("limited", SHARES_DEFAULT)):
        if spec.get(key) is not None:
            spec[key].setdefault("nominalConcurrencyShares", shares)
            spec[key].setdefault("lendablePercent", 0)
    queuing = at(spec, "limited", "limitResponse", "queuing")
    if queuing is not None:
        queuing.update({key: queuing.get(key) or number for key, number in _QUEUING.items()})


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec, of = document["spec"], document["spec"].get("type") or ""
    causes: list[Cause] = []
    if (document["metadata"]["name"] == "exempt") != (of == "Exempt"):
        causes.append(fields.bad("spec.type", of, "must be 'Exempt' if and only if `name` is 'exempt'"))
    if of not in _TYPES:
        return [*causes, fields.unsupported("spec.type", of, _TYPES)]
    if of == "Exempt":
        if "limited" in spec:
            causes.append(fields.not_allowed("spec.limited", "must be nil if the type is not Limited"))
        return causes + _shares("spec.exempt", spec.get("exempt") or {})
    if "exempt" in spec:
        causes.append(fields.not_allowed("spec.exempt", "must be nil if the type is Limited"))
    if spec.get("limited") is None:
        return [*causes, fields.required("spec.limited", "must not be empty when type is Limited")]
    causes += _shares("spec.limited", spec["limited"])
    return causes + _response("spec.limited.limitResponse", spec["limited"].get("limitResponse") or {})


def _shares(where: str, level: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    shares, lendable = level.get("nominalConcurrencyShares") or 0, level.get("lendablePercent") or 0
    if shares < 0:
        causes.append(fields.bad(f"{where}.nominalConcurrencyShares", shares, "must be a non-negative integer"))
    if not 0 <= lendable <= 100:
        causes.append(fields.bad(f"{where}.lendablePercent", lendable, "must be between 0 and 100, inclusive"))
    if (level.get("borrowingLimitPercent") or 0) < 0:
        why = "if specified, must be a non-negative integer"
        causes.append(fields.bad(f"{where}.borrowingLimitPercent", level["borrowingLimitPercent"], why))
    return causes


def _response(where: str, response: Mapping[str, Any]) -> list[Cause]:
    of, queuing = response.get("type") or "", response.get("queuing")
    if of not in _RESPONSES:
        return [fields.unsupported(f"{where}.type", of, _RESPONSES)]
    if of == "Reject":
        why = "must be nil if limited.limitResponse.type is not Limited"
        return [] if queuing is None else [fields.not_allowed(f"{where}.queuing", why)]
    if queuing is None:
        why = "must not be empty if limited.limitResponse.type is Limited"
        return [fields.required(f"{where}.queuing", why)]
    causes: list[Cause] = []
    for key in ("queueLengthLimit", "queues", "handSize"):
        if queuing[key] <= 0:
            causes.append(fields.bad(f"{where}.queuing.{key}", queuing[key], "must be positive"))
    if queuing["queues"] > QUEUES_MAX:
        causes.append(
            fields.bad(f"{where}.queuing.queues", queuing["queues"], f"must not be greater than {QUEUES_MAX}")
        )
    return causes + _hand(f"{where}.queuing.handSize", queuing["queues"], queuing["handSize"])


def _hand(where: str, deck: int, hand: int) -> list[Cause]:
    """Check that a hand of queues can be dealt by one hash (RequiredEntropyBits)."""
    if hand <= 0 or deck <= 0:
        return []
    if hand > deck:
        return [fields.bad(where, hand, f"should not be greater than queues ({deck})")]
    if math.ceil(math.log2(deck) * hand) <= _HASH_BITS:
        return []
    dealt = f"required entropy bits of deckSize {deck} and handSize {hand}"
    return [fields.bad(where, hand, f"{dealt} should not be greater than {_HASH_BITS}")]


def _number(name: str, struct: str, field: str, *path: str) -> Column:
    def cell(document: Mapping[str, Any], age: Any) -> Any:
        found = at(document, "spec", "limited", *path, field)
        return NONE if found is None else found

    return Column(name, "string", "Of a limited level.", cell, source=f"flowcontrol_v1.{struct}#{field}")


KIND: Final = Kind(
    "PriorityLevelConfiguration",
    "prioritylevelconfigurations",
    group=GROUP,
    namespaced=False,
    subresources=(STATUS,),
    rank=8,
    generation=True,
    whole_rules=True,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    computed=bootstrap.computed(LEVELS),
    metadata_looks="w",
    columns=(
        NAME,
        Column(
            "Type",
            "string",
            "Limited or exempt.",
            text_of("spec", "type"),
            source="flowcontrol_v1.PriorityLevelConfigurationSpec#type",
        ),
        _number("NominalConcurrencyShares", "LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
        _number("Queues", "QueuingConfiguration", "queues", "limitResponse", "queuing"),
        _number("HandSize", "QueuingConfiguration", "handSize", "limitResponse", "queuing"),
        _number("QueueLengthLimit", "QueuingConfiguration", "queueLengthLimit", "limitResponse", "queuing"),
        AGE,
    ),
)
