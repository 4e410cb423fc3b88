"""A body sent to a subresource is read whole, as upstream reads it: what does not count must still be what it says."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.tools.apiserver import Api

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]},
}
SUBRESOURCES = ("status", "ephemeralcontainers", "resize")

UNREADABLE = [
    (
        ("spec", "securityContext"),
        "x",
        "json: cannot unmarshal string into Go struct field PodSpec.spec.securityContext of type v1.PodSecurityContext",
    ),
    (
        ("metadata", "labels"),
        "x",
        "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
    ),
    (("spec", "overhead"), [1], "json: cannot unmarshal array into Go struct field PodSpec.spec.overhead of type "),
    (("status", "conditions"), "x", "json: cannot unmarshal string into Go struct field PodStatus.status.conditions"),
    (("spec", "volumes"), "x", "json: cannot unmarshal string into Go struct field PodSpec.spec.volumes of type []"),
]


def _with(document: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    return changed


@pytest.fixture
def pods(api: Api, namespace: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/pods"
    assert api.request("POST", path, POD)[0] == 201
    return path


@pytest.mark.parametrize("subresource", SUBRESOURCES)
@pytest.mark.parametrize(("path", "value", "why"), UNREADABLE)
def test_what_does_not_count_is_read_too(
    api: Api, pods: str, subresource: str, path: tuple[str, ...], value: Any, why: str
) -> None:
    _, pod, _ = api.request("GET", f"{pods}/web")
    status, refused, _ = api.request("PUT", f"{pods}/web/{subresource}", _with(pod, path, value))
    assert status == 400, refused
    assert refused["message"].startswith(f'Pod in version "v1" cannot be handled as a Pod: {why}')
    # Upstream reads the body before it looks for the object.
    missing = _with(_with(pod, path, value), ("metadata", "name"), "gone")
    assert api.request("PUT", f"{pods}/gone/{subresource}", missing)[0] == 400
    assert api.request("GET", f"{pods}/web")[1] == pod


@pytest.mark.parametrize("subresource", SUBRESOURCES)
def test_what_nobody_knows_is_told_wherever_it_stands(api: Api, pods: str, subresource: str) -> None:
    _, pod, _ = api.request("GET", f"{pods}/web")
    body = _with(pod, ("spec", "bogus"), 1)
    _, _, headers = api.request("PUT", f"{pods}/web/{subresource}", body)
    assert headers["Warning"] == '299 - "unknown field \\"spec.bogus\\""'
    body["metadata"].pop("resourceVersion")
    status, refused, _ = api.request("PUT", f"{pods}/web/{subresource}?fieldValidation=Strict", body)
    assert status == 400
    assert 'strict decoding error: unknown field "spec.bogus"' in refused["message"]


@pytest.mark.parametrize("subresource", ["ephemeralcontainers", "resize"])
@pytest.mark.parametrize(
    ("key", "value", "code", "why"),
    [
        ("name", "other", 400, "the name of the object (other) does not match the name on the URL (web)"),
        (
            "namespace",
            "other",
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        ("uid", "abc", 409, "Precondition failed: UID in precondition: abc, UID in object meta: "),
        ("resourceVersion", "1", 409, "the object has been modified"),
    ],
)
def test_which_pod_is_meant_is_looked_at(
    api: Api, pods: str, subresource: str, key: str, value: str, code: int, why: str
) -> None:
    _, pod, _ = api.request("GET", f"{pods}/web")
    body = _with(pod, ("metadata", key), value)
    status, refused, _ = api.request("PUT", f"{pods}/web/{subresource}", body)
    assert (status, refused["code"]) == (code, code)
    assert why in refused["message"]
