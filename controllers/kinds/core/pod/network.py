"""Rules of a pod's names and name servers.

Source: pkg/apis/core/validation (validatePodDNSConfig, ValidateHostAliases), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import addresses, fields
from scheduler_core.api.errors import Cause

SERVERS_MAX: Final = 3
SEARCHES_MAX: Final = 32
SEARCH_LETTERS_MAX: Final = 2048


def dns(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check spec.dnsConfig of a pod spec at `field`."""
    where, config = f"{field}.dnsConfig", spec.get("dnsConfig")
    servers: Sequence[str] = (config or {}).get("nameservers") or ()
    if spec.get("dnsPolicy") == "None" and config is None:
        return [fields.required(where, "must provide `dnsConfig` when `dnsPolicy` is None")]
    if spec.get("dnsPolicy") == "None" and not servers:
        why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        return [fields.required(f"{where}.nameservers", why)]
    causes: list[Cause] = []
    if len(servers) > SERVERS_MAX:
        why = f"must not have more than {SERVERS_MAX} nameservers"
        causes.append(fields.bad(f"{where}.nameservers", servers, why))
    for index, server in enumerate(servers):
        causes += addresses.legacy(f"{where}.nameservers[{index}]", server)
    searches: Sequence[str] = (config or {}).get("searches") or ()
    if len(searches) > SEARCHES_MAX:
        causes.append(fields.bad(f"{where}.searches", searches, f"must not have more than {SEARCHES_MAX} search paths"))
    if len(" ".join(searches)) > SEARCH_LETTERS_MAX:
        why = f"must not have more than {SEARCH_LETTERS_MAX} characters (including spaces) in the search list"
        causes.append(fields.bad(f"{where}.searches", searches, why))
    for index, search in enumerate(searches):
        if search != ".":
            causes += fields.search_domain(f"{where}.searches[{index}]", search.removesuffix("."))
    for index, option in enumerate((config or {}).get("options") or ()):
        if not option.get("name"):
            causes.append(fields.required(f"{where}.options[{index}]", "must not be empty"))
    return causes


def host_aliases(field: str, aliases: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check names that a pod's hosts file has besides its own."""
    causes: list[Cause] = []
    for index, alias in enumerate(aliases):
        causes += addresses.legacy(f"{field}[{index}].ip", alias.get("ip") or "")
        for position, name in enumerate(alias.get("hostnames") or ()):
            causes += fields.subdomain(f"{field}[{index}].hostnames[{position}]", name)
    return causes
