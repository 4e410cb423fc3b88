"""Objects that an API server has from its first moment: the same in every session, so no row of a log holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.computed import Facts
from scheduler_core.api.document import Document, FrozenDocument
from scheduler_core.api.draw import draw_uid


def defaults_beside(module: str) -> Iterator[Document]:
    """Yield what `defaults.jsonl` holds, a line each, in the folder of a module (its `__file__`)."""
    for line in Path(module).with_name("defaults.jsonl").read_text(encoding="utf-8").splitlines():
        yield msgspec.json.decode(line)


def standing(facts: Facts, resource: str, document: FrozenDocument) -> Stored:
    """Return an object of a server as if it had been stored in the session's first moment.

    Args:
        facts: when that was.
        resource: where it is kept, `clusterroles.rbac.authorization.k8s.io`.
        document: complete but for `uid`, `resourceVersion` and `creationTimestamp`.
    """
    metadata: Mapping[str, Any] = document["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    uid = draw_uid(0, "standing", f"{resource}/{namespace}/{name}")
    marks = {"uid": uid, "resourceVersion": "1", "creationTimestamp": wire_time(facts.epoch_ms)}
    whole = {**document, "metadata": {**metadata, **marks}}
    return Stored(resource, namespace, name, uid, 1, msgspec.json.encode(whole))
