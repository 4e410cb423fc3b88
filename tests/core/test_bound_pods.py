"""A pod that was bound is read from what was read of it before, and is what it would be if it were read anew."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from scheduler_core.snapshot.node_info import PodInfo

POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "a", "uid": "u", "resourceVersion": "7", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}], "priority": 3},
    "status": {"phase": "Pending"},
}
CONDITION = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def changed(**parts: dict[str, Any]) -> dict[str, Any]:
    document = deepcopy(POD)
    document["metadata"]["resourceVersion"] = "8"
    document["spec"]["nodeName"] = "n"
    for part, more in parts.items():
        document[part] |= more
    return document


def test_a_binding_is_read_from_what_was_known() -> None:
    known, document = PodInfo.of(POD), changed(status={"conditions": [CONDITION]})
    bound, anew = known.bound(POD, document), PodInfo.of(document)
    assert bound is not None
    assert bound.pod == anew.pod
    assert bound.sums is known.sums
    assert (bound.sums, bound.kin, bound.traits, bound.shape) == (anew.sums, anew.kin, anew.traits, anew.shape)


@pytest.mark.parametrize(
    "document",
    [
        changed(metadata={"labels": {"app": "db"}}),
        changed(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        changed(spec={"priority": 4}),
        changed(spec={"nodeName": None}),
        changed(status={"containerStatuses": [{"name": "c"}]}),
        POD,
    ],
)
def test_any_other_change_is_read_anew(document: dict[str, Any]) -> None:
    assert PodInfo.of(POD).bound(POD, document) is None


def test_what_is_known_must_be_what_was_changed() -> None:
    older = deepcopy(POD)
    older["metadata"]["resourceVersion"] = "6"
    assert PodInfo.of(older).bound(POD, changed()) is None
    assert PodInfo.of(changed()).bound(changed(), changed(spec={"nodeName": "m"})) is None
