"""DELETE as upstream answers it: options, a collection's answer, and what is told of what is gone."""

from __future__ import annotations

from typing import Any

import pytest

MAPS = "/api/v1/namespaces/default/configmaps"


def make(api: Any, *names: str) -> None:
    for name in names:
        status, _, _ = api.request("POST", MAPS, {"metadata": {"name": name, "labels": {"of": name[0]}}})
        assert status in (201, 409)


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        (
            {"propagationPolicy": "Sometimes"},
            "propagationPolicy",
            'Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "propagationPolicy",
            'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        ),
        ({"dryRun": ["x"]}, "dryRun", 'Unsupported value: ["x"]: supported values: "All"'),
    ],
)
def test_options_that_make_no_sense(sqlite_api: Any, body: dict[str, Any], field: str, message: str) -> None:
    api = sqlite_api
    make(api, "kept")
    status, refused, _ = api.request("DELETE", f"{MAPS}/kept", body)
    assert (status, refused["reason"], refused["details"]["kind"]) == (422, "Invalid", "DeleteOptions")
    assert [(cause["field"], cause["message"]) for cause in refused["details"]["causes"]] == [(field, message)]
    assert api.request("GET", f"{MAPS}/kept")[0] == 200


def test_options_in_the_query_count_where_there_is_no_body(sqlite_api: Any) -> None:
    api = sqlite_api
    make(api, "a")
    status, refused, _ = api.request("DELETE", f"{MAPS}/a?gracePeriodSeconds=x")
    assert (status, refused["message"]) == (400, 'strconv.ParseInt: parsing "x": invalid syntax')
    status, refused, _ = api.request("DELETE", f"{MAPS}/a?resourceVersion=1")
    assert (status, refused["details"]["kind"]) == (409, "ConfigMap")
    status, told, _ = api.request("DELETE", f"{MAPS}/a?dryRun=All")
    assert (status, told["status"]) == (200, "Success")
    assert api.request("GET", f"{MAPS}/a")[0] == 200
    assert api.request("DELETE", f"{MAPS}/a")[0] == 200
    assert api.request("GET", f"{MAPS}/a")[0] == 404


def test_dependents_that_go_with_it_take_a_while(sqlite_api: Any) -> None:
    api = sqlite_api
    body = {"metadata": {"name": "held", "finalizers": ["a.example/b"]}}
    assert api.request("POST", MAPS, body)[0] == 201
    assert api.request("DELETE", f"{MAPS}/held", {"orphanDependents": False})[0] == 202
    assert api.request("DELETE", f"{MAPS}/held")[0] == 200


def test_a_collection_answers_with_what_was_there(sqlite_api: Any) -> None:
    api = sqlite_api
    make(api, "set-a", "set-b", "set-c")
    status, first, _ = api.request("DELETE", f"{MAPS}?labelSelector=of%3Ds&limit=2")
    assert (status, first["kind"]) == (200, "ConfigMapList")
    assert [set(item) & {"kind", "apiVersion"} for item in first["items"]] == [set(), set()]
    assert [item["metadata"]["name"] for item in first["items"]] == ["set-a", "set-b"]
    assert first["metadata"]["continue"]
    _, left, _ = api.request("GET", f"{MAPS}?labelSelector=of%3Ds")
    assert [item["metadata"]["name"] for item in left["items"]] == ["set-c"]
    status, refused, _ = api.request("DELETE", f"{MAPS}?resourceVersion=0&labelSelector=of%3Ds")
    assert (status, refused["details"]["name"]) == (409, "set-c")
    status, refused, _ = api.request("DELETE", f"{MAPS}?fieldSelector=spec.x%3D1")
    assert status == 400
    assert refused["message"] == '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'


def test_a_kind_that_is_returned(sqlite_api: Any) -> None:
    api = sqlite_api
    path = "/api/v1/namespaces/default/serviceaccounts"
    _, made, _ = api.request("POST", path, {"metadata": {"name": "robot"}})
    status, gone, _ = api.request("DELETE", f"{path}/robot")
    assert status == 200
    assert int(gone["metadata"].pop("resourceVersion")) > int(made["metadata"].pop("resourceVersion"))
    assert gone == made


def test_every_answer_about_a_deprecated_kind_says_so(sqlite_api: Any) -> None:
    api = sqlite_api
    path = "/api/v1/namespaces/default/endpoints"
    for method, body in (("GET", None), ("POST", {"metadata": {"name": "web"}, "subsets": [{}]})):
        _, _, headers = api.request(method, path, body)
        text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
        assert headers["warning"] == f'299 - "{text}"'
    status, _, headers = api.request("PATCH", f"{path}/web", {}, content_type="text/plain")
    assert (status, "warning" in headers) == (415, False), "no route leads to whoever would warn"


def test_options_of_a_wrong_type_are_no_options(sqlite_api: Any) -> None:
    api = sqlite_api
    make(api, "typed")
    go = "json: cannot unmarshal"
    for body, why in (
        (
            {"gracePeriodSeconds": "5"},
            f"{go} string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        ({"dryRun": "All"}, f"{go} string into Go struct field DeleteOptions.dryRun of type []string"),
        (
            {"kind": "Pod", "apiVersion": "v1"},
            'no kind "Pod" is registered for version "v1" in scheme '
            '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
        ),
    ):
        status, refused, _ = api.request("DELETE", f"{MAPS}/typed", body)
        assert (status, refused["message"]) == (500, why)
    assert api.request("GET", f"{MAPS}/typed")[0] == 200


def test_a_collection_as_of_a_revision_before_it_has_nothing_to_delete(sqlite_api: Any) -> None:
    api = sqlite_api
    _, before, _ = api.request("GET", MAPS)
    make(api, "later")
    revision = before["metadata"]["resourceVersion"]
    status, gone, _ = api.request("DELETE", f"{MAPS}?labelSelector=of%3Dl&resourceVersion={revision}")
    assert (status, gone["items"]) == (200, [])
    assert api.request("GET", f"{MAPS}/later")[0] == 200


def test_what_ends_gracefully_keeps_what_was_said_of_its_dependents(sqlite_api: Any) -> None:
    api = sqlite_api
    pods = "/api/v1/namespaces/default/pods"
    body = {"metadata": {"name": "ends"}, "spec": {"nodeName": "silent", "containers": [{"name": "c", "image": "i"}]}}
    assert api.request("POST", pods, body)[0] == 201
    api.request("DELETE", f"{pods}/ends", {"propagationPolicy": "Foreground"})
    _, again, _ = api.request("DELETE", f"{pods}/ends", {"propagationPolicy": "Orphan"})
    assert again["metadata"]["finalizers"] == ["foregroundDeletion"]
    api.request("DELETE", f"{pods}/ends", {"gracePeriodSeconds": 0})


def test_a_namespace_of_another_version_stays(sqlite_api: Any) -> None:
    body = {"preconditions": {"resourceVersion": "1234567"}}
    status, refused, _ = sqlite_api.request("DELETE", "/api/v1/namespaces/kube-public", body)
    assert (status, refused["details"]["kind"]) == (409, "namespaces")
    why = "Precondition failed: ResourceVersion in precondition: 1234567, ResourceVersion in object meta: "
    assert why in refused["message"]


@pytest.mark.parametrize("key", ["uid", "resourceVersion"])
def test_an_empty_precondition_is_one_that_nothing_meets(sqlite_api: Any, key: str) -> None:
    maps = "/api/v1/namespaces/default/configmaps"
    assert sqlite_api.request("POST", maps, {"metadata": {"name": "kept"}})[0] in (201, 409)
    status, refused, _ = sqlite_api.request("DELETE", f"{maps}/kept", {"preconditions": {key: ""}})
    assert (status, refused["reason"]) == (409, "Conflict")
    assert (
        f"the {key.replace('r', 'R', 1) if key != 'uid' else 'UID'} in the precondition () does not match"
        in (refused["message"])
    )


def test_who_leaves_the_pods_of_a_job_is_warned_even_where_there_is_none(sqlite_api: Any) -> None:
    status, _, headers = sqlite_api.request("DELETE", "/apis/batch/v1/namespaces/default/jobs/none")
    assert status == 404
    assert "child pods are preserved by default" in headers["warning"]
