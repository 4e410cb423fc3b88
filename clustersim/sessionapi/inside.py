"""Routes that look inside the components: how they started, what they know, and the endpoints that each serves.

The endpoints stand for those of the real processes (`https://…:10259/healthz`): a simulated replica has no socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.callers import CALLERS, Standing
from clustersim.feed import hints
from clustersim.runtime import metrics as asked
from clustersim.sessionapi.engine import REPLICAS, shown
from clustersim.sessionapi.http import Call, answer
from clustersim.sessionapi.scheduler import current
from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER
from controllers.flags.table import NAME, told_flags
from controllers.flags.table import RESOURCE as FLAGS
from controllers.inside import PORTS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

THEN: Final[Mapping[str, Document]] = {
    SCHEDULER: {
        "Address": "0.0.0.0",
        "Port": 10251,
        "AlgorithmProvider": "DefaultProvider",
        "PolicyConfigFile": "",
        "EnableProfiling": True,
        "Master": "http://192.168.255.254:8080",
        "Kubeconfig": "",
        "KubeAPIQPS": 50,
        "KubeAPIBurst": 100,
        "SchedulerName": "default-scheduler",
    },
    CONTROLLER_MANAGER: {
        "Address": "0.0.0.0",
        "Port": 10252,
        "EnableProfiling": True,
        "Master": "http://192.168.255.254:8080",
        "Kubeconfig": "",
        "KubeAPIQPS": 20,
        "KubeAPIBurst": 30,
    },
}
"""The fields of each server of the first document's time, with its defaults (v1.2)."""

PROFILES: Final = ("goroutine", "heap", "profile")


def components(call: Call) -> HttpResponse:
    """Answer `GET …/components`: how each component started."""
    told = _told(call)
    others = told.pop("", {"components": []})["components"]
    replicas = [
        {"name": one["identity"], "component": one["component"], "startup": one["startup"]} for one in told.values()
    ]
    return answer([*others, *replicas])


def watches(call: Call) -> HttpResponse:
    """Answer `GET …/watches`: what each component watches, and how far behind it is; then who watches from outside.

    Others than teachers see their own watches alone.
    """
    principal = call.principal
    found = asked.ask(principal.session_id, hints.WATCHES).get("", "[]")
    standing = CALLERS.watches(principal.session_id)
    outside = [_outside(one) for one in standing if principal.role == TEACHER or one.user == principal.slug]
    return answer([*msgspec.json.decode(found, type=list[Document]), *outside])


def _outside(standing: Standing) -> Document:
    """Return a client's watch as those of components are told; what it has, nobody here knows."""
    return {
        "name": f"watch-{standing.number}",
        "client": {
            "user": standing.user,
            "name": standing.name,
            "agent": standing.agent,
            "namespace": standing.namespace,
        },
        "count": 1,
        "running": True,
        "connected": True,
        "lateMs": 0,
        "revision": standing.revision,
        "lag": 0,
        "gones": 0,
        "relistAtMs": None,
        "pollMs": 0,
        "resources": [
            {
                "resource": standing.resource,
                "rows": 0,
                "revision": standing.revision,
                "lag": 0,
                "lists": 0,
                "listedObjects": 0,
                "watchEvents": standing.events,
            }
        ],
    }


def proxies(call: Call) -> HttpResponse:
    """Answer `GET …/proxies`: the rules of the proxies that clients use."""
    return answer(_told(call).get("", {"proxies": []})["proxies"])


def replica(call: Call, identity: str) -> HttpResponse:
    """Answer `GET …/replicas/<identity>`: as in the list, with what it is at, or null for that while it is down."""
    document = _document(call, identity)
    inside = _told(call).get(identity)
    known = shown(call, document)
    return answer({**known, "inside": inside, "server": _server(call, known["component"])})


def endpoint(call: Call, identity: str, path: str) -> HttpResponse:
    """Answer `GET …/replicas/<identity>/<path>`: what the replica's own server would.

    Raises:
        ApiError: 404, it serves nothing there; 503, it is down.
    """
    component = shown(call, _document(call, identity))["component"]
    serve = _SERVED.get(path.rstrip("/"))
    if serve is None:
        known = ", ".join(_SERVED)
        raise ApiError(
            404,
            "NotFound",
            said(
                "inside.nothing",
                "{identity} serves nothing at /{path}; it serves {known}, metrics",
                identity=identity,
                path=path[:80],
                known=known,
            ),
        )
    inside = _told(call).get(identity)
    if inside is None:
        raise ApiError(
            503,
            "ServiceUnavailable",
            said("replica.down", "{identity} is down: let it recover, then ask again", identity=identity),
        )
    return serve(call, component, inside)


def _document(call: Call, identity: str) -> Document:
    _ = call.principal
    stored = call.store.get(REPLICAS, "", identity)
    if stored is None:
        raise ApiError(
            404,
            "NotFound",
            said("replica.unknown", "there is no replica {identity!r}; …/replicas lists them", identity=identity[:80]),
        )
    return stored.object


def _told(call: Call) -> dict[str, Document]:
    found = asked.ask(call.principal.session_id, hints.INSIDES)
    return {identity: msgspec.json.decode(text, type=dict[str, Any]) for identity, text in found.items()}


def _flags(call: Call, component: str) -> dict[str, str]:
    stored = call.store.get(FLAGS, "", NAME)
    return told_flags(None if stored is None else stored.object.get("spec"))[component]


def _election(call: Call, component: str) -> Document:
    """Return LeaderElectionConfiguration as the flags have it."""
    flags = _flags(call, component)
    return {
        "leaderElect": flags["leader-elect"] == "true",
        "leaseDuration": flags["leader-elect-lease-duration"],
        "renewDeadline": flags["leader-elect-renew-deadline"],
        "retryPeriod": flags["leader-elect-retry-period"],
        "resourceLock": flags["leader-elect-resource-lock"],
        "resourceName": flags["leader-elect-resource-name"],
        "resourceNamespace": flags["leader-elect-resource-namespace"],
    }


def _server(call: Call, component: str) -> Document:
    """Return how its server is set up, then and now."""
    election = _election(call, component)
    now = {
        "bindAddress": "0.0.0.0",
        "securePort": PORTS[component],
        "scheme": "https",
        "profiling": True,
        "clientConnection": {"qps": 50, "burst": 100} if component == SCHEDULER else {"qps": 20, "burst": 30},
        "leaderElection": election,
        "endpoints": [f"/{path}" for path in (*_SERVED, "metrics")],
    }
    return {"then": {**THEN[component], "scheme": "http", "LeaderElection": election}, "now": now}


# -- what it serves -----------------------------------------------------------------------------------------------


def _text(text: str, status: int = 200) -> HttpResponse:
    response = HttpResponse(text, content_type="text/plain; charset=utf-8", status=status)
    response["Cache-Control"] = "no-store"
    return response


def _health(name: str, *checks: str) -> Callable[[Call, str, Document], HttpResponse]:
    """Return what answers a health endpoint, as k8s.io/apiserver's `healthz` package does."""

    def serve(call: Call, component: str, inside: Document) -> HttpResponse:
        states = {"ping": True, "leaderElection": inside["healthy"], "informer-sync": inside["synced"]}
        lines = [f"[+]{check} ok\n" if states[check] else f"[-]{check} failed: reason withheld\n" for check in checks]
        if not all(states[check] for check in checks):
            return _text("".join(lines) + f"{name} check failed\n", 500)
        if "verbose" in call.request.GET:
            return _text("".join(lines) + f"{name} check passed\n")
        return _text("ok")

    return serve


def _configz(call: Call, component: str, inside: Document) -> HttpResponse:
    """Answer with the configuration in force, under upstream's name of it."""
    election = _election(call, component)
    if component == SCHEDULER:
        scheduler = current(call)
        told = {
            "componentconfig": {
                "leaderElection": election,
                "clientConnection": {"qps": 50, "burst": 100},
                "percentageOfNodesToScore": scheduler["percentageOfNodesToScore"],
                "podInitialBackoffSeconds": scheduler["podInitialBackoffSeconds"],
                "podMaxBackoffSeconds": scheduler["podMaxBackoffSeconds"],
                "profiles": [
                    {"schedulerName": one["schedulerName"], "plugins": one["order"]} for one in scheduler["profiles"]
                ],
                "era": scheduler["era"],
            }
        }
    else:
        told = {
            "kubecontrollermanager.config.k8s.io": {
                "generic": {"leaderElection": election, "clientConnection": {"qps": 20, "burst": 30}},
                "flags": _flags(call, component),
            }
        }
    return answer(told)


def _index(call: Call, component: str, inside: Document) -> HttpResponse:
    return _text("stand-ins for profiles of a simulated process:\n" + "".join(f"{name}\n" for name in PROFILES))


def _goroutine(call: Call, component: str, inside: Document) -> HttpResponse:
    """Answer with what its workers do, which is what a dump of goroutines is read for."""
    reflectors = [f"reflector of {one['resource']}: {one['mode']}" for one in inside["listers"] if "mode" in one]
    return _text("".join(f"{line}\n" for line in [*(one["text"] for one in inside["threads"]), *reflectors]))


def _heap(call: Call, component: str, inside: Document) -> HttpResponse:
    """Answer with what its caches hold."""
    caches = [one for one in inside["listers"] if "mode" in one]
    lines = [f"{one['rows']:>8} objects of {one['resource']}\n" for one in sorted(caches, key=lambda one: -one["rows"])]
    return _text("".join(lines))


def _profile(call: Call, component: str, inside: Document) -> HttpResponse:
    """Answer with what it has done since its start: requests and tries."""
    requests, election = inside["requests"], inside["election"]
    lines = [f"{name}: {value}" for name, value in requests.items()]
    lines += [f"election {branch}: {count}" for branch, count in election["branches"].items()]
    return _text("".join(f"{line}\n" for line in lines))


_SERVED: Final[Mapping[str, Callable[[Call, str, Document], HttpResponse]]] = {
    "healthz": _health("healthz", "ping", "leaderElection"),
    "livez": _health("livez", "ping", "leaderElection"),
    "readyz": _health("readyz", "ping", "leaderElection", "informer-sync"),
    "configz": _configz,
    "debug/pprof": _index,
    "debug/pprof/goroutine": _goroutine,
    "debug/pprof/heap": _heap,
    "debug/pprof/profile": _profile,
}
