"""Functions that upstream adds to the language: lists, sets, quantities, URLs, addresses.

Source: k8s.io/apiserver/pkg/cel/library (lists.go, quantity.go, urls.go, ip.go, cidr.go), cel-go/ext (sets.go), v1.34.
Values of types of their own (Quantity, URL, IP, CIDR) are maps here that their methods read. Regular expressions that
are looked for (`find`, `findAll`) are not to be had, since what looks for them here could take exponential time, nor
are `indexOf` and `lastIndexOf` of lists, whose names the strings have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from cel_expr_python import cel

from scheduler_core.api.quantity import QuantityError, canonical, nano

_T = cel.Type
_LIST, _OWN = _T("list<dyn>"), _T("map<string,dyn>")
_BOOL, _INT, _TEXT, _DYN, _DOUBLE = _T.BOOL, _T.INT, _T.STRING, _T.DYN, _T.DOUBLE
_Way = tuple[Any, Sequence[Any], bool, Callable[..., Any]]
_NANO: Final = 10**9
_Own = Mapping[str, Any]


def _function(name: str, *ways: _Way) -> cel.FunctionDecl:
    overloads = [
        cel.Overload(f"k8s_{name.replace('.', '_')}_{number}", answer, list(parameters), is_member=member, impl=of)
        for number, (answer, parameters, member, of) in enumerate(ways)
    ]
    return cel.FunctionDecl(name, overloads)


def _quantity(text: str) -> dict[str, str]:
    try:
        return {"quantity": canonical(text)}
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


def _nano(one: _Own) -> int:
    if "quantity" not in one:
        raise ValueError("no such overload")
    return nano(one["quantity"])


def _of_nano(number: int) -> dict[str, str]:
    return _quantity(f"{number}n")


def _integer(one: _Own) -> int:
    found = _nano(one)
    if found % _NANO or abs(found // _NANO) >= 2**63:
        raise ValueError("cannot convert value to integer")
    return found // _NANO


def _compared(one: _Own, other: _Own) -> int:
    first, second = _nano(one), _nano(other)
    return (first > second) - (first < second)


def _added(one: _Own, other: Any) -> dict[str, str]:
    return _of_nano(_nano(one) + (other * _NANO if isinstance(other, int) else _nano(other)))


def _taken(one: _Own, other: Any) -> dict[str, str]:
    return _of_nano(_nano(one) - (other * _NANO if isinstance(other, int) else _nano(other)))


def _sum(numbers: Sequence[Any]) -> Any:
    return sum(numbers)


def _extreme(of: Callable[[Sequence[Any]], Any], name: str) -> Callable[[Sequence[Any]], Any]:
    def answer(elements: Sequence[Any]) -> Any:
        if not elements:
            raise ValueError(f"{name} called on empty list")
        return of(elements)

    return answer


def _contains(all_: Sequence[Any], some: Sequence[Any]) -> bool:
    return all(one in all_ for one in some)


def _url(text: str) -> dict[str, Any]:
    parts = urlsplit(text)
    if not (parts.scheme or text.startswith("/")):
        raise ValueError(f"URL parse error during conversion from string: parse {text!r}: invalid URI for request")
    return {
        "scheme": parts.scheme,
        "host": parts.netloc.rpartition("@")[2],
        "hostname": parts.hostname or "",
        "port": "" if parts.port is None else str(parts.port),
        "path": parts.path,
        "query": parse_qs(parts.query, keep_blank_values=True),
    }


def _readable(read: Callable[[str], Any]) -> Callable[[str], bool]:
    def answer(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return answer


def _part(name: str) -> Callable[[_Own], Any]:
    def answer(one: _Own) -> Any:
        if name not in one:
            raise ValueError("no such overload")
        return one[name]

    return answer


def _ip(text: str) -> dict[str, Any]:
    try:
        found = ip_address(text)
    except ValueError as wrong:
        raise ValueError(f"IP Address {text!r} parse error during conversion from string") from wrong
    return {"ip": str(found), "family": found.version}


def _cidr(text: str) -> dict[str, Any]:
    try:
        found = ip_network(text, strict=False)
    except ValueError as wrong:
        raise ValueError(f"network address parse error during conversion from string: {text!r}") from wrong
    return {"cidr": str(found), "prefixLength": found.prefixlen}


def _holds_ip(one: _Own, other: Any) -> bool:
    return ip_address(other if isinstance(other, str) else other["ip"]) in ip_network(one["cidr"])


def _holds_cidr(one: _Own, other: Any) -> bool:
    inner, outer = ip_network(other if isinstance(other, str) else other["cidr"], strict=False), ip_network(one["cidr"])
    return inner.version == outer.version and inner.subnet_of(outer)  # type: ignore[arg-type]


FUNCTIONS: Final[tuple[cel.FunctionDecl, ...]] = (
    _function("quantity", (_OWN, (_TEXT,), False, _quantity)),
    _function("isQuantity", (_BOOL, (_TEXT,), False, _is_quantity)),
    _function("isInteger", (_BOOL, (_OWN,), True, lambda one: _nano(one) % _NANO == 0)),
    _function("asInteger", (_INT, (_OWN,), True, _integer)),
    _function("asApproximateFloat", (_DOUBLE, (_OWN,), True, lambda one: _nano(one) / _NANO)),
    _function("sign", (_INT, (_OWN,), True, lambda one: (_nano(one) > 0) - (_nano(one) < 0))),
    _function("add", (_OWN, (_OWN, _OWN), True, _added), (_OWN, (_OWN, _INT), True, _added)),
    _function("sub", (_OWN, (_OWN, _OWN), True, _taken), (_OWN, (_OWN, _INT), True, _taken)),
    _function("isGreaterThan", (_BOOL, (_OWN, _OWN), True, lambda one, other: _compared(one, other) > 0)),
    _function("isLessThan", (_BOOL, (_OWN, _OWN), True, lambda one, other: _compared(one, other) < 0)),
    _function("compareTo", (_INT, (_OWN, _OWN), True, _compared)),
    _function("isSorted", (_BOOL, (_LIST,), True, lambda one: list(one) == sorted(one))),
    _function("sum", (_DYN, (_LIST,), True, _sum)),
    _function("min", (_DYN, (_LIST,), True, _extreme(min, "min"))),
    _function("max", (_DYN, (_LIST,), True, _extreme(max, "max"))),
    _function("sets.contains", (_BOOL, (_LIST, _LIST), False, _contains)),
    _function(
        "sets.equivalent",
        (_BOOL, (_LIST, _LIST), False, lambda one, other: _contains(one, other) and _contains(other, one)),
    ),
    _function("sets.intersects", (_BOOL, (_LIST, _LIST), False, lambda one, other: any(each in other for each in one))),
    _function("url", (_OWN, (_TEXT,), False, _url)),
    _function("isURL", (_BOOL, (_TEXT,), False, _readable(_url))),
    _function("getScheme", (_TEXT, (_OWN,), True, _part("scheme"))),
    _function("getHost", (_TEXT, (_OWN,), True, _part("host"))),
    _function("getHostname", (_TEXT, (_OWN,), True, _part("hostname"))),
    _function("getPort", (_TEXT, (_OWN,), True, _part("port"))),
    _function("getEscapedPath", (_TEXT, (_OWN,), True, _part("path"))),
    _function("getQuery", (_OWN, (_OWN,), True, _part("query"))),
    _function("ip", (_OWN, (_TEXT,), False, _ip)),
    _function("isIP", (_BOOL, (_TEXT,), False, _readable(_ip))),
    _function("family", (_INT, (_OWN,), True, _part("family"))),
    _function("cidr", (_OWN, (_TEXT,), False, _cidr)),
    _function("isCIDR", (_BOOL, (_TEXT,), False, _readable(_cidr))),
    _function("prefixLength", (_INT, (_OWN,), True, _part("prefixLength"))),
    _function("containsIP", (_BOOL, (_OWN, _OWN), True, _holds_ip), (_BOOL, (_OWN, _TEXT), True, _holds_ip)),
    _function("containsCIDR", (_BOOL, (_OWN, _OWN), True, _holds_cidr), (_BOOL, (_OWN, _TEXT), True, _holds_cidr)),
)
"""What is added to the language."""
