"""Every route with anything: own requests over the table of routes, the same ones in every run; nothing answers 5xx.

A failure names the request: seed, part and number make it again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.urls import URLPattern

from clustersim.classroom import limits
from clustersim.runtime import commands
from clustersim.sessionapi.urls import urlpatterns
from controllers.kinds.table import KINDS
from controllers.log.store import copy_object
from tests.attack.meant import is_upstreams_own
from tests.tools.application import bearer, http, joined, opened

REQUESTS = 500
"""Requests of one seed: a few seconds."""

A_SESSIONS = 100
"""Requests to one session."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FROB")
NEEDS_A_WORKER = ("/metrics", "/controllers", "/components", "/proxies", "/replicas/", "/watches")
"""Routes that answer 503 without the session's owner, who has the numbers in memory."""

GOOD: dict[str, Any] = {
    "title": "T",
    "template": "empty",
    "seed": 3,
    "name": "Ann",
    "manifest": "kind: X",
    "secret": "s",
    "role": "viewer",
    "paused": True,
    "rate": 2,
    "pace": 10,
    "by": "cycle",
    "count": 1,
    "kind": "filter",
    "seconds": 3,
    "expression": "node.name == 'a'",
    "pod": "default/p",
    "nodes": ["a"],
    "pods": "name,cpu_milli\np,1",
    "limit": 5,
    "divisor": 1.5,
    "era": "v1.34",
    "configuration": {"profiles": []},
    "policy": {"kind": "Policy"},
    "verdict": "allow",
    "plugin": "x",
    "message": "m",
    "metadata": {"name": "p", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"containers": [{"name": "c", "image": "i"}], "replicas": 2, "nodeName": "n"},
    "status": {"phase": "Running"},
    "apiVersion": "v1",
    "target": {"kind": "Node", "name": "n"},
}
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, 2**70, -(2**70), 1e308, 0.1, "", "x", "\x00", "\ud800", "𝔘", "../..", "<b>",
    "9" * 60, "1e400", [], [[]], [None], {}, {"": None}, {"a": {"b": []}}, ["a", 3], "a" * 300, "-", "~", "%", "12:30",
)  # fmt: skip
RAW = (
    b"", b"\xff\xfe", b'{"name": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"{", b"[]", b"null", b"3", b'"x"', b"NaN",
    b'{"a": 1e999}', b"[" * 5_000, b'{"a":' * 5_000, b"a: [", b"\x00" * 50, b'{"name": 1, "name": 2}',
    b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--x--", b"\xef\xbb\xbf{}",
)  # fmt: skip
TYPES = (
    "application/json", "application/yaml", "text/plain", "multipart/form-data; boundary=x", "multipart/form-data",
    "application/x-www-form-urlencoded", "application/merge-patch+json", "application/json-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/vnd.kubernetes.protobuf",
    "application/json; charset=utf-16", "\x7f", "application/json;" * 20,
)  # fmt: skip
PLACES = (
    "1",
    "0",
    "x",
    "%00",
    "%ff",
    "9" * 40,
    "-1",
    "kube-scheduler-0",
    "clock",
    "default",
    "%2F",
    "..",
    "a%20b",
    "p",
)
QUERIES = (
    "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun",
    "fieldValidation", "pod", "pods", "namespace", "selector", "seconds", "watch", "timeoutSeconds", "createNamespaces",
    "includeObject", "gracePeriodSeconds", "propagationPolicy", "from", "to", "nodes", "attempt", "container", "force",
)  # fmt: skip
TEXTS = (
    "",
    "0",
    "-1",
    "1",
    "x",
    "All",
    "true",
    "a=b",
    "a in (",
    "%00",
    "%ff",
    "9" * 30,
    "default/p",
    "/",
    "{}",
    "!a",
    ",",
)


def session_paths() -> Iterator[str]:
    """Yield the session API's paths, `<…>` where something stands."""
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        route = str(pattern.pattern)
        if not route.startswith("^"):
            yield "/api/" + route


def cluster_paths() -> Iterator[str]:
    """Yield the paths of the Kubernetes API below `/clusters/<str:code>`."""
    yield from ("/", "/api", "/apis", "/version", "/openapi/v3", "/livez", "/api/v1", "/apis/apps/v1", "/nowhere")
    yield "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    yield "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for kind in KINDS:
        prefix = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        homes = (f"{prefix}/namespaces/default", prefix) if kind.namespaced else (prefix,)
        for home in homes:
            yield f"{home}/{kind.plural}"
            yield f"{home}/{kind.plural}/<str:name>"
        for subresource in kind.subresources:
            yield f"{homes[0]}/{kind.plural}/<str:name>/{subresource.name}"


class Fuzz:
    """Requests drawn from one seed."""

    def __init__(self, seed: int, code: str, tokens: list[str]) -> None:
        self.draw = random.Random(seed)
        self.code = code
        self.tokens = tokens
        self.paths = [*session_paths(), *(f"/clusters/<str:code>{path}" for path in cluster_paths())]

    def value(self, depth: int = 0) -> Any:
        """Return something that JSON can hold."""
        chance = self.draw.random()
        if chance < 0.55 or depth > 3:
            return self.draw.choice(ODD)
        if chance < 0.75:
            return [self.value(depth + 1) for _ in range(self.draw.randrange(3))]
        return {key: self.value(depth + 1) for key in self.draw.sample(sorted(GOOD), self.draw.randrange(4))}

    def body(self) -> bytes:
        """Return a body: a good one with something wrong in it, or bytes."""
        if self.draw.random() < 0.2:
            return self.draw.choice(RAW)
        document = {key: GOOD[key] for key in self.draw.sample(sorted(GOOD), self.draw.randrange(1, 6))}
        for key in list(document):
            if self.draw.random() < 0.4:
                document[key] = self.value()
        return json.dumps(document if self.draw.random() < 0.9 else self.value()).encode()

    def path(self) -> str:
        """Return a path of the table with its places filled."""
        route = self.draw.choice(self.paths)
        parts = []
        for part in route.split("/"):
            if part == "<str:code>":
                parts.append(self.code if self.draw.random() < 0.93 else self.draw.choice(PLACES))
            else:
                parts.append(self.draw.choice(PLACES) if part.startswith("<") else part)
        return "/".join(parts)

    def query(self) -> str:
        """Return a query string."""
        names = self.draw.sample(QUERIES, self.draw.choice((0, 0, 1, 1, 2)))
        return "&".join(f"{name}={self.draw.choice(TEXTS)}" for name in names)

    def request(self) -> dict[str, Any]:
        """Return the arguments of one request."""
        method = self.draw.choice(METHODS[:5] if self.draw.random() < 0.9 else METHODS)
        query = self.query()
        # A watch has no end; it is asked for as one that is soon over, whatever else is said (the first counts).
        if "watch=" in query:
            query = f"timeoutSeconds=1&{query}"
        headers = {"Content-Type": self.draw.choice(TYPES if self.draw.random() < 0.3 else TYPES[:1])}
        token = self.draw.choice(self.tokens)
        if token:
            headers |= bearer(token)
        return {"method": method, "url": f"{self.path()}?{query}", "content": self.body(), "headers": headers}


@pytest.fixture
def _obedient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be the owner of every session, who obeys at once."""

    def observed(store: Any, resource: str, name: str, *_: object) -> Any:
        stored = store.get(resource, "", name)
        return None if stored is None else copy_object(stored.object)

    monkeypatch.setattr(commands, "_wait", observed)


def check(answer: httpx.Response, asked: str) -> None:
    away = any(route in asked for route in NEEDS_A_WORKER)
    meant = answer.status_code in (501, 504) or away or is_upstreams_own(answer)
    assert answer.status_code < 500 or meant, asked
    if (
        answer.status_code >= 400
        and answer.content
        and answer.headers.get("content-type", "").startswith("application/json")
    ):
        status = answer.json()
        assert (status["kind"], status["code"]) == ("Status", answer.status_code), asked
        assert status["message"], asked


@pytest.mark.usefixtures("_obedient")
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_sent_nothing_breaks(seed: int, settings: Any) -> None:
    settings.TLS_PORT = 0  # no certificate is made here, which a kubeconfig would name
    async with http() as client:
        for part in range(REQUESTS // A_SESSIONS):
            # What one part used up of the buckets is not the next one's.
            limits.forget()
            # Some of the requests leave, or send others away: a new session brings good tokens back.
            session = await opened(client)
            student = await joined(client, session, "Ann")
            tokens = [session["token"], session["token"], student["token"], "", "wrong"]
            fuzz = Fuzz(1_000 * seed + part, session["code"], tokens)
            for number in range(A_SESSIONS):
                request = fuzz.request()
                client.cookies.clear()
                answer = await client.request(**request)
                check(answer, f"{seed}/{part}/{number}: {request} → {answer.status_code} {answer.text[:300]}")


BAD_JSON = (b"\xff\xfe", b'{"name": "\xff"}', b'{"a": "\xed\xa0\x80"}')


@pytest.mark.parametrize("data", BAD_JSON)
async def test_what_is_no_utf8_is_a_bad_request_on_every_route_that_reads(data: bytes) -> None:
    async with http() as client:
        session = await opened(client)
        for path in session_paths():
            if "<" in path.replace("<str:code>", ""):
                continue
            filled = path.replace("<str:code>", session["code"])
            for method in ("POST", "PUT", "PATCH"):
                answer = await client.request(method, filled, content=data, headers=bearer(session["token"]))
                assert answer.status_code < 500, (method, path, answer.text)


async def test_a_kind_of_expression_that_is_no_text_is_a_wrong_field() -> None:
    async with http() as client:
        session = await opened(client)
        body = {"expression": "true", "kind": []}
        path = f"/api/sessions/{session['code']}/expressions"
        answer = await client.post(path, json=body, headers=bearer(session["token"]))
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "kind")
