"""Hostile requests made from the published OpenAPI: every path of it with bodies that its schemas tell, gone wrong.

python -m tests.attack.published --requests 100000 --seed 7

Each request is one of a seed: seed and number make it again. What is asked of each answer stands in `Attack.judge`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import resource
import tempfile
import time
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import httpx

from tests.attack.meant import is_upstreams_own

GOLDEN: Final = Path(__file__).parent.parent / "golden" / "kinds"
SESSION_REQUESTS: Final = 250
"""Requests to one session: some of them take away what others need."""

SESSION_OBJECTS: Final = 60
"""Objects that a session begins with, at most."""

WATCH_SECONDS: Final = 0.05
"""How long a watch lives here: one in thirty requests is a watch, of a second where it is asked how long."""

DEEP_MAX: Final = 5
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
OWN: Final = "/apis/clustersim.io/"
ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 2**70, -(2**70), 1e308, -0.5, "", " ", "\x00", "a\x00b", "\ud800",
    "𝔘", "../..", "<b>", "9" * 60, "1e400", "NaN", [], [[]], [None], {}, {"": None}, {"a": {"b": []}}, "a" * 64,
    "a" * 254, "a" * 5_000, "-", "~", "%", "25%", "-1Ki", "1E+9999", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60Z",
)  # fmt: skip
WORDS: Final = (
    "default", "kube-system", "a", "web", "app", "Exists", "In", "NotIn", "Equal", "Gt", "NoSchedule", "NoExecute",
    "TCP",
    "Always", "Never", "1", "100m", "1Gi", "25%", "ReadWriteOnce", "Delete", "kubernetes.io/hostname", "10.0.0.1",
    "::1",
    "10.0.0.0/8", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z", "v1", "apps/v1", "Pod", "Node", "pods", "*",
    "self.a == 1", "object.spec.x", "ZA==", "example.dev/a", "True", "Ready", "/a/b", "a=b", "zone",
)  # fmt: skip
RAW: Final = (
    b"", b"\xff\xfe", b'{"metadata": {"name": "\xff"}}', b'{"a": "\xed\xa0\x80"}', b"{", b"[]", b"null", b"3", b'"x"',
    b"NaN", b'{"a": 1e999}', b"[" * 50_000, b'{"a":' * 50_000, b"a: [", b"\x00" * 50, b'{"spec": 1, "spec": 2}',
    b"\xef\xbb\xbf{}", b"k8s\x00", b"k8s\x00\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"&a [*a, *a]",
    b"a: &a {b: *a}", b"- - - - -\n" * 500, b'{"metadata": {"labels": {"' + b"k" * 70_000 + b'": ""}}}',
)  # fmt: skip
TYPES: Final = (
    "application/json", "application/yaml", PROTOBUF, "application/merge-patch+json", "application/json-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/apply-patch+cbor",
    "text/plain", "multipart/form-data", "application/json; charset=utf-16", "\x7f", ";;;", "application/json;" * 50,
)  # fmt: skip
PATCHES: Final = TYPES[3:7]
ACCEPTS: Final = (
    "", "*/*", "application/json", "application/yaml", PROTOBUF, f"{PROTOBUF},application/json", "text/html", "q=1;;,,",
    "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v9,application/json",
    f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;q=x", "application/*;q=0",
    f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1", "a" * 4_000,
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", f"{PROTOBUF};stream=watch",
)  # fmt: skip
HEADERS: Final = (
    ("If-Match", '"1"'), ("If-None-Match", "*"), ("If-Modified-Since", "x"), ("Range", "bytes=0-1"),
    ("Impersonate-User", "system:admin"), ("Impersonate-Group", "a"), ("Impersonate-User", "\x7f"),
    ("Impersonate-Extra-a", "b"), ("Content-Encoding", "gzip"), ("Expect", "100-continue"), ("X-HTTP-Method", "DELETE"),
    ("Cookie", "a=b; " * 100), ("Authorization", "Bearer a.b.c"), ("Authorization", "Basic ////"), ("Upgrade",
    "SPDY/3.1"),
)  # fmt: skip
QUERIES: Final = (
    "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun",
    "fieldValidation", "fieldManager", "includeObject", "gracePeriodSeconds", "propagationPolicy", "force", "pretty",
    "orphanDependents", "sendInitialEvents", "allowWatchBookmarks", "timeoutSeconds", "container", "tailLines",
    "command",
    "previous", "sinceSeconds", "sinceTime", "limitBytes", "timestamps", "export", "uid", "timeout", "path", "ports",
)  # fmt: skip
TEXTS: Final = (
    "", "0", "-1", "1", "500", "x", "All", "Strict", "Ignore", "true", "false", "a=b", "a in (b,c)", "a in (",
    "!a", "a>1",
    "metadata.name=web", "metadata.name!=web,metadata.namespace=default", "spec.nodeName=", "status.phase=Running",
    "%00",
    "%ff", "9" * 30, "1e3", "Background", "Foreground", "Orphan", "NotOlderThan", "Exact", "eyJ2IjoxfQ", "a" * 3_000,
    "%0a", "None", "Object", "2026-01-01T00:00:00Z", "kubectl", ",", "=", "%26",
)  # fmt: skip
NAMES: Final = ("web", "default", "x", "a" * 254, "%00", "%2F", "..", "a%20b", "%ff", "A_B", "kubernetes", "p", "-")
OPS: Final = ("add", "remove", "replace", "test", "copy", "move", "frob", "")
PLACES: Final = (
    "", "/", "/metadata/labels/a", "/spec/replicas", "/spec/template/spec/containers/0/image", "/spec/-", "/a~2b", "x",
    "/metadata/finalizers/99", "/status", "/metadata/name", "/spec/containers/-1", "/metadata/annotations", "/data",
)  # fmt: skip


class Operation(NamedTuple):
    """One operation of the published document."""

    method: str
    path: str
    schema: dict[str, Any] | None
    kind: str


class Finding(NamedTuple):
    """What a request did that none may."""

    what: str
    request: str


class Log(logging.Handler):
    """Collects what a server that failed writes."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.lines.append(record.getMessage())


class Published:
    """Requests of one seed, over the operations that a server publishes."""

    def __init__(self, seed: int, documents: list[dict[str, Any]]) -> None:
        self.draw = random.Random(seed)
        self.schemas: dict[str, Any] = {}
        self.operations: list[Operation] = []
        self.watches: list[Operation] = []
        for document in documents:
            self.schemas |= document["components"].get("schemas", {})
            for path, methods in document["paths"].items():
                for method, told in methods.items():
                    content = told.get("requestBody", {}).get("content", {}).get("application/json", {})
                    kind = told.get("x-kubernetes-group-version-kind", {}).get("kind", "")
                    operation = Operation(method.upper(), path, content.get("schema"), kind)
                    (self.watches if "/watch/" in path else self.operations).append(operation)
        self.good: dict[str, list[Any]] = {}
        for file in sorted(GOLDEN.glob("*.json")):
            golden = json.loads(file.read_text())
            head = {name: golden["stored"][name] for name in ("apiVersion", "kind")}
            self.good.setdefault(head["kind"], []).extend(({**head, **golden["sent"]}, golden["stored"]))

    def beginnings(self) -> list[tuple[str, Any]]:
        """Return (path, object) of some good objects with which a session begins."""
        makes = [
            (operation.path.replace("{namespace}", "default"), self.good[operation.kind][0])
            for operation in self.operations
            if operation.method == "POST" and operation.kind in self.good and "{name}" not in operation.path
        ]
        return self.draw.sample(makes, min(len(makes), SESSION_OBJECTS))

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """Return something of a schema, or nearly."""
        draw = self.draw
        if draw.random() < 0.06:
            return deepcopy(draw.choice(ODD))
        if "$ref" in schema:
            return self.value(self.schemas.get(schema["$ref"].rpartition("/")[2], {}), depth)
        if "allOf" in schema:
            return self.value(schema["allOf"][0], depth)
        if "oneOf" in schema:
            return self.value(draw.choice(schema["oneOf"]), depth)
        match schema.get("type"):
            case "object" if "properties" in schema:
                names = list(schema["properties"])
                some = draw.sample(names, min(len(names), draw.choice((0, 1, 2, 3, 5)))) if depth < DEEP_MAX else []
                chosen = {*schema.get("required", ()), *some} if depth < 2 * DEEP_MAX else set()
                return {name: self.value(schema["properties"].get(name, {}), depth + 1) for name in sorted(chosen)}
            case "object":
                inner = schema.get("additionalProperties", {"type": "string"})
                return {draw.choice(WORDS): self.value(inner, depth + 1) for _ in range(draw.randrange(3))}
            case "array":
                return [self.value(schema["items"], depth + 1) for _ in range(draw.choice((0, 1, 1, 2)))]
            case "integer":
                return draw.choice((0, 1, 2, 3, 80, 8080, 65_536, -1, 100, 2**31 - 1, 2**31, 2**63 - 1))
            case "number":
                return draw.choice((0, 0.5, 1, -2.25, 1e300))
            case "boolean":
                return draw.random() < 0.5
            case _ if "enum" in schema and draw.random() < 0.8:
                return draw.choice(schema["enum"])
            case _:
                return draw.choice(WORDS)

    def spoilt(self, document: Any) -> Any:
        """Return a good document with something in it put in place of something else."""
        document = deepcopy(document)
        for _ in range(self.draw.choice((0, 0, 1, 1, 2, 4))):
            at = document
            while isinstance(at, dict | list) and at:
                key = self.draw.choice(sorted(at) if isinstance(at, dict) else range(len(at)))
                if not isinstance(at[key], dict | list) or not at[key] or self.draw.random() < 0.25:
                    if self.draw.random() < 0.2:
                        del at[key]
                    else:
                        at[key] = deepcopy(self.draw.choice((*ODD, *WORDS)))
                    break
                at = at[key]
        return document

    def document(self, operation: Operation) -> Any:
        """Return the document of a body."""
        good = self.good.get(operation.kind)
        if good and self.draw.random() < 0.6:
            found = self.spoilt(good[0] if operation.method == "POST" else self.draw.choice(good))
            if operation.method == "POST" and isinstance(found.get("metadata"), dict) and self.draw.random() < 0.5:
                found["metadata"]["name"] = f"n{self.draw.randrange(1_000_000)}"
            return found
        found = self.value(operation.schema or {"type": "object"})
        if isinstance(found, dict) and self.draw.random() < 0.7:
            metadata = found.get("metadata")
            found["metadata"] = {
                "name": self.draw.choice(NAMES[:3]),
                **(metadata if isinstance(metadata, dict) else {}),
            }
        return found

    def patch(self, operation: Operation, media: str) -> Any:
        """Return a patch."""
        whole = self.document(operation)
        if "json-patch" not in media or self.draw.random() < 0.1:
            return whole
        return [
            {"op": self.draw.choice(OPS), "path": self.draw.choice(PLACES), "from": self.draw.choice(PLACES),
             "value": self.draw.choice((*ODD, *WORDS))}
            for _ in range(self.draw.choice((1, 1, 2, 5)))
        ]  # fmt: skip

    def body(self, operation: Operation, media: str) -> bytes:
        """Return a body in the form that its header names, or nearly."""
        chance = self.draw.random()
        if chance < 0.06:
            return self.draw.choice(RAW)
        patches = operation.method == "PATCH"
        document = self.patch(operation, media) if patches else self.document(operation)
        data = json.dumps(document).encode()
        if media == PROTOBUF and isinstance(document, dict):
            data = _as_protobuf(document) or b"k8s\x00" + data
        if chance < 0.12 and data:
            spoilt = bytearray(data)
            for _ in range(self.draw.choice((1, 1, 3, 20))):
                spoilt[self.draw.randrange(len(spoilt))] = self.draw.randrange(256)
            data = bytes(spoilt[: self.draw.randrange(len(spoilt))] if chance < 0.08 else spoilt)
        return data

    def path(self, operation: Operation) -> str:
        """Return the operation's path with its places filled."""
        names = [one["metadata"].get("name", "x") for one in self.good.get(operation.kind, ())]
        name = self.draw.choice(names) if names and self.draw.random() < 0.8 else self.draw.choice(NAMES)
        home = self.draw.choice(("default",) * 12 + ("kube-system", "nope", "%00"))
        path = operation.path.replace("{namespace}", home).replace("{name}", name)
        if self.draw.random() < 0.02:
            path += self.draw.choice(("/", "/x", "//", "/status", "/%2e%2e", "?"))
        return path.replace("{path}", self.draw.choice(NAMES))

    def query(self, path: str) -> str:
        """Return a query; a watch is asked for as one that is soon over (the first value counts)."""
        names = self.draw.sample(QUERIES, self.draw.choice((0, 0, 0, 1, 1, 2, 4)))
        pairs = [f"{name}={self.draw.choice(TEXTS)}" for name in names]
        if self.draw.random() < 0.003:
            pairs.append("watch=true")
        if "/watch/" in path or "watch=true" in pairs:
            pairs.insert(0, "timeoutSeconds=1")
        return "&".join(pairs)

    def request(self) -> dict[str, Any]:
        """Return the arguments of one request."""
        draw = self.draw
        operation = draw.choice(self.operations if draw.random() < 0.97 else self.watches)
        if OWN in operation.path and draw.random() < 0.8:
            # Most of what is asked of these is refused to everybody.
            operation = draw.choice(self.operations)
        path = self.path(operation)
        media = draw.choice(PATCHES if operation.method == "PATCH" else (*TYPES[:3], *TYPES[:1] * 4))
        if draw.random() < 0.05:
            media = draw.choice(TYPES)
        headers = [("Content-Type", media)]
        if draw.random() < 0.3:
            headers.append(("Accept", draw.choice(ACCEPTS)))
        if draw.random() < 0.05:
            headers.append(draw.choice(HEADERS))
        method = operation.method if draw.random() < 0.97 else draw.choice(("HEAD", "OPTIONS", "TRACE", "PUT", "FROB"))
        content = self.body(operation, media) if method not in ("GET", "HEAD") or draw.random() < 0.02 else b""
        return {"method": method, "url": f"{path}?{self.query(path)}", "content": content, "headers": headers}


def _as_protobuf(document: dict[str, Any]) -> bytes | None:
    from clustersim.apiserver import protobuf

    try:
        return protobuf.encode(document)
    except Exception:
        # What is no document of its kind cannot be written; it is sent as JSON under the same name.
        return None


class Attack:
    """One run: the requests of a seed, each answer judged."""

    def __init__(self, client: httpx.AsyncClient, seed: int) -> None:
        self.client = client
        self.seed = seed
        self.findings: list[Finding] = []
        self.statuses: dict[int, int] = {}
        self.log = Log()

    async def run(self, count: int) -> None:
        """Send `count` requests."""
        from clustersim.classroom import limits
        from tests.tools.application import opened

        logging.getLogger().addHandler(self.log)
        try:
            made: Published | None = None
            for number in range(count):
                if number % SESSION_REQUESTS == 0:
                    # What one session used up of the buckets is not the next one's.
                    limits.forget()
                    session = await opened(self.client)
                    base = f"/clusters/{session['code']}"
                    allowed = {"Authorization": f"Bearer {session['token']}"}
                    made = made or Published(self.seed, await documents(self.client, base, allowed))
                    for path, document in made.beginnings():
                        await self.client.post(base + path, json=document, headers=allowed)
                assert made is not None
                await self._one(made, number, base, allowed)
        finally:
            logging.getLogger().removeHandler(self.log)

    async def _one(self, made: Published, number: int, base: str, allowed: dict[str, str]) -> None:
        request = made.request()
        request["url"] = base + request["url"]
        asked = f"{self.seed}/{number}: {request}"[:1_500]
        headers = dict(allowed)
        headers.update(request["headers"])
        before = await _revision(base)
        self.client.cookies.clear()
        try:
            answer = await self.client.request(**{**request, "headers": headers})
        except httpx.InvalidURL:
            return
        except Exception as error:
            self.findings.append(Finding(f"raised {type(error).__name__}: {error}", asked))
            return
        self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        # The options in the body of a deletion are all that count, where it has one.
        dry = "dryRun=All" in request["url"] and not (request["method"] == "DELETE" and request["content"])
        self.judge(answer, asked, changed=await _revision(base) != before, dry=dry)

    def judge(self, answer: httpx.Response, asked: str, *, changed: bool, dry: bool) -> None:
        """Note what no answer may be: a fault of the server, a refusal that changed something, one without a reason."""
        shown = f"{asked} → {answer.status_code} {answer.text[:300]}"
        if self.log.lines:
            self.findings.append(Finding(f"logged {self.log.lines[0][:200]}", shown))
            self.log.lines.clear()
        meant = answer.status_code in (501, 504) or is_upstreams_own(answer)
        if answer.status_code >= 500 and not meant:
            self.findings.append(Finding("5xx", shown))
        if changed and (answer.status_code >= 400 or dry):
            self.findings.append(Finding("changed", shown))
        if answer.status_code >= 400 and answer.headers.get("content-type", "") == "application/json":
            status = answer.json() if answer.content else {"kind": "Status", "message": "-"}
            if status.get("kind") != "Status" or not status.get("message"):
                self.findings.append(Finding("unexplained", shown))


async def documents(client: httpx.AsyncClient, base: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    """Return the published documents of every group and version."""
    index = (await client.get(f"{base}/openapi/v3", headers=headers)).json()
    return [(await client.get(f"{base}/openapi/v3/{name}", headers=headers)).json() for name in sorted(index["paths"])]


async def _revision(base: str) -> int:
    from clustersim.store import open_store, sessions

    def read() -> int:
        session = sessions.find(base.rpartition("/")[2])
        return 0 if session is None else open_store(session.id).revision

    return await asyncio.to_thread(read)


def resident() -> int:
    """Return how many bytes this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    """Send requests to an application of one's own, and print what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    os.environ["CLUSTERSIM_DATA"] = tempfile.mkdtemp(prefix="clustersim-attack-")
    import django

    django.setup()
    from django.core.management import call_command

    from clustersim.apiserver import watching
    from tests.tools.application import http

    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0, interactive=False)

    async def run() -> Attack:
        async with http() as client:
            attack = Attack(client, options.seed)
            await attack.run(options.requests)
            return attack

    began, before = time.process_time(), resident()
    with patch.object(watching, "TIMEOUT_SECONDS_MAX", WATCH_SECONDS):
        attack = asyncio.run(run())
    for finding in attack.findings:
        print(f"{finding.what}\n  {finding.request}")
    seconds, grown = time.process_time() - began, (resident() - before) >> 20
    told = dict(sorted(attack.statuses.items()))
    print(f"{options.requests} requests, {len(attack.findings)} findings, {seconds:.0f} s, {grown} MB more, {told}")
    return 1 if attack.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
