"""The schema: every kind's fields are found, types are checked, documents are normalised."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from controllers.kinds.table import KINDS
from controllers.registry.checking import check, too_deep
from controllers.registry.schema import model


def _reachable(key: str, seen: set[str]) -> None:
    if key not in seen:
        seen.add(key)
        for field in model(key).fields.values():
            if field.model:
                _reachable(field.model, seen)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_field_of_every_kind_has_a_type(kind: Any) -> None:
    seen: set[str] = set()
    _reachable(kind.schema, seen)
    assert "metadata" in model(kind.schema).fields
    assert "meta_v1.ObjectMeta" in seen


def test_the_schema_is_the_whole_one() -> None:
    assert {"readinessProbe", "securityContext", "envFrom", "resizePolicy"} <= model("core_v1.Container").fields.keys()
    assert model("core_v1.PodSpec").fields["containers"].required
    assert not model("core_v1.PodSpec").fields["volumes"].required
    assert "order" in model("core_v1.PodSpec").descriptions["initContainers"]


@pytest.mark.parametrize(
    ("field", "value", "good"),
    [
        ("spec.hostNetwork", True, True),
        ("spec.hostNetwork", "true", False),
        ("spec.hostNetwork", 1, False),
        ("spec.priority", 5, True),
        ("spec.priority", 5.0, False),
        ("spec.priority", True, False),
        ("spec.priority", 2**64, False),
        ("spec.nodeName", 5, False),
        ("spec.nodeSelector", {"a": 1}, False),
        ("spec.nodeSelector", ["a"], False),
        ("spec.tolerations", {}, False),
        ("spec.tolerations", ["a"], False),
        ("spec.overhead", {"cpu": 1.5}, True),
        ("spec.overhead", {"cpu": "1x"}, False),
        ("spec.overhead", {"cpu": True}, False),
        ("spec.overhead", {"cpu": "9" * 5000}, False),
        ("metadata.creationTimestamp", "2026-01-01T00:00:00Z", True),
        ("metadata.creationTimestamp", "yesterday", False),
        ("metadata.labels", {"a": "b"}, True),
    ],
)
def test_types(field: str, value: Any, good: bool) -> None:
    outer, inner = field.split(".")
    document: dict[str, Any] = {"spec": {"containers": [{"name": "c"}]}}
    document.setdefault(outer, {})[inner] = value
    report = check(document, "core_v1.Pod")
    assert (report.wrong == []) is good
    assert not report.unknown


def test_documents_are_normalised() -> None:
    document = {
        "metadata": {"creationTimestamp": None, "labels": {"a": None}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": 2}}}, None], "extra": {}},
    }
    report = check(document, "core_v1.Pod")
    assert document == {
        "metadata": {"labels": {"a": ""}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}, {}]},
    }
    assert report.unknown == ["spec.extra"]


def test_what_status_lacks_is_not_asked_for() -> None:
    document = {"spec": {"containers": []}, "status": {"containerStatuses": [{"name": "c"}]}}
    assert check(document, "core_v1.Pod").missing == []
    assert [cause.field for cause in check({"spec": {}}, "core_v1.Pod").missing] == ["spec.containers"]


def test_depth_is_measured_without_recursion() -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    assert too_deep(nested)
    assert not too_deep({"a": [{"b": {}}]})


def test_the_first_import_loads_no_models() -> None:
    """Start-up stays fast: a model module is read when its first document comes."""
    code = "import controllers.registry.registry, sys; print([m for m in sys.modules if m.endswith('.core_v1')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
