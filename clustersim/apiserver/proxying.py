"""Ways through the server to what listens behind a pod or a Service: `…/services/web:80/proxy/`, `kubectl proxy`.

Source: staging/src/k8s.io/apimachinery/pkg/util/proxy (upgradeaware.go, transport.go), each ResourceLocation, v1.34.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from clustersim.apiserver.asking import Line
from clustersim.apiserver.containers import stages_of
from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import Target
from clustersim.apiserver.virtual import ReadView
from controllers.kinds.clustersim.target import Target as Aim
from controllers.kinds.core.proxying import unreachable
from controllers.kubelet.shell.running import Came
from controllers.registry.kind import Leads, Place, Way
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request

_SCHEMES: Final = ("", "http", "https")
"""By which a way through the server may go on."""

NO_KUBELET: Final = "proxy: what the kubelets of this cluster would serve is not simulated"

_NO_SCRIPTS: Final = ("content-security-policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
"""A page of a pod has the origin of the session's own pages, and others have written it: nothing in it may run."""


def through(view: ReadView, request: Request, target: Target, leads: Leads) -> Response:
    """Answer a request that goes on to a pod.

    Raises:
        ApiError: 400, 404, 500, 501, 503, 504: it leads nowhere, or nobody answers there.
    """
    places = _places(view, target, leads)
    if not places:
        raise ApiError(501, "NotImplemented", NO_KUBELET, kind=target.kind.resource, name=target.name)
    if not target.below and request.method in ("GET", "HEAD"):
        # Relative: what is before the path may be known to nobody here (`kubectl proxy`).
        return Response(301, b"", "", [("location", "proxy/" + (f"?{request.question}" if request.question else ""))])
    place = places[secrets.randbelow(len(places))]
    path = (target.below or "/") + (f"?{request.question}" if request.question else "")
    came = Line(view, stages_of(view).answers).network().send_for_client(Aim(place.address, place.port, path))
    return _answer(came, place)


def _answer(came: Came, place: Place) -> Response:
    if came.result in ("ok", "error"):
        headers = [(name.lower(), text) for name, text in came.headers if name == "Server"]
        return Response(came.code, came.body.encode(), came.type, [*headers, _NO_SCRIPTS], plain=True)
    if came.reason == "Hangs":
        raise ApiError(HTTPStatus.GATEWAY_TIMEOUT, "Timeout", f"{came.address} takes the request and does not answer")
    why = "connect: connection refused" if came.result == "refused" else "i/o timeout"
    raise unreachable(f"dial tcp {place.address}:{place.port}: {why}")


def _places(view: ReadView, target: Target, leads: Leads) -> Sequence[Place]:
    """Return where a way leads.

    Raises:
        ApiError: 400, 404, 500, 503: nowhere.
    """
    parts = target.name.split(":")
    scheme, name, port = parts[:3] if len(parts) > 2 else ("", *parts, "")[:3]
    if not name or len(parts) > 3 or scheme not in _SCHEMES:
        raise bad_request(f"invalid {target.kind.kind.lower()} request {json.dumps(target.name)}")

    def look(resource: str, namespace: str, name: str) -> Document | None:
        stored = view.get(resource, namespace, name)
        return None if stored is None else stored.object

    return leads(look, Way(target.namespace or "", name, port, target.name, scheme))
