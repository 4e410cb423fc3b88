"""IP addresses and networks in expressions.

Source: k8s.io/apiserver/pkg/cel/library (ip.go, cidr.go), v1.34; what is no address is told in the words of Go's
net/netip, which reads texts more strictly than most: no zeros in front, no IPv4 address inside an IPv6 one, no zone.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface, ip_network
from typing import Any, Final

from scheduler_core.expressions.declaring import Function, Own, Way, part

IP: Final = "net.IP"
CIDR: Final = "net.CIDR"
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_GROUPS: Final = 8


class _WrongError(ValueError):
    """Why Go's netip.ParseAddr refuses a text: what, and where."""

    def __init__(self, text: str, why: str, at: str = "") -> None:
        where = f' (at "{at}")' if at else ""
        super().__init__(f'ParseAddr("{text}"): {why}{where}')


def _read(text: str) -> IPv4Address | IPv6Address:
    """Return an address, as netip.ParseAddr."""
    for letter in text:
        if letter == ".":
            _check_v4(text, text)
            return ip_address(text)
        if letter == ":":
            return _v6(text)
        if letter == "%":
            raise _WrongError(text, "missing IPv6 address")
    raise _WrongError(text, "unable to parse IP")


def _check_v4(whole: str, text: str) -> None:
    fields = digits = value = 0
    for place, letter in enumerate(text):
        if letter.isascii() and letter.isdigit():
            if digits == 1 and value == 0:
                raise _WrongError(whole, "IPv4 field has octet with leading zero")
            value = value * 10 + int(letter)
            digits += 1
            if value > 255:
                raise _WrongError(whole, "IPv4 field has value >255")
        elif letter == ".":
            if not digits or place == len(text) - 1:
                raise _WrongError(whole, "IPv4 field must have at least one digit", text[place:])
            if fields == 3:
                raise _WrongError(whole, "IPv4 address too long")
            fields, digits, value = fields + 1, 0, 0
        else:
            raise _WrongError(whole, "unexpected character", text[place:])
    if fields < 3:
        raise _WrongError(whole, "IPv4 address too short")


def _v6(whole: str) -> IPv6Address:
    text, percent, zone = whole.partition("%")
    if percent and not zone:
        raise _WrongError(whole, "zone must be a non-empty string")
    rest, groups, gap = text, 0, False
    if rest.startswith("::"):
        gap, rest = True, rest[2:]
    while rest and groups < _GROUPS:
        length = next((place for place, letter in enumerate(rest) if letter not in _HEX), len(rest))
        if length > 4:
            raise _WrongError(whole, "each group must have 4 or less digits", rest)
        if not length:
            raise _WrongError(whole, "each colon-separated field must have at least one digit", rest)
        if rest[length : length + 1] == ".":
            if groups > _GROUPS - 2 or (not gap and groups != _GROUPS - 2):
                raise _WrongError(whole, "embedded IPv4 address must replace the final 2 fields of the address", rest)
            _check_v4(whole, rest)
            groups, rest = groups + 2, ""
            break
        groups, rest = groups + 1, rest[length:]
        if not rest:
            break
        if rest[0] != ":":
            raise _WrongError(whole, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _WrongError(whole, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest.startswith(":"):
            if gap:
                raise _WrongError(whole, "multiple :: in address", rest)
            gap, rest = True, rest[1:]
    if rest:
        raise _WrongError(whole, "trailing garbage after address", rest)
    if groups < _GROUPS and not gap:
        raise _WrongError(whole, "address string too short")
    if groups == _GROUPS and gap:
        raise _WrongError(whole, "the :: must expand to at least one field of zeros")
    return IPv6Address(whole)


def _written(one: IPv4Address | IPv6Address) -> str:
    return str(one)


def _ip(text: str) -> Own:
    try:
        found = _read(text)
    except ValueError as wrong:
        raise ValueError(f'IP Address "{text}" parse error during conversion from string: {wrong}') from wrong
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            raise ValueError(f'IP address "{text}" with zone value is not allowed')
        if found.ipv4_mapped is not None:
            raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return {IP: _written(found)}


def _cidr(text: str) -> Own:
    prefix = "network address parse error during conversion from string: "
    address, slash, bits = text.rpartition("/")
    wrong = f'{prefix}{prefix}netip.ParsePrefix("{text}"): '
    if not slash:
        raise ValueError(f"{wrong}no '/'")
    try:
        found = _read(address)
    except ValueError as error:
        raise ValueError(f"{wrong}{error}") from error
    if "%" in address:
        raise ValueError(f"{wrong}IPv6 zones cannot be present in a prefix")
    if not (bits.isascii() and bits.isdigit()) or (len(bits) > 1 and bits[0] == "0") or len(bits) > 9:
        raise ValueError(f'{wrong}bad bits after slash: "{bits}"')
    if int(bits) > found.max_prefixlen:
        raise ValueError(f"{wrong}prefix length out of range")
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        raise ValueError(f'{prefix}IPv4-mapped IPv6 address "{text}" is not allowed')
    return {CIDR: f"{_written(found)}/{bits}"}


def _is(read: Any) -> Any:
    def answer(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return answer


def _inside(outer: Own, inner: Own) -> bool:
    network = ip_network(part(outer, CIDR), strict=False)
    return ip_address(part(inner, IP)) in network


def _inside_text(outer: Own, inner: str) -> bool:
    try:
        return _inside(outer, _ip(inner))
    except ValueError as wrong:
        raise ValueError("no such overload") from wrong


def _holds(outer: Own, inner: Own) -> bool:
    large, small = ip_network(part(outer, CIDR), strict=False), ip_network(part(inner, CIDR), strict=False)
    return large.version == small.version and small.subnet_of(large)  # type: ignore[arg-type]


def _holds_text(outer: Own, inner: str) -> bool:
    try:
        return _holds(outer, _cidr(inner))
    except ValueError as wrong:
        raise ValueError("no such overload") from wrong


def _about(question: Any) -> Any:
    return lambda one: question(ip_address(part(one, IP)))


def _linklocal_multicast(one: IPv4Address | IPv6Address) -> bool:
    if isinstance(one, IPv4Address):
        return str(one).startswith("224.0.0.")
    return one.packed[0] == 0xFF and one.packed[1] & 0x0F == 0x02


def _global(one: IPv4Address | IPv6Address) -> bool:
    """As Go: what is no broadcast, unspecified, loopback, multicast or link-local address; private ones are global."""
    if str(one) == "255.255.255.255":
        return False
    return not (one.is_unspecified or one.is_loopback or one.is_multicast or one.is_link_local)


FUNCTIONS: Final = (
    Function(
        "ip",
        Way(IP, ("string",), _ip),
        Way(IP, (CIDR,), lambda one: {IP: part(one, CIDR).partition("/")[0]}, member=True),
    ),
    Function("isIP", Way("bool", ("string",), _is(_ip))),
    Function("ip.isCanonical", Way("bool", ("string",), lambda text: part(_ip(text), IP) == text)),
    Function("family", Way("int", (IP,), _about(lambda one: one.version), member=True)),
    Function("isUnspecified", Way("bool", (IP,), _about(lambda one: one.is_unspecified), member=True)),
    Function("isLoopback", Way("bool", (IP,), _about(lambda one: one.is_loopback), member=True)),
    Function("isLinkLocalMulticast", Way("bool", (IP,), _about(_linklocal_multicast), member=True)),
    Function("isLinkLocalUnicast", Way("bool", (IP,), _about(lambda one: one.is_link_local), member=True)),
    Function("isGlobalUnicast", Way("bool", (IP,), _about(_global), member=True)),
    Function("cidr", Way(CIDR, ("string",), _cidr)),
    Function("isCIDR", Way("bool", ("string",), _is(_cidr))),
    Function(
        "masked",
        Way(CIDR, (CIDR,), lambda one: {CIDR: str(ip_interface(part(one, CIDR)).network)}, member=True),
    ),
    Function("prefixLength", Way("int", (CIDR,), lambda one: int(part(one, CIDR).partition("/")[2]), member=True)),
    Function(
        "containsIP",
        Way("bool", (CIDR, IP), _inside, member=True),
        Way("bool", (CIDR, "string"), _inside_text, member=True),
    ),
    Function(
        "containsCIDR",
        Way("bool", (CIDR, CIDR), _holds, member=True),
        Way("bool", (CIDR, "string"), _holds_text, member=True),
    ),
)
