"""What the cluster's name service answers: names of Services, of what stands behind them, and of pods.

Source: github.com/kubernetes/dns (docs/specification.md), CoreDNS plugin `kubernetes` as kubeadm sets it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from controllers.kinds.clustersim.target import is_address
from controllers.kinds.core.service_names import DOMAIN
from controllers.proxy.endpoints import Endpoint
from scheduler_core.api.document import Document

NDOTS: Final = 5
"""Names with fewer dots are first looked up below the search list."""

ALIASES_MAX: Final = 4
"""Names that an ExternalName may lead to one after the other; a longer way ends nowhere."""


class Answer(NamedTuple):
    """Addresses of a name, and the Service (`namespace/name`) that it belongs to; `alias`: a name that is of no
    cluster, and nothing is known about.
    """

    addresses: tuple[str, ...]
    service: str = ""
    alias: str = ""


class Known(Protocol):
    """What names are answered from."""

    def service(self, namespace: str, name: str) -> Document | None:
        """Return a Service."""

    def behind(self, service: str) -> Sequence[tuple[Endpoint, str]]:
        """Return (endpoint, host name) of each address of a Service's slices."""


def resolve(known: Known, host: str, namespace: str | None) -> Answer | None:
    """Return what a name means to a pod of a namespace; None: there is no such name.

    Args:
        known: what there is.
        host: the name, as it was written, in lower case.
        namespace: where it is looked up; None: whoever asks does not ask the cluster.
    """
    found = find(known, host, namespace)
    return None if found is None else found[1]


def find(known: Known, host: str, namespace: str | None) -> tuple[str, Answer] | None:
    """Return (the whole name, what it means); as `resolve`."""
    for name in () if namespace is None else _searched(host, namespace):
        answer = _look_up(known, name, 0)
        if answer is not None:
            return name, answer
    return None


def asks_cluster(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod asks the cluster's name service (dnsPolicy)."""
    policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
    return policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not pod["spec"].get("hostNetwork"))


def _searched(host: str, namespace: str) -> list[str]:
    if host.endswith("."):
        return [host[:-1]]
    below = [f"{host}.{suffix}" for suffix in (f"{namespace}.svc.{DOMAIN}", f"svc.{DOMAIN}", DOMAIN)]
    return [*below, host] if host.count(".") < NDOTS else [host, *below]


def _look_up(known: Known, name: str, aliases: int) -> Answer | None:
    """Return what a whole name means."""
    if name != DOMAIN and not name.endswith(f".{DOMAIN}"):
        return None
    match name.removesuffix(DOMAIN).rstrip(".").split("."):
        case [service, namespace, "svc"]:
            return _service(known, namespace, service, aliases)
        case [host, service, namespace, "svc"]:
            key = f"{namespace}/{service}"
            if known.service(namespace, service) is None:
                return None
            found = [one.address for one, named in known.behind(key) if one.ready and _is_called(one, named, host)]
            return Answer(tuple(found), key) if found else None
        case [host, _, "pod"]:
            address = host.replace("-", ".")
            return Answer((address,)) if is_address(address) else None
        case _:
            return None


def _service(known: Known, namespace: str, name: str, aliases: int) -> Answer | None:
    document = known.service(namespace, name)
    if document is None:
        return None
    spec, key = document["spec"], f"{namespace}/{name}"
    if spec.get("type") == "ExternalName":
        alias = str(spec.get("externalName") or "").lower().rstrip(".")
        if not (alias == DOMAIN or alias.endswith(f".{DOMAIN}")):
            return Answer((), key, alias)
        return _look_up(known, alias, aliases + 1) if aliases < ALIASES_MAX else None
    if spec.get("clusterIP") not in ("None", "", None):
        return Answer((str(spec["clusterIP"]),), key)
    found = tuple(dict.fromkeys(one.address for one, _ in known.behind(key) if one.ready))
    return Answer(found, key) if found else None


def _is_called(endpoint: Endpoint, named: str, host: str) -> bool:
    return host == (named or endpoint.address.replace(".", "-"))
