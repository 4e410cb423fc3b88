"""Which devices the claims of a pod get on a node.

Source: k8s.io/dynamic-resource-allocation/structured (allocator), v1.34: the first combination in depth-first order, as
requests, pools, slices and devices stand. Nothing is weighed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument, at
from scheduler_core.devices.allocations import DeviceId
from scheduler_core.devices.claims import key_of, requests_of
from scheduler_core.devices.constraints import MatchAttribute
from scheduler_core.devices.outcome import Chosen, outcome
from scheduler_core.devices.pools import Device, Pool, Slices
from scheduler_core.devices.requests import RESULTS_MAX, AllocationError, Request, Selected, read
from scheduler_core.snapshot.node_info import NodeInfo

TRIES_MAX: Final = 20_000
"""Devices tried for one node before it is given up, some tenths of a second; upstream gives a node ten seconds."""


class GivenUpError(Exception):
    """There are too many combinations."""


class Allocator:
    """Gives the claims of one pod devices, on any node."""

    def __init__(
        self,
        claims: Sequence[FrozenDocument],
        taken: set[DeviceId],
        class_of: Callable[[str], FrozenDocument | None],
        slices: Sequence[FrozenDocument],
    ) -> None:
        """Take what is the same for all nodes.

        Args:
            claims: those that have no devices yet.
            taken: the devices of others.
            class_of: returns a DeviceClass, None where there is none.
            slices: all ResourceSlices.
        """
        self.claims = claims
        self.taken = taken
        self._class_of = class_of
        self._slices = Slices(slices)
        self._selected: dict[tuple[str, str, str], Selected] = {}

    def allocate(self, node: NodeInfo) -> list[dict[str, Any]] | None:
        """Return an AllocationResult for each claim, None where the node has not what they need.

        Raises:
            AllocationError: something is wrong with a claim, a class or a pool.
            GivenUpError: it takes too long.
        """
        search = _Search(self.taken, self._slices.pools(node), self.claims, self._read)
        if not search.claim(0):
            return None
        return [
            outcome(claim, chosen, requests)
            for claim, chosen, requests in zip(self.claims, search.chosen, search.used, strict=True)
        ]

    def _read(self, claim: FrozenDocument, pools: Sequence[Pool], asked: Mapping[str, Any]) -> list[Request]:
        return read(claim, pools, self._class_of, asked, self._selected)

    def account(self, node: NodeInfo) -> list[dict[str, Any]]:
        """Return, request by request, how many devices of a node it could have, and how many of those are free.

        Of several requests only those that are short; where none is by itself, all.
        """
        found: list[dict[str, Any]] = []
        pools = self._slices.pools(node)
        for claim in self.claims:
            for asked in requests_of(claim):
                for request in self._read(claim, pools, asked):
                    there = [one for pool in pools for one in pool.devices]
                    fitting = [one for one in there if request.could_have(one)]
                    free = [one for one in fitting if request.is_admin or one.id not in self.taken]
                    told = {"kind": "devices", "claim": claim["metadata"]["name"], "request": request.full_name}
                    counts = {"there": len(there), "fitting": len(fitting), "free": len(free)}
                    wanted = None if request.takes_all else request.wanted
                    found.append({**told, "class": request.device_class["metadata"]["name"], "asked": wanted, **counts})
        short = [one for one in found if one["free"] < max(1, one["fitting"] if one["asked"] is None else one["asked"])]
        return short or found


class _Search:
    """One node's search, depth first: claim by claim, request by request, device by device.

    Attributes:
        chosen: the devices of each claim so far.
        used: the request, or the alternative of it, that each claim's requests came to.
    """

    def __init__(
        self,
        taken: set[DeviceId],
        pools: Sequence[Pool],
        claims: Sequence[FrozenDocument],
        ask: Callable[[FrozenDocument, Sequence[Pool], Mapping[str, Any]], list[Request]],
    ) -> None:
        self._taken = taken
        self._pools = pools
        self._requests = [[ask(claim, pools, asked) for asked in requests_of(claim)] for claim in claims]
        for claim, requests in zip(claims, self._requests, strict=True):
            least = sum(min(one.wanted for one in alternatives) for alternatives in requests if alternatives)
            if least > RESULTS_MAX:
                text = f"number of requested devices {least} exceeds the claim limit of {RESULTS_MAX}"
                raise AllocationError(f"claim {key_of(claim)}: {text}")
        self._constraints = [_constraints(claim) for claim in claims]
        self._giving: dict[DeviceId, set[int]] = {}
        self._tries = 0
        self.chosen: list[list[Chosen]] = [[] for _ in claims]
        self.used: list[list[Request]] = [[] for _ in claims]

    def claim(self, index: int) -> bool:
        """Give this claim and those after it devices."""
        return index == len(self._requests) or self._request(index, 0)

    def _request(self, claim: int, index: int) -> bool:
        if index == len(self._requests[claim]):
            return self.claim(claim + 1)
        for alternative in self._requests[claim][index]:
            self.used[claim].append(alternative)
            if self._devices(claim, index, alternative, 0):
                return True
            self.used[claim].pop()
        return False

    def _devices(self, claim: int, index: int, request: Request, given: int) -> bool:
        if request.takes_all and not request.devices:
            return False
        if given >= request.wanted:
            return self._request(claim, index + 1)
        if len(self.chosen[claim]) + request.wanted - given > RESULTS_MAX:
            return False
        if request.takes_all:
            device = request.devices[given]
            if not self._give(claim, request, device):
                return False
            # Upstream goes on with the first alternative, whichever it is about: v1.34 forgets which that was.
            if self._devices(claim, index, self._requests[claim][index][0], given + 1):
                return True
            self._take_back(claim, request, device)
            return False
        for pool in self._pools:
            if pool.twice:
                raise AllocationError(f"pool {pool.name} is invalid: duplicate device name {pool.twice}")
            for device in pool.devices:
                if self._is_used(claim, request, device) or not request.could_have(device):
                    continue
                if not self._give(claim, request, device):
                    continue
                if self._devices(claim, index, request, given + 1):
                    return True
                self._take_back(claim, request, device)
        return False

    def _is_used(self, claim: int, request: Request, device: Device) -> bool:
        giving = self._giving.get(device.id, ())
        return claim in giving if request.is_admin else bool(giving) or device.id in self._taken

    def _give(self, claim: int, request: Request, device: Device) -> bool:
        self._tries += 1
        if self._tries > TRIES_MAX:
            raise GivenUpError
        # Devices that share counters with others belong to a feature that is off.
        if self._is_used(claim, request, device) or device.told.get("consumesCounters"):
            return False
        for index, constraint in enumerate(self._constraints[claim]):
            if constraint.add(request, device):
                continue
            if request.takes_all:
                why = f"cannot add device {device} because a claim constraint would not be satisfied"
                raise AllocationError(f"claim {key_of(request.claim)}, request {request.name}: {why}")
            for earlier in self._constraints[claim][:index]:
                earlier.remove(request)
            return False
        self._giving.setdefault(device.id, set()).add(claim)
        self.chosen[claim].append(Chosen(request, device))
        return True

    def _take_back(self, claim: int, request: Request, device: Device) -> None:
        for constraint in self._constraints[claim]:
            constraint.remove(request)
        self._giving[device.id].discard(claim)
        self.chosen[claim].pop()


def _constraints(claim: FrozenDocument) -> list[MatchAttribute]:
    found: list[MatchAttribute] = []
    told: Sequence[Mapping[str, Any]] = at(claim, "spec", "devices", "constraints") or ()
    for index, one in enumerate(told):
        if "matchAttribute" not in one:
            text = f"constraint #{index}: empty constraint (unsupported constraint type?)"
            raise AllocationError(f"claim {key_of(claim)}, {text}")
        found.append(MatchAttribute(one["matchAttribute"], one.get("requests") or ()))
    return found
