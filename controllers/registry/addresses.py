"""Rules of IP addresses, as upstream reads and words them.

Source: apimachinery/pkg/util/validation/ip.go, pkg/apis/core/validation (ValidateEndpointIP), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api.errors import Cause

_NOT_AN_ADDRESS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NOT_A_BLOCK: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_NOT_AN_INTERFACE: Final = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
_OCTETS: Final = re.compile(r"\d{1,8}(\.\d{1,8}){3}")
_LOCAL_GROUPS: Final = (IPv4Network("224.0.0.0/24"), IPv6Network("ff02::/16"))


def parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, read as leniently as upstream does (octets may begin with zeros); None: it is none."""
    if _OCTETS.fullmatch(text):
        text = ".".join(str(int(part)) for part in text.split("."))
    if "%" in text:
        return None
    try:
        return ip_address(text)
    except (AddressValueError, ValueError):
        return None


def plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 one may stand for."""
    return getattr(address, "ipv4_mapped", None) or address


def legacy(field: str, text: str) -> list[Cause]:
    """Check an address in a field that is older than the strict rules."""
    return [] if parsed(text) is not None else [fields.bad(field, text, _NOT_AN_ADDRESS)]


def one_a_family(field: str, texts: Sequence[str], said: str, what: str) -> list[Cause]:
    """Check that several addresses (or ranges: `network` reads them) are one of each family.

    Args:
        field: the list.
        texts: its members.
        said: what upstream says in front of why it cannot tell.
        what: `IP` or `CIDR`.
    """
    if len(texts) < 2:
        return []
    read = parsed if what == "IP" else network
    families = [found and found.version for found in map(read, texts)]
    if None in families:
        place = families.index(None)
        why = f"<nil> (invalid CIDR address: {texts[place]})" if what == "CIDR" else texts[place]
        causes = [fields.internal(field, f"{said}:invalid {what}[{place}]: {why}")]
    else:
        causes = []
    if causes or len(texts) > 2 or families[0] == families[1]:
        shown: Any = [{"IP": text} for text in texts] if what == "IP" else list(texts)
        causes.append(fields.bad(field, shown, f"may specify no more than one {what} for each IP family"))
    return causes


def strict(field: str, text: str) -> list[Cause]:
    """Check an address that has to stand there in its canonical form."""
    address = parsed(text)
    if address is None:
        return [fields.bad(field, text, _NOT_AN_ADDRESS)]
    causes = []
    if _OCTETS.fullmatch(text) and text != str(address):
        causes.append(fields.bad(field, text, "must not have leading 0s"))
    if plain(address) is not address:
        causes.append(fields.bad(field, text, "must not be an IPv4-mapped IPv6 address"))
    if not causes and text != str(address):
        causes.append(fields.bad(field, text, f'must be in canonical form ("{address}")'))
    return causes


def interface(field: str, text: str) -> list[Cause]:
    """Check an address with the length of its network's prefix, in canonical form (IsValidInterfaceAddress)."""
    try:
        found = ip_interface(text) if "/" in text else None
    except ValueError:
        found = None
    if found is None:
        return [fields.bad(field, text, _NOT_AN_INTERFACE)]
    return [] if str(found) == text else [fields.bad(field, text, f'must be in canonical form ("{found}")')]


def of_endpoint(field: str, text: str) -> list[Cause]:
    """Check that traffic may be sent to an address."""
    address = parsed(text)
    if address is None:
        return [fields.bad(field, text, "must be a valid IP address")]
    address = plain(address)
    causes = []
    if address.is_unspecified:
        causes.append(fields.bad(field, text, f"may not be unspecified ({text})"))
    if address.is_loopback:
        causes.append(fields.bad(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if address.is_link_local:
        causes.append(fields.bad(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if any(address in group for group in _LOCAL_GROUPS if group.version == address.version):
        why = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        causes.append(fields.bad(field, text, why))
    return causes


def warnings(field: str, text: str) -> list[str]:
    """Return what is told of an address that is accepted, though not in the form that it should have."""
    address = parsed(text)
    if address is None:
        return []
    bare = plain(address)
    if bare is not address or (_OCTETS.fullmatch(text) and text != str(address)):
        why = "will be considered invalid in a future Kubernetes release"
        return [f'{field}: non-standard IP address "{text}" {why}: use "{bare}"']
    if text != str(address):
        return [f'{field}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{address}")']
    return []


def block(field: str, text: str) -> list[Cause]:
    """Check a range of addresses in a field that is older than the strict rules."""
    return [] if network(text) is not None else [fields.bad(field, text, _NOT_A_BLOCK)]


def strict_block(field: str, text: str) -> list[Cause]:
    """Check a range of addresses that has to stand there in its canonical form."""
    found = network(text)
    if found is None:
        return [fields.bad(field, text, _NOT_A_BLOCK)]
    start, _, length = text.partition("/")
    address = parsed(start)
    if (_OCTETS.fullmatch(start) and start != str(address)) or length != str(int(length)):
        return [fields.bad(field, text, "must not have leading 0s in IP or prefix length")]
    if address is not None and plain(address) is not address:
        return [fields.bad(field, text, "must not have an IPv4-mapped IPv6 address")]
    if address != found.network_address:
        return [fields.bad(field, text, "must not have bits set beyond the prefix length")]
    return [] if text == str(found) else [fields.bad(field, text, f'must be in canonical form ("{found}")')]


def network(text: str) -> IPv4Network | IPv6Network | None:
    """Return the range that `10.0.0.0/8` names (bits beyond the prefix are ignored); None: it names none."""
    start, slash, length = text.partition("/")
    address = parsed(start)
    if address is None or not slash or not re.fullmatch(r"\d{1,6}", length, re.ASCII):
        return None
    try:
        return ip_network(f"{address}/{int(length)}", strict=False)
    except ValueError:
        return None


def block_warnings(field: str, text: str) -> list[str]:
    """Return what is told of a range of addresses that is accepted, though not in the form that it should have."""
    found = network(text)
    if found is None:
        return []
    start, _, length = text.partition("/")
    address = parsed(start)
    told = []
    if address is not None and address != found.network_address:
        alone = f"{address}/{found.max_prefixlen}"
        told.append(f'{field}: CIDR value "{text}" is ambiguous in this context (should be "{found}" or "{alone}"?)')
    zeros = length != str(int(length)) or (_OCTETS.fullmatch(start) and start != str(address))
    if address is not None and (plain(address) is not address or zeros):
        why = "will be considered invalid in a future Kubernetes release"
        told.append(f'{field}: non-standard CIDR value "{text}" {why}: use "{found}"')
    if not told and found.version == 6 and text != f"{address}/{length}":
        told.append(f'{field}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{address}/{length}")')
    return told
