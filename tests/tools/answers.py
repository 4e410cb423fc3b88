"""Recorded answers: what a real API server (v1.34.9) answered to scripts of requests, asked again and compared."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response, error_response, parse_query
from clustersim.apiserver.negotiation import formed
from scheduler_core.api.errors import ApiError
from tests.tools.room import Room

_FOLDER: Final = Path(__file__).parents[1] / "apiserver" / "recorded"
_HOLE: Final = re.compile(r"<[a-z]+(?:[:.][^<>]*)?>")
"""What stands for whatever differs from one run to another: `<uid:1>`, `<time>`."""

_LEFT_OUT: Final = ("resourceVersion", "managedFields")


def cases(file: str = "answers") -> dict[str, Any]:
    """Return the recorded cases of a file by name."""
    lines = gzip.decompress((_FOLDER / f"{file}.jsonl.gz").read_bytes()).splitlines()
    return {case["case"]: case for case in map(json.loads, lines)}


def differences(room: Room, case: Any) -> Iterator[str]:
    """Ask a case's requests; yield where an answer is another one."""
    for namespace in case["namespaces"]:
        if room.ask("GET", f"/api/v1/namespaces/{namespace}")[0] == 404:
            room.made("/api/v1/namespaces", {"metadata": {"name": namespace}})
            room.made(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    for number, step in enumerate(case["steps"]):
        answer = _asked(room, step)
        if "expected" not in step:
            continue
        expected = step["expected"]
        warned = sorted(text for name, text in answer.headers if name == "warning")
        body: Any = answer.body.decode()
        if answer.content_type == "application/json":
            body = json.loads(body)
        for what, wanted, given in (
            ("status", expected["status"], answer.status),
            ("warnings", expected["headers"].get("warning", []), warned),
            ("type", expected["headers"].get("content-type"), answer.content_type or None),
            ("body", expected["body"], body),
        ):
            for text in _unlike(wanted, given, what):
                yield f"{case['case']}, step {number}: {text}"


def _asked(room: Room, step: Any) -> Response:
    sent = step.get("raw", json.dumps(step["body"]) if "body" in step else "")
    headers = {
        "authorization": f"Bearer {room.teacher}",
        "user-agent": "corpus/1.0",
        "accept": "application/json",
        **({"content-type": "application/json"} if sent else {}),
        **{name.lower(): text for name, text in (step.get("headers") or {}).items()},
    }
    query = {key: str(text) for key, text in (step.get("query") or {}).items()}
    request = Request(step["method"], room.code, unquote(step["path"]), parse_query("") | query, headers, sent.encode())
    try:
        answer = handle(request)
    except ApiError as error:
        answer = formed(request, error_response(error))
    assert isinstance(answer, Response)
    return answer


def _unlike(wanted: Any, given: Any, path: str) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(given, dict):
        given = _without_ours(given)
        for key in sorted(wanted.keys() | given.keys()):
            if key not in _LEFT_OUT:
                yield from _unlike(wanted.get(key), given.get(key), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
        for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
            yield from _unlike(one, other, f"{path}[{index}]")
    elif isinstance(wanted, str) and _HOLE.fullmatch(wanted) and given is not None:
        return
    elif isinstance(wanted, str) and isinstance(given, str):
        pattern = ".*".join(map(re.escape, _HOLE.split(wanted)))
        if not re.fullmatch(pattern, given, re.DOTALL):
            yield f"{path}: {given!r} is not {wanted!r}"
    elif wanted != given:
        yield f"{path}: {given!r} is not {wanted!r}"


def _without_ours(document: dict[str, Any]) -> dict[str, Any]:
    annotations = document.get("annotations")
    if not isinstance(annotations, dict):
        return document
    kept = {key: text for key, text in annotations.items() if "clustersim.io/" not in key}
    rest = {key: value for key, value in document.items() if key != "annotations"}
    return {**rest, "annotations": kept} if kept else rest
