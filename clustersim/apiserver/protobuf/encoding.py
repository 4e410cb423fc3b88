"""Documents as protobuf: the bodies of objects and lists, and the frames of watches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from clustersim.apiserver.protobuf.fields import MAGIC, fields_of, message_of
from clustersim.apiserver.protobuf.messages import writer_of
from clustersim.apiserver.protobuf.stencils import written_items
from clustersim.apiserver.protobuf.wire import delimited


def encode(document: Mapping[str, Any]) -> bytes | None:
    """Return an object, list or Status as a protobuf body; None: its kind has no protobuf."""
    api_version, kind = document.get("apiVersion", "v1"), document.get("kind", "")
    message = message_of(api_version, kind)
    return _envelope(document.get("apiVersion", ""), kind, writer_of(message)(document)) if message else None


def encode_json(data: bytes) -> bytes | None:
    """Return an object that is given as JSON as a protobuf body; None: its kind has no protobuf."""
    document = msgspec.json.decode(data)
    return encode(document) if isinstance(document, dict) else None


def encode_list(api_version: str, kind: str, metadata: Mapping[str, Any], items: Sequence[bytes]) -> bytes:
    """Return a list of objects that are given as JSON; `kind` is that of one of them."""
    head = fields_of(message_of(api_version, f"{kind}List"))
    parts = [delimited(1, writer_of(head[0].form)(metadata))]
    parts += [delimited(2, item) for item in written_items(head[1].form, items)]
    return _envelope(api_version, f"{kind}List", b"".join(parts))


def watch_frame(verb: str, document: Mapping[str, Any]) -> bytes:
    """Return one event of a watch: its length in four bytes, and a WatchEvent with the object's body in it.

    Source: apimachinery's runtime/serializer/protobuf (LengthDelimitedFramer), apis/meta/v1/watch.go.
    """
    body = encode(document)
    assert body is not None, "a watch in protobuf is of a kind that has it"
    return _framed(verb, body)


def watch_frames(verb: str, api_version: str, kind: str, items: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the events of many objects of one kind, which are given as JSON, each as `watch_frame` returns it."""
    for written in written_items(message_of(api_version, kind), items):
        yield _framed(verb, _envelope(api_version, kind, written))


def _framed(verb: str, body: bytes) -> bytes:
    event = delimited(1, verb.encode()) + delimited(2, delimited(1, body))
    return len(event).to_bytes(4, "big") + event


def _envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    head = delimited(1, delimited(1, api_version.encode()) + delimited(2, kind.encode()))
    return b"".join((MAGIC, head, delimited(2, raw), delimited(3, b""), delimited(4, b"")))
