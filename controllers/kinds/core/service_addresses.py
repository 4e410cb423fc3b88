"""What Services are given: cluster addresses and node ports, from the upper part of each range first.

Source: k8s.io/kubernetes/pkg/registry/core/service (storage/alloc.go, ipallocator, portallocator).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Final

from controllers.registry import addresses, fields
from scheduler_core.api.document import Document, at
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError, Cause

CLUSTER_RANGE: Final = IPv4Network("10.96.0.0/16")
"""Where cluster addresses come from; 65,534 Services in a session."""

API_SERVICE_ADDRESS: Final = "10.96.0.1"
"""The first address of the range of Services is the API server's own."""

DNS_ADDRESS: Final = "10.96.0.10"
"""Of the cluster's name service, also where no Service stands for it."""

API_SERVER_ADDRESS: Final = "192.168.255.254"
"""Where the API server is, on the network of the nodes."""

NODE_PORTS: Final = range(30000, 32768)

FIXED_ADDRESSES: Final = 256
"""Addresses at the lower end of the range that are given only when they are asked for, or when all others are taken."""

FIXED_PORTS: Final = 86
"""The same of node ports."""

_WITH_PORTS: Final = ("LoadBalancer", "NodePort")


def families(spec: Document) -> list[Cause]:
    """Fill in which kinds of address a Service has; this cluster has IPv4 alone."""
    headless = spec.get("clusterIP") == "None"
    free = headless and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if free else "SingleStack")
    first = addresses.parsed((spec.get("clusterIPs") or [""])[0])
    if "ipFamilies" not in spec and first is not None and addresses.plain(first).version == 6:
        why = "IPv6 is not configured on this cluster"
        return [fields.bad("spec.clusterIPs[0]", spec["clusterIPs"], why)]
    listed: list[str] = spec.setdefault("ipFamilies", ["IPv4"])
    if spec["ipFamilyPolicy"] == "SingleStack":
        told = (("cluster IPs", spec.get("clusterIPs") or ()), ("IP families", listed))
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
        many = [what for what, values in told if len(values) > 1]
        if many:
            return [fields.bad("spec.ipFamilyPolicy", "SingleStack", why.format(what)) for what in many]
    if free:
        if len(listed) == 1 and spec["ipFamilyPolicy"] != "SingleStack":
            spec["ipFamilies"] = [*listed, "IPv6" if listed[0] == "IPv4" else "IPv4"]
        return []
    causes: list[Cause] = []
    if spec["ipFamilyPolicy"] == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        causes.append(fields.bad("spec.ipFamilyPolicy", "RequireDualStack", why))
    for index, family in enumerate(listed):
        if family == "IPv6":
            causes.append(fields.bad(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    return causes


def allocate(spec: Document, uid: str, others: Sequence[Mapping[str, Any]], *, new: bool, dry_run: bool) -> list[Cause]:
    """Give a Service what it lacks.

    Args:
        spec: is filled in.
        uid: chance is drawn from it: where the search begins; a change adds the version that it changes.
        others: all other Services.
        new: it is made, and no two of its own ports may ask for one number.
        dry_run: nothing is taken: upstream then asks of a node port only that nobody has it, and tells the range's own
            address.

    Raises:
        ApiError: 500, a range is used up.
    """
    causes: list[Cause] = []
    if spec.get("clusterIP") != "None":
        causes += _address(spec, uid, others, dry_run=dry_run)
    spec["clusterIPs"] = spec.get("clusterIPs") or [spec["clusterIP"]]
    taken = {number for other in others for number in _numbers(other.get("spec") or {})}
    if spec["type"] in _WITH_PORTS:
        causes += _node_ports(spec, uid, taken, new=new, dry_run=dry_run)
    checked = spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    if checked and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = _free_port(f"{uid}/health", taken)
    return causes


def keep_ports(spec: Document, before: Mapping[str, Any]) -> None:
    """Let ports that a change leaves out keep the numbers that ports of their names had."""
    known = {port.get("name") or "": port.get("nodePort") for port in before.get("ports") or ()}
    used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    for port in spec.get("ports") or ():
        number = known.get(port.get("name") or "")
        if number and not port.get("nodePort") and number not in used:
            port["nodePort"] = number
            used.add(number)
    if before.get("healthCheckNodePort") and spec.get("externalTrafficPolicy") == "Local":
        spec.setdefault("healthCheckNodePort", before["healthCheckNodePort"])


def _address(spec: Document, uid: str, others: Sequence[Mapping[str, Any]], *, dry_run: bool) -> list[Cause]:
    taken = {str(at(other, "spec", "clusterIP")) for other in others}
    wanted = spec.get("clusterIP") or ""
    if not wanted and dry_run:
        # Nobody looks for one that is free.
        spec["clusterIP"] = str(CLUSTER_RANGE.network_address)
        return []
    if not wanted:
        spec["clusterIP"] = next((ip for ip in _addresses(uid) if ip not in taken), "")
        if not spec["clusterIP"]:
            raise _used_up("failed to allocate a serviceIP: range is full")
        return []
    address = addresses.parsed(wanted)
    if address is None:
        # What is no address is told by validation.
        return []
    found = addresses.plain(address)
    if wanted in taken:
        if dry_run:
            # Nobody looks who has it.
            return []
        why = "provided IP is already allocated"
    elif found not in CLUSTER_RANGE:
        why = f"the provided IP ({found}) is not in the valid range. The range of valid IPs is {CLUSTER_RANGE}"
    else:
        return []
    return [fields.bad("spec.clusterIPs", [wanted], f"failed to allocate IP {wanted}: {why}")]


def _addresses(uid: str) -> Iterator[str]:
    """Yield all addresses: the upper part from a drawn one on and round, then the lower part."""
    base, size = int(CLUSTER_RANGE.network_address), CLUSTER_RANGE.num_addresses - 1
    for first, last in ((FIXED_ADDRESSES, size), (1, FIXED_ADDRESSES)):
        start = draw(0, "cluster-address", uid, first, below=last - first)
        for step in range(last - first):
            yield str(IPv4Address(base + first + (start + step) % (last - first)))


def _node_ports(spec: Document, uid: str, taken: set[int], *, new: bool, dry_run: bool) -> list[Cause]:
    """Give ports their numbers on the nodes; those of one port by several protocols share one (initNodePorts)."""
    causes: list[Cause] = []
    ports = spec.get("ports") or ()
    asked: dict[int, int] = {}
    for port in ports:
        if port.get("nodePort"):
            asked.setdefault(port.get("port", 0), port["nodePort"])
    given: dict[int, int] = {}
    own: set[int] = set()
    for index, port in enumerate(ports):
        number = port.get("nodePort") or 0
        if not number and spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
            continue
        known = given.get(of := port.get("port", 0))
        wanted = asked.get(of) if known is None else number or known
        if wanted and wanted != known:
            used = taken | own if new else taken
            causes += _allocated(f"spec.ports[{index}].nodePort", wanted, used, dry_run=dry_run)
        number = port["nodePort"] = wanted or _free_port(f"{uid}/{index}", taken | own)
        given.setdefault(of, number)
        own.add(number)
    taken |= own
    return causes


def _allocated(field: str, number: int, taken: set[int], *, dry_run: bool) -> list[Cause]:
    if number not in NODE_PORTS and not dry_run:
        first, last = NODE_PORTS[0], NODE_PORTS[-1]
        why = f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
        return [fields.bad(field, number, why)]
    return [fields.bad(field, number, "provided port is already allocated")] if number in taken else []


def _free_port(purpose: str, taken: set[int]) -> int:
    for part in (NODE_PORTS[FIXED_PORTS:], NODE_PORTS[:FIXED_PORTS]):
        start = draw(0, "node-port", purpose, part.start, below=len(part))
        for step in range(len(part)):
            number = part[(start + step) % len(part)]
            if number not in taken:
                return number
    raise _used_up("failed to allocate a nodePort: range is full")


def _numbers(spec: Mapping[str, Any]) -> Iterator[int]:
    for port in spec.get("ports") or ():
        if port.get("nodePort"):
            yield port["nodePort"]
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def _used_up(why: str) -> ApiError:
    return ApiError(500, "InternalError", f"Internal error occurred: {why}")
