"""One hollow machine: its addresses, the images it holds, and the pull it is busy with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kit.recorder import Recorder
from controllers.kubelet.images import CHECK_MS, image_of, must_ask, pull_ms, size_bytes

NODES_MAX: Final = 32_768
"""Machines that can have a pod network: /24 networks in 10.128.0.0/9."""


class Machine:
    """What a kubelet remembers of its node. All of it can be read again from the node and its pods."""

    def __init__(self, name: str, index: int) -> None:
        """Number the machine: the number makes its addresses."""
        self.name = name
        self.index = index
        self.actor = f"kubelet/{name}"
        self.recorder = Recorder("kubelet", host=name, actor=self.actor)
        self.present: set[str] = set()
        """Full names of images."""
        self.pulled: list[str] = []
        """Images that the node's status does not list yet, as pods spell them, in order of arrival."""
        self._pulling: dict[str, int] = {}
        self._free_ms = 0
        self._addresses: dict[str, int] = {}
        self._next_host = 2

    @property
    def network(self) -> str:
        """Return the pod network, as spec.podCIDR."""
        return f"{self._prefix}.0/24"

    @property
    def address(self) -> str:
        """Return the node's own address."""
        return f"192.168.{self.index >> 8}.{self.index & 255}" if self.index < 65_536 else "192.168.255.255"

    @property
    def _prefix(self) -> str:
        return f"10.{128 + (self.index >> 8)}.{self.index & 255}"

    def pod_address(self, uid: str, status: Mapping[str, Any]) -> str:
        """Return the pod's address: the one it has, else the next that is free."""
        known = status.get("podIP")
        if known:
            self._take(uid, str(known))
            return str(known)
        if uid not in self._addresses:
            taken = set(self._addresses.values())
            host = self._next_host
            while host in taken:
                host = host % 254 + 1
            self._addresses[uid] = host
            self._next_host = host % 254 + 1
        return f"{self._prefix}.{self._addresses[uid]}"

    def release(self, uid: str) -> None:
        """The pod is gone: its address is free."""
        self._addresses.pop(uid, None)

    def learn(self, node: Mapping[str, Any]) -> None:
        """Take the images that the node's status lists."""
        for image in (node.get("status") or {}).get("images") or ():
            self.present.update(image_of(name).full for name in image.get("names") or ())

    def begin_pull(self, image: str, policy: str, now_ms: int) -> tuple[bool, int, int]:
        """Return (whether a pull is announced, what it takes, when it is over). One image is pulled at a time."""
        name = image_of(image).full
        asks = must_ask(image, policy)
        if self._pulling.get(name, now_ms + 1) <= now_ms:
            # Who asked for it is gone; the machine went on pulling.
            self.arrived(image)
        if name in self.present:
            return asks, CHECK_MS if asks else 0, now_ms + (CHECK_MS if asks else 0)
        if policy == "Never":
            # A hollow machine is taken to have been given what it must not pull.
            self.arrived(image)
            return False, 0, now_ms
        if name in self._pulling:
            return True, self._pulling[name] - now_ms, self._pulling[name]
        takes_ms = pull_ms(size_bytes(image))
        self._free_ms = max(self._free_ms, now_ms) + takes_ms
        self._pulling[name] = self._free_ms
        return True, takes_ms, self._free_ms

    def arrived(self, image: str) -> None:
        """An image is there now."""
        name = image_of(image).full
        self._pulling.pop(name, None)
        if name not in self.present:
            self.present.add(name)
            self.pulled.append(image)

    def _take(self, uid: str, address: str) -> None:
        prefix, _, host = address.rpartition(".")
        if prefix == self._prefix and host.isdigit():
            self._addresses[uid] = int(host)


def index_of(node: Mapping[str, Any]) -> int | None:
    """Return the machine's number as its pod network tells it; None where it has none of ours."""
    network = (node.get("spec") or {}).get("podCIDR") or ""
    parts = network.removesuffix(".0/24").split(".")
    if len(parts) != 3 or parts[0] != "10" or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    index = (int(parts[1]) - 128) * 256 + int(parts[2])
    return index if 0 <= index < NODES_MAX else None
