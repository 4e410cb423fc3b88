"""Recorded cases: what a real API server and controllers (v1.34.9) did, played again in memory and compared.

A case is a script of requests and waits; what is compared is what became of each named object: the turning points of
its counts, the values of its spec and conditions in order, and the Events about it. Which pod has which random name,
times, and what kubelets write are left out.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controllers.kinds.table import KINDS
from controllers.log.operations import Create, Delete, Operation, Patch, Update
from controllers.log.store import DELETED
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Lab, node

FOLDER: Final = Path(__file__).parents[1] / "apiserver" / "recorded"
PATCHES: Final[dict[str, Any]] = {
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/json-patch+json": "json",
}
FLAGS: Final = {
    "kube-controller-manager": {
        "node-monitor-grace-period": "12s",
        "node-monitor-period": "2s",
        "horizontal-pod-autoscaler-sync-period": "3s",
        "pvclaimbinder-sync-period": "3s",
    },
    "kubelet": {"annotation-prefix": "corpus"},
}
"""The flags that the servers had, as far as they change what happens."""

IMAGES: Final = ("web:1", "web:2", "task:1")
"""All that the scripts run."""

STEP_SECONDS: Final = 0.1
"""Simulated seconds between two looks of a wait."""

_PATH: Final = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<ns>[^/]+))?/(?P<plural>[^/]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?"
)
_FILL: Final = re.compile(r"\$\{(?P<what>get|uid|name):(?P<step>[^:}]+)(?::(?P<path>[^}]+))?\}")
_RANDOM: Final = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])")
_RESOURCES: Final = {(kind.group, kind.plural): kind.resource for kind in KINDS}
_TOLD: Final = re.compile(r"spec\.replicas|status\..*")
_OF_TIME: Final = re.compile(r".*(Time|Timestamp)|.*[uU]id|.*\.uncounted.*")


def cases(topic: str) -> dict[str, Document]:
    """Return the cases of a topic by name."""
    lines = gzip.decompress((FOLDER / f"{topic}.jsonl.gz").read_bytes()).decode().splitlines()
    return {case["case"]: case for case in map(json.loads, lines)}


def differences(case: Document) -> list[str]:
    """Play a case; return what became otherwise."""
    player = _Player(case)
    return [text for step in case["steps"] for text in player.step(step)]


class _Player:
    """One case under way."""

    def __init__(self, case: Document) -> None:
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}} for one in case["namespaces"]]
        nodes = [node(one, cpu="16", memory="64Gi") for one in case["nodes"]]
        flags = {"metadata": {"name": "flags"}, "spec": FLAGS}
        self.lab = Lab(spaces)
        self.lab.do(Create("flags.clustersim.io", "", flags))
        self.lab.cluster.obey(self.lab.unix_ms)
        self.lab.create(*nodes)
        # What the recorded kubelets ran needed no pulling.
        self.lab.create(*(_warm(one["metadata"]["name"]) for one in nodes))
        self.lab.run(120)
        for one in nodes:
            self.lab.do(Delete("pods", "kube-system", one["metadata"]["name"], grace_period_seconds=0))
        self.lab.run(5)
        self.expected = case["expected"]
        self.began: dict[str, tuple[int, list[tuple[str, str]]]] = {}
        self.before: dict[str, list[tuple[str, Document]]] = {}
        self.answers: dict[str, Document] = {}

    def step(self, step: Document) -> Iterator[str]:
        """Do one step; yield what is otherwise."""
        step = self._filled(step)
        if "method" in step:
            self._request(step)
        elif "wait" in step:
            if not self._wait(step["wait"], step["seconds"]):
                yield f"{step['id']}: waited in vain"
        elif "sleep" in step:
            self.lab.run(step["sleep"])
        elif step["states"] == "open":
            places = [(resource, namespace) for resource, namespace, _, _ in map(_place, step["paths"])]
            self.began[step["id"]] = (self.lab.store.revision, places)
            self.before[step["id"]] = [
                ("existing", stored.object)
                for resource, namespace in places
                for stored in self.lab.store.list(resource, namespace or None)[0]
            ]
        else:
            self.lab.run(step["settle"] + 2)
            after, places = self.began[step["of"]]
            rows = [row for row in self.lab.rows(after) if (row.resource, row.namespace) in places]
            seen = [(row.verb, row.object) for row in rows]
            yield from _compared([*self.before[step["of"]], *seen], self.expected[step["id"]])

    def _filled(self, step: Document) -> Document:
        def value(found: re.Match[str]) -> str:
            what, name, path = found["what"], found["step"], found["path"]
            answer = self.answers[name]
            return str(_at(answer, path) if what == "get" else answer["metadata"][what])

        filled: Document = json.loads(_FILL.sub(value, json.dumps(step)))
        return filled

    def _request(self, step: Document) -> None:
        resource, namespace, name, sub = _place(step["path"])
        body, headers = step.get("body") or {}, step.get("headers") or {}
        operation: Operation
        match step["method"]:
            case "GET":
                found = self.lab.store.list(resource, namespace or None)[0]
                documents = [one.object for one in found if name in ("", one.name)]
                self.answers[step["id"]] = documents[0] if name and documents else {"items": documents}
                return
            case "POST":
                operation = Create(resource, namespace, body, sub)
            case "PUT":
                operation = Update(resource, namespace, name, body, sub)
            case "PATCH":
                operation = Patch(resource, namespace, name, body, PATCHES[headers["Content-Type"]], sub)
            case _:
                grace = body.get("gracePeriodSeconds")
                asked = body.get("propagationPolicy", "")
                operation = Delete(resource, namespace, name, grace_period_seconds=grace, propagation=asked)
        try:
            self.answers[step["id"]] = self.lab.do(operation)
        except (ApiError, AssertionError):
            # Some requests are meant to be refused; what becomes of things tells.
            return

    def _wait(self, wanted: Document, seconds: float) -> bool:
        resource, namespace, name, _ = _place(wanted["path"])
        until_ms = self.lab.cluster.now_ms + 4000 * seconds
        while self.lab.cluster.now_ms < until_ms:
            self.lab.run(STEP_SECONDS)
            found = self.lab.store.list(resource, namespace or None)[0]
            documents = [one.object for one in found if name in ("", one.name)]
            if wanted.get("status") == 404:
                good = not documents
            elif "count" in wanted:
                good = len(documents) == wanted["count"]
            else:
                good = bool(documents) and _is_so(documents[0], wanted.get("where") or {})
            if good:
                return True
        return False


def _compared(seen: Sequence[tuple[str, Document]], expected: Document) -> Iterator[str]:
    """Yield what became otherwise with what was there and with each change since."""
    courses: dict[str, dict[str, list[Any]]] = {}
    happened: dict[str, list[list[Any]]] = {}
    for verb, document in seen:
        if "involvedObject" in document:
            _note(document, happened)
            continue
        course = courses.setdefault(f"{document['kind']} {document['metadata']['name']}", {})
        life = course.setdefault("(life)", ["existing" if verb == "existing" else "added"])
        if verb == DELETED:
            life.append("deleted")
            continue
        leaves = dict(_leaves(document))
        for path in course.keys() | leaves.keys():
            if path != "(life)" and course.setdefault(path, [])[-1:] != [leaves.get(path)]:
                course[path].append(leaves.get(path))
    for name, paths in expected["objects"].items():
        for path, wanted in paths.items():
            have = courses.get(name, {}).get(path, [None])
            if _is_told(name, path) and not _agrees(wanted, have):
                yield f"{name} {path}: {have}, not {wanted}"
    for name, wanted in expected["events"].items():
        if not name.startswith("Pod ") and not _agrees(wanted, happened.get(name, [])):
            yield f"{name} events: {happened.get(name)}, not {wanted}"


def _note(event: Document, happened: dict[str, list[list[Any]]]) -> None:
    about, source = event["involvedObject"], event["source"]["component"]
    text = _RANDOM.sub("-<rand>", event.get("message", ""))
    told = [event["type"], event["reason"], text, source]
    events = happened.setdefault(_RANDOM.sub("-<rand>", f"{about['kind']} {about['name']}"), [])
    if source != "kubelet" and told not in events:
        events.append(told)


def _warm(name: str) -> Document:
    """Return a pod that lets a node pull all images of the scripts."""
    spec: Document = {
        "nodeName": name,
        "containers": [{"name": image[:-2] + image[-1], "image": image} for image in IMAGES],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "kube-system"}, "spec": spec}


def _place(path: str) -> tuple[str, str, str, str]:
    """Return (resource, namespace, name, subresource) of a request's path."""
    found = _PATH.fullmatch(path.partition("?")[0])
    assert found is not None, path
    part = found.groupdict(default="")
    return _RESOURCES[part["group"], part["plural"]], part["ns"], part["name"], part["sub"]


def _is_told(name: str, path: str) -> bool:
    if "<rand>" in name or name.startswith("Pod "):
        return False
    return path == "(life)" or (_TOLD.fullmatch(path) is not None and _OF_TIME.fullmatch(path) is None)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, value); items of lists with a type or a name go by that."""
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            key = key.replace(".", "\\.")
            yield from _leaves(member, f"{path}.{key}" if path else key)
    elif (
        isinstance(value, list) and value and all(isinstance(one, dict) and {"type", "name"} & {*one} for one in value)
    ):
        for one in value:
            yield from _leaves(one, f"{path}[{one.get('type') or one.get('name')}]")
    else:
        yield path, value


def _at(value: Any, path: str) -> Any:
    """Return what stands at a path; `conditions[type=Ready]` picks an item, a number counts. None: nothing."""
    for part in re.findall(r"(?:\\.|[^.\[\]\\])+", path):
        part = part.replace("\\", "")
        if isinstance(value, list):
            key, _, wanted = part.partition("=")
            if wanted:
                value = next((one for one in value if one.get(key) == wanted), None)
            else:
                value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, Mapping):
            value = value.get(part)
        else:
            return None
    return value


def _is_so(document: Document, where: Mapping[str, Any]) -> bool:
    for path, wanted in where.items():
        have = _at(document, path)
        if not isinstance(wanted, dict):
            if (have or 0 if wanted == 0 else have) != wanted:
                return False
        elif "gte" in wanted:
            if (have or 0) < wanted["gte"]:
                return False
        elif (have is None) != ("missing" in wanted):
            return False
    return True


def _agrees(wanted: Any, have: list[Any]) -> bool:
    """Return whether a course is what was recorded, as far as two recordings agreed."""
    if not isinstance(wanted, dict):
        return bool(wanted == have)
    if "turns" in wanted:
        return bool(_turns(have) == wanted["turns"])
    if "ends" in wanted:
        return [have[0], have[-1]] == wanted["ends"]
    if "last" in wanted:
        return bool(have[-1] == wanted["last"])
    if "set" in wanted:
        return sorted(map(json.dumps, have)) == sorted(map(json.dumps, wanted["set"]))
    if "has" in wanted:
        return all(one in have for one in wanted["has"])
    return "any" in wanted


def _turns(course: Sequence[Any]) -> list[int]:
    """Return where a count, from 0 on, stops rising or falling: what does not depend on who is how fast."""
    turns = [0]
    for value in (one or 0 for one in course):
        if value == turns[-1]:
            continue
        if len(turns) > 1 and (value > turns[-1]) == (turns[-1] > turns[-2]):
            turns[-1] = value
        else:
            turns.append(value)
    return turns
