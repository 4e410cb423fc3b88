"""Lists in protobuf are written by stencils: to the byte as each object is by itself, whatever they have alike."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.apiserver import protobuf
from clustersim.apiserver.messages import PROTOBUF
from clustersim.apiserver.negotiation import Wanted
from clustersim.apiserver.protobuf import fields, stencils
from clustersim.apiserver.protobuf.fields import Field
from clustersim.apiserver.protobuf.messages import writer_of
from clustersim.apiserver.watching import Encoder
from controllers.kinds.table import kind_of
from tests.tools.plainprotobuf import message, plain_list

GOLDEN = Path(__file__).parent.parent / "golden" / "kinds"
RECORDED = Path(__file__).parent / "recorded"
HEAD = {"resourceVersion": "7"}
encode = msgspec.json.encode
TIMES = ("2026-01-01T00:00:05Z", "2026-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1969-07-20T20:17:40Z")
TEXTS = (
    "",
    "a",
    "web",
    'say "so"',
    "back\\slash",
    "说",
    "\n",
    stencils._MARK,
    "x" * 127,
    "y" * 128,
    "z" * 300,
    "{",
    "1,",
)
NUMBERS = (0, 1, 127, 128, 65_535, -1, 2**31 - 1, 2**63 - 1, -(2**63))


def pod(number: int) -> dict[str, Any]:
    """Return one pod of many."""
    since = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"web-{number:05}",
            "labels": {"b": f"{number % 3}", "a": "x"},
            "creationTimestamp": since,
        },
        "spec": {
            "containers": [
                {
                    "name": "web",
                    "resources": {"requests": {"cpu": f"{number % 5}m", "memory": "1Mi"}},
                    "ports": [{"containerPort": 80 + number % 2}],
                    "args": ["--name", f"{number}"],
                    "readinessProbe": {"httpGet": {"port": "web" if number % 2 else "http"}},
                }
            ],
            "volumes": [{"name": f"token-{number}", "projected": {"sources": [], "defaultMode": 420}}],
            "nodeName": f"node-{number % 7}",
        },
        "status": {
            "podIP": f"10.1.0.{number}",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}],
            "containerStatuses": [{"name": "web", "ready": number % 4 > 0, "restartCount": number % 6 * 100}],
        },
    }


def listed(api_version: str, kind: str, documents: list[dict[str, Any]]) -> None:
    """Assert that a list is written as the plain way writes it, and read back as each object is."""
    items = [encode(document) for document in documents]
    written = protobuf.encode_list(api_version, kind, HEAD, items)
    assert written == plain_list(api_version, kind, HEAD, items)
    alone = [protobuf.encode(document) for document in documents]
    read = [protobuf.decode(one) for one in alone if one is not None]
    assert protobuf.decode(written)["items"] == [
        {key: value for key, value in one.items() if key not in ("kind", "apiVersion")} for one in read
    ]


def test_pods_that_are_alike_are_written_by_a_stencil(monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [pod(number) for number in range(1_000)]
    alone: list[Any] = []
    whole = writer_of("core_v1.Pod")

    def counted(document: Any) -> bytes:
        alone.append(document)
        return whole(document)

    monkeypatch.setattr(stencils, "writer_of", lambda name: counted if name == "core_v1.Pod" else writer_of(name))
    items = [encode(one) for one in pods]
    assert protobuf.encode_list("v1", "Pod", HEAD, items) == plain_list("v1", "Pod", HEAD, items)
    assert 2 <= len(alone) < 20
    listed("v1", "Pod", pods)


def test_a_watch_begins_with_what_each_object_s_frame_would_be() -> None:
    pods = [pod(number) for number in range(100)]
    frames = list(protobuf.watch_frames("ADDED", "v1", "Pod", [encode(one) for one in pods]))
    assert frames == [protobuf.watch_frame("ADDED", one) for one in pods]
    encoder = Encoder(kind_of("pods"), Wanted("objects", media=PROTOBUF), 0)
    assert list(encoder.lines("ADDED", [encode(one) for one in pods])) == frames


def test_what_nothing_is_like_is_written_by_itself() -> None:
    random = Random(7)
    pods = [pod(number) for number in range(200)]
    for one in pods:
        for key in ("volumes", "nodeName"):
            if random.random() < 0.5:
                del one["spec"][key]
        one["metadata"]["labels"] = {f"l{random.randrange(1_000)}": "x" for _ in range(random.randrange(4))}
        one["spec"]["containers"] *= random.randrange(1, 4)
    listed("v1", "Pod", pods)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_every_kind_are_put_in(text: str) -> None:
    pods = [pod(number) for number in range(60)]
    for number in range(30, 60, 3):
        pods[number]["metadata"]["name"] = text
        pods[number]["status"]["podIP"] = text
    listed("v1", "Pod", pods)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_of_every_kind_are_put_in(number: int) -> None:
    pods = [pod(place) for place in range(60)]
    for one in pods[30::3]:
        one["status"]["containerStatuses"][0]["restartCount"] = number
    listed("v1", "Pod", pods)


def test_what_is_null_is_not_put_in() -> None:
    pods = [pod(place) for place in range(60)]
    for one in pods[30::3]:
        one["status"]["containerStatuses"][0]["restartCount"] = None
    listed("v1", "Pod", pods)
    for one in pods[31::3]:
        one["status"]["containerStatuses"][0]["ready"] = None
        one["status"]["podIP"] = None
    listed("v1", "Pod", pods)


def test_a_text_that_looks_like_a_hole_is_none() -> None:
    pods = [pod(place) for place in range(60)]
    for number, one in enumerate(pods):
        one["metadata"]["labels"]["a"] = "another" if number > 30 else stencils._MARK
    listed("v1", "Pod", pods)


def test_json_in_other_words_is_no_stencil_s() -> None:
    """What is stored is always written alike; who writes it otherwise is understood all the same."""
    items = [json.dumps(pod(number), indent=number % 3).encode() for number in range(60)]
    items += [encode(pod(number)).replace(b"web", rb"\u0077eb") for number in range(60)]
    assert protobuf.encode_list("v1", "Pod", HEAD, items) == plain_list("v1", "Pod", HEAD, items)


def test_layouts_and_large_objects_are_bounded() -> None:
    pods = [pod(number) for number in range(stencils.LAYOUTS_MAX + 100)]
    for number, one in enumerate(pods):
        one["metadata"]["name"] = "n" * (number + 1)
    listed("v1", "Pod", pods)
    for one in pods[:40]:
        one["metadata"]["annotations"] = {"large": "x" * stencils.STENCIL_BYTES_MAX}
    listed("v1", "Pod", pods[:60])
    for number, one in enumerate(pods[:60]):
        one["spec"]["containers"][0]["args"] = [f"{number}-{place}" for place in range(stencils.HOLES_MAX + 1)]
    listed("v1", "Pod", pods[:60])


def test_no_field_stands_in_a_message_twice() -> None:
    """A hole is one place of the JSON and one of the protobuf."""

    def names(name: str) -> Iterator[str]:
        for field in fields.fields_of(name):
            if field.name:
                yield field.name
            else:
                yield from names(field.form)

    for one in fields.messages():
        assert len(list(names(one))) == len(set(names(one))), one


BYTES = ("data", "binaryData", "request", "certificate", "caBundle")
"""Fields whose texts are base64."""


def changed(document: Any, random: Random) -> Any:
    """Return a document with some of its texts, numbers and truth values changed."""
    if isinstance(document, dict):
        return {key: value if key in BYTES else changed(value, random) for key, value in document.items()}
    if isinstance(document, list):
        return [changed(value, random) for value in document]
    if isinstance(document, bool):
        return document ^ (random.random() < 0.1)
    if isinstance(document, int):
        return random.choice(NUMBERS[:5]) if random.random() < 0.1 else document
    if isinstance(document, str) and random.random() < 0.1 and not document[:1].isdigit():
        return random.choice(TEXTS)
    return document


def alike(document: dict[str, Any], random: Random) -> list[dict[str, Any]]:
    """Return objects that have much of one in common."""
    identity = {key: document[key] for key in ("apiVersion", "kind")}
    return [{**changed(document, random), **identity} for _ in range(48)]


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_every_kind_is_listed_as_its_objects_are_written(file: Path) -> None:
    stored = json.loads(file.read_text())["stored"]
    if not protobuf.is_known(stored["apiVersion"], stored["kind"]):
        return
    if stored["kind"] == "CustomResourceDefinition":
        # A schema's numbers and values are of any kind: it is changed in its names alone.
        documents = [{**stored, "metadata": {**stored["metadata"], "name": f"n{number}"}} for number in range(48)]
    else:
        documents = alike(stored, Random(file.stem))
    listed(stored["apiVersion"], stored["kind"], documents)


def recorded() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the objects of all recorded answers by version and kind."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in gzip.decompress((RECORDED / "answers.jsonl.gz").read_bytes()).splitlines():
        for step in json.loads(line)["steps"]:
            told = (step.get("expected") or {}).get("body")
            if isinstance(told, dict) and isinstance(told.get("metadata"), dict) and told.get("apiVersion"):
                text = re.sub('"<nodeport:[0-9]+>"', "30000", json.dumps(told).replace("<time>", TIMES[0]))
                found.setdefault((told["apiVersion"], told["kind"]), []).append(json.loads(text))
    return {of: told for of, told in found.items() if protobuf.is_known(*of) and "items" not in told[0]}


def test_recorded_objects_are_listed_as_each_is_written() -> None:
    told = recorded()
    assert sum(map(len, told.values())) > 500
    for (api_version, kind), documents in told.items():
        items = [encode(document) for document in documents * (1 + stencils.ITEMS_MIN // len(documents))]
        assert protobuf.encode_list(api_version, kind, HEAD, items) == plain_list(api_version, kind, HEAD, items), kind


def values_of(field: Field, depth: int) -> st.SearchStrategy[Any]:
    """Return values of a field, of messages as deep as `depth`."""
    scalars: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "s": lambda: st.sampled_from(TEXTS),
        "i": lambda: st.sampled_from(NUMBERS),
        "b": st.booleans,
        "t": lambda: st.sampled_from(TIMES),
        "m": lambda: st.sampled_from([*(time.replace("Z", ".000001Z") for time in TIMES[:2]), *TIMES]),
        "q": lambda: st.sampled_from(["0", "100m", "1Gi", 5]),
        "o": lambda: st.sampled_from(["web", 80, ""]),
        "y": lambda: st.sampled_from(["", "YQ==", "YWJj"]),
        "j": lambda: st.sampled_from([{}, {"a": [1, "b"]}]),
    }
    if field.form in scalars:
        one = scalars[field.form]()
    elif field.is_message and depth:
        one = documents_of(field.form, depth - 1)
    else:
        return st.none()
    if field.container == "[]":
        return st.lists(one, max_size=2)
    return st.dictionaries(st.sampled_from(TEXTS), one, max_size=2) if field.container else one


def documents_of(name: str, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Return documents of a message with a few of its fields."""
    named: dict[str, Field] = stencils._named(name)
    few = st.lists(st.sampled_from(sorted(named)), unique=True, max_size=5) if named else st.just([])
    return few.flatmap(lambda chosen: st.fixed_dictionaries({key: values_of(named[key], depth) for key in chosen}))


@given(st.data())
@settings(max_examples=150)
def test_made_up_objects_are_listed_as_each_is_written(data: st.DataObject) -> None:
    api_version, kind = data.draw(
        st.sampled_from([("v1", "Pod"), ("v1", "Node"), ("v1", "Event"), ("apps/v1", "DaemonSet")])
    )
    name = fields.message_of(api_version, kind)
    made = data.draw(st.lists(documents_of(name, 4), min_size=1, max_size=3))
    random = data.draw(st.randoms(use_true_random=False))
    documents = [changed(random.choice(made), random) for _ in range(stencils.ITEMS_MIN + 8)]
    assert [writer_of(name)(one) for one in documents] == [message(name, one) for one in documents]
    items = [encode(one) for one in documents]
    assert list(stencils.written_items(name, items)) == [message(name, one) for one in documents]
