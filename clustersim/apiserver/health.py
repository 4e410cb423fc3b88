"""What `healthz`, `livez` and `readyz` answer: the checks of a real API server, by name.

Source: k8s.io/apiserver's `server/healthz` and the hooks that kube-apiserver v1.34 starts. A process that answers has
done what these hooks do; whether the database and the queue are well tells the installation's own `/readyz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import PageNotFound
from controllers.registry.gotext import quoted

_HOOKS: Final = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)
_STARTED: Final = (
    *(f"poststarthook/{hook}" for hook in _HOOKS),
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
CHECKS: Final = {
    "healthz": ("ping", "log", "etcd", *_STARTED),
    "livez": ("ping", "log", "etcd", *_STARTED),
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_STARTED, "shutdown"),
}
"""Endpoint → its checks, in the order in which they are told."""


def answer(request: Request, parts: Sequence[str]) -> Response:
    """Answer `/livez`, `/livez?verbose`, `/livez/ping` and their like.

    Raises:
        ApiError: 404, no such check. No method is refused, upstream neither.
    """
    name, check = parts[0], "/".join(parts[1:])
    if (check and check not in CHECKS[name]) or request.path.endswith("/"):
        raise PageNotFound
    if check or "verbose" not in request.query:
        return _text("ok")
    left_out = set(request.values.get("exclude") or ())
    lines = [f"[+]{one} excluded: ok\n" if one in left_out else f"[+]{one} ok\n" for one in CHECKS[name]]
    unknown = ",".join(quoted(one) for one in sorted(left_out.difference(CHECKS[name])))
    if unknown:
        lines.append(f"warn: some health checks cannot be excluded: no matches for {unknown}\n")
    return _text("".join(lines) + f"{name} check passed\n")


def _text(text: str) -> Response:
    return Response(200, text.encode(), "text/plain; charset=utf-8")
