"""Functions that upstream adds to the language; lists, sets and quantities stand here.

Source: k8s.io/apiserver/pkg/cel/library (lists.go, quantity.go), cel-go/ext (sets.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from scheduler_core.api.quantity import Amount, QuantityError, nano
from scheduler_core.expressions import addresses, authorizing, named, rewriting, texts, urls, versions
from scheduler_core.expressions.declaring import NO_OVERLOAD, Function, Own, Way, checked, part, running
from scheduler_core.expressions.moments import span

QUANTITY: Final = "kubernetes.Quantity"
_NANO: Final = 10**9
_ORDERED: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ADDED: Final = ("int", "uint", "double", "duration")


def quantity_of(text: str) -> Own:
    """Return a quantity as expressions have it.

    Raises:
        ValueError: it is none; the text is upstream's.
    """
    try:
        return {QUANTITY: str(Amount.read(text))}
    except QuantityError as wrong:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from wrong


def _is_quantity(text: str) -> bool:
    try:
        nano(text)
    except QuantityError:
        return False
    return True


def _nano(one: Own) -> int:
    return nano(part(one, QUANTITY))


def _of_nano(number: int) -> Own:
    return quantity_of(f"{number}n")


def _integer(one: Own) -> int:
    found = _nano(one)
    if found % _NANO or abs(found // _NANO) >= 2**63:
        raise ValueError("cannot convert value to integer")
    return found // _NANO


def _compared(one: Own, other: Own) -> int:
    first, second = _nano(one), _nano(other)
    return (first > second) - (first < second)


def _added(one: Own, other: Any) -> Own:
    return _of_nano(_nano(one) + (other * _NANO if isinstance(other, int) else _nano(other)))


def _taken(one: Own, other: Any) -> Own:
    return _of_nano(_nano(one) - (other * _NANO if isinstance(other, int) else _nano(other)))


def _sum(numbers: Sequence[Any]) -> Any:
    try:
        if numbers and isinstance(numbers[0], timedelta):
            return span(sum(numbers, timedelta()))
        return sum(numbers)
    except TypeError as wrong:
        raise ValueError(NO_OVERLOAD) from wrong


def _extreme(of: Callable[[Sequence[Any]], Any], name: str) -> Callable[[Sequence[Any]], Any]:
    def answer(elements: Sequence[Any]) -> Any:
        if not elements:
            raise ValueError(f"{name} called on empty list")
        try:
            return of(elements)
        except TypeError as wrong:
            raise ValueError(NO_OVERLOAD) from wrong

    return answer


def _contains(all_: Sequence[Any], some: Sequence[Any]) -> bool:
    return all(one in all_ for one in some)


def _of_each(answer: str, kinds: Sequence[str], of: Callable[..., Any]) -> list[Way]:
    """Return a method of lists for each kind of elements; without an answer of its own it gives one of them."""
    return [Way(answer or kind, (f"list<{kind}>",), of, member=True) for kind in kinds]


_PAIR: Final = (QUANTITY, QUANTITY)
_LISTS: Final = ("list<dyn>", "list<dyn>")

FUNCTIONS: Final[tuple[Function, ...]] = (
    Function("quantity", Way(QUANTITY, ("string",), quantity_of)),
    Function("isQuantity", Way("bool", ("string",), _is_quantity)),
    Function("isInteger", Way("bool", (QUANTITY,), lambda one: _nano(one) % _NANO == 0, member=True)),
    Function("asInteger", Way("int", (QUANTITY,), _integer, member=True)),
    Function("asApproximateFloat", Way("double", (QUANTITY,), lambda one: _nano(one) / _NANO, member=True)),
    Function("sign", Way("int", (QUANTITY,), lambda one: (_nano(one) > 0) - (_nano(one) < 0))),
    Function("add", Way(QUANTITY, _PAIR, _added, member=True), Way(QUANTITY, (QUANTITY, "int"), _added, member=True)),
    Function("sub", Way(QUANTITY, _PAIR, _taken, member=True), Way(QUANTITY, (QUANTITY, "int"), _taken, member=True)),
    Function(
        "isGreaterThan", Way("bool", _PAIR, lambda one, other: _compared(one, other) > 0, member=True), versions.GREATER
    ),
    Function(
        "isLessThan", Way("bool", _PAIR, lambda one, other: _compared(one, other) < 0, member=True), versions.LESS
    ),
    Function("compareTo", Way("int", _PAIR, _compared, member=True), versions.COMPARED),
    Function("isSorted", *_of_each("bool", _ORDERED, lambda one: list(one) == sorted(one))),
    Function("sum", *_of_each("", _ADDED, _sum)),
    Function("min", *_of_each("", _ORDERED, _extreme(min, "min"))),
    Function("max", *_of_each("", _ORDERED, _extreme(max, "max"))),
    Function("sets.contains", Way("bool", _LISTS, _contains)),
    Function(
        "sets.equivalent", Way("bool", _LISTS, lambda one, other: _contains(one, other) and _contains(other, one))
    ),
    Function("sets.intersects", Way("bool", _LISTS, lambda one, other: any(each in other for each in one))),
    *texts.FUNCTIONS,
    *urls.FUNCTIONS,
    *addresses.FUNCTIONS,
    *versions.FUNCTIONS,
    *named.FUNCTIONS,
    *authorizing.FUNCTIONS,
    *rewriting.FUNCTIONS,
)
"""What is added to the language."""

CHECKED: Final = checked(FUNCTIONS)
"""As expressions are checked against them."""

RUNNING: Final = running(FUNCTIONS)
"""As they are run."""
