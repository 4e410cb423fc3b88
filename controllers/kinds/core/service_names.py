"""Which Service a name is of, by the form that names have: for whoever need not ask the cluster's name service.

Source: github.com/kubernetes/dns (docs/specification.md).
"""

from __future__ import annotations

import re
from typing import Final

from controllers.kinds.clustersim.target import is_address

DOMAIN: Final = "cluster.local"

SERVICE_NAME: Final = "kubernetes.io/service-name"
"""The label of a slice that says of which Service it is."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def service_of_name(host: str, namespace: str) -> tuple[str, str] | None:
    """Return (namespace, name) of the Service that a name means to a pod of a namespace; None: it can be of none.

    The name of a pod below a headless Service is that Service's. Whether there is such a Service is not asked.
    """
    host = host.lower().rstrip(".")
    if host == "localhost" or not _NAME.fullmatch(host) or is_address(host):
        return None
    inside = host.removesuffix(f".{DOMAIN}").removesuffix(".svc")
    match inside.split("."):
        case [name]:
            return namespace, name
        case [name, place]:
            return place, name
        case [_, name, place] if inside != host:
            return place, name
        case _:
            return None
