"""What an API server tells of its own process: healthy checks as metrics, profiles, the level of its log.

Source: k8s.io/apiserver/pkg/server/routes (profiling.go, flags.go, metrics.go), v1.34. A session's server is no process
of its own: profiles are well formed and hold nothing, and a level that is set changes no log.
"""

from __future__ import annotations

import gzip
import re
from typing import Final

from clustersim.apiserver.health import CHECKS
from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import PageNotFound
from controllers.registry.gotext import quoted

TEXT: Final = "text/plain; charset=utf-8"
METRICS: Final = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
HTML: Final = "text/html; charset=utf-8"

_PROFILES: Final = {
    "allocs": "heap profile: 0: 0 [0: 0] @ heap/1048576\n",
    "block": "--- contention:\ncycles/second=1000000000\n",
    "goroutine": "goroutine profile: total 0\n",
    "heap": "heap profile: 0: 0 [0: 0] @ heap/1048576\n",
    "mutex": "--- mutex:\ncycles/second=1000000000\nsampling period=0\n",
    "threadcreate": "threadcreate profile: total 0\n",
}
"""Profile → its text without a sample."""

_OTHERS: Final = ("cmdline", "profile", "symbol", "trace")
"""What the index lists beside them; `cmdline` is listed and not served."""

_NO_SAMPLES: Final = gzip.compress(b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x07samples\x32\x05count", mtime=0)
"""A profile (profile.proto) that counts samples and has none."""

_APART: Final = (("etcd", "readyz"), ("etcd-readiness", "readyz"))
"""Checks that leave no metric."""

_NO_TRACE: Final = b"go 1.23 trace\x00\x00\x00"


def slis() -> Response:
    """Answer `/metrics/slis`: the last result of each check that readyz asks."""
    name = "kubernetes_healthcheck"
    told = sorted(
        (check, kind) for kind in ("healthz", "readyz") for check in CHECKS[kind] if (check, kind) not in _APART
    )
    lines = [
        f"# HELP {name} [STABLE] This metric records the result of a single healthcheck.",
        f"# TYPE {name} gauge",
        *(f'{name}{{name="{check}",type="{kind}"}} 1' for check, kind in told),
    ]
    return Response(200, "".join(f"{line}\n" for line in lines).encode(), METRICS)


def debug(request: Request) -> Response:
    """Answer what lies below `/debug`.

    Raises:
        ApiError: 404.
    """
    top, _, rest = request.path.removeprefix("/debug/").partition("/")
    if request.path == "/debug/pprof":
        place = f"/clusters/{request.code}/debug/pprof/"
        page = f'<a href="{place}">Found</a>.\n\n'.encode() if request.method in ("GET", "HEAD") else b""
        return Response(302, page, HTML if page else "", [("location", place)])
    if top == "pprof":
        return _profile(request, rest)
    if top == "flags":
        return _level(request) if rest == "v" else Response(200, _FLAGS, HTML)
    raise PageNotFound


def _profile(request: Request, name: str) -> Response:
    if not name:
        rows = "".join(
            f"<tr><td>0</td><td><a href='{one}?debug=1'>{one}</a></td></tr>\n" for one in sorted((*_PROFILES, *_OTHERS))
        )
        table = f"<table>\n<thead><td>Count</td><td>Profile</td></thead>\n{rows}</table>\n"
        head = "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
        return Response(200, f"{head}{table}</body>\n</html>\n".encode(), HTML)
    if name == "symbol":
        return Response(200, b"num_symbols: 1\n", TEXT)
    if name in ("profile", "trace"):
        return Response(200, _NO_SAMPLES if name == "profile" else _NO_TRACE, "application/octet-stream")
    if name not in _PROFILES:
        return Response(404, b"Unknown profile\n", TEXT)
    if re.fullmatch(r"[+-]?0*[1-9][0-9]*", request.query.get("debug", "")):
        return Response(200, _PROFILES[name].encode(), TEXT)
    return Response(200, _NO_SAMPLES, "application/octet-stream")


_FLAGS: Final = (
    b"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
    b"<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n"
)


_HIGHEST_LEVEL: Final = 2**31 - 1
_LONGEST_NUMBER: Final = 20
"""Digits of a number that is read at all."""


def _level(request: Request) -> Response:
    """Take a level of the log."""
    if request.method != "PUT":
        return Response(406, b"unsupported http method\n", "text/plain")
    text = request.body.decode("utf-8", "replace")
    is_number = re.fullmatch("[0-9]+", text)
    if not is_number or len(text) > _LONGEST_NUMBER or int(text) > _HIGHEST_LEVEL:
        why = "value out of range" if is_number else "invalid syntax"
        return Response(400, f"strconv.ParseUint: parsing {quoted(text[:80])}: {why}\n".encode(), "text/plain")
    return Response(200, f"successfully set klog.logging.verbosity to {text}\n".encode(), "text/plain")
