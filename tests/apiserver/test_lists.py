"""Lists and pages, and what a resourceVersion asks for."""

from __future__ import annotations

from typing import Any

from tests.tools.apiserver import Api

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def _make(api: Api, namespace: str, *names: str) -> list[dict[str, Any]]:
    made = []
    for name in names:
        body = {"metadata": {"name": name, "labels": {"app": name[0]}}, "data": {"k": name}}
        status, document, _ = api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)
        assert status == 201
        made.append(document)
    return made


def _names(document: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in document["items"]]


def test_pages_stay_at_the_revision_of_the_first(api: Api, namespace: str) -> None:
    _make(api, namespace, "a1", "b1", "c1", "d1", "e1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?limit=2"
    _, first, _ = api.request("GET", path)
    assert _names(first) == ["a1", "b1"]
    assert first["metadata"]["remainingItemCount"] == 3
    api.request("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/d1")
    _make(api, namespace, "c2")
    _, second, _ = api.request("GET", f"{path}&continue={first['metadata']['continue']}")
    assert _names(second) == ["c1", "d1"]
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    _, third, _ = api.request("GET", f"{path}&continue={second['metadata']['continue']}")
    assert _names(third) == ["e1"]
    assert "continue" not in third["metadata"]


def test_exact_reads_the_past_and_not_older_than_the_present(api: Api, namespace: str) -> None:
    first, _ = _make(api, namespace, "a1", "b1")
    revision = first["metadata"]["resourceVersion"]
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _, exact, _ = api.request("GET", f"{path}?resourceVersion={revision}&resourceVersionMatch=Exact")
    assert _names(exact) == ["a1"]
    assert exact["metadata"]["resourceVersion"] == revision
    for query in (f"resourceVersion={revision}&resourceVersionMatch=NotOlderThan", f"resourceVersion={revision}"):
        _, newer, _ = api.request("GET", f"{path}?{query}")
        assert _names(newer) == ["a1", "b1"]
    _, any_, _ = api.request("GET", f"{path}?resourceVersion=0")
    assert _names(any_) == ["a1", "b1"]


def test_a_revision_that_is_not_there_yet_is_a_timeout(api: Api, namespace: str) -> None:
    status, document, headers = api.request("GET", f"/api/v1/namespaces/{namespace}/pods?resourceVersion=999999999")
    assert (status, document["reason"]) == (504, "Timeout")
    assert document["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert headers["Retry-After"] == "1"


def test_parameters_that_cannot_be_read_are_named(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    for query, code in (
        ("resourceVersion=abc", 400),
        ("limit=x", 400),
        ("continue=!!", 400),
        ("limit=", 400),
        ("timeoutSeconds=x", 400),
        ("sendInitialEvents=true", 422),
        ("labelSelector=a%3D%3D%3Db", 400),
        ("fieldSelector=spec.color%3Dred", 400),
        ("resourceVersionMatch=Exact", 422),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422),
    ):
        status, document, _ = api.request("GET", f"{path}?{query}")
        assert (query, status, document["kind"]) == (query, code, "Status")


def test_tables_and_metadata_alone(api: Api, namespace: str) -> None:
    _make(api, namespace, "a1")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _, table, _ = api.request("GET", path, headers={"Accept": TABLE})
    assert table["kind"] == "Table"
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    (row,) = table["rows"]
    assert row["cells"][:2] == ["a1", 1]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    _, whole, _ = api.request("GET", f"{path}?includeObject=Object", headers={"Accept": TABLE})
    assert whole["rows"][0]["object"]["data"] == {"k": "a1"}
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    _, partial, _ = api.request("GET", path, headers={"Accept": accept})
    assert "data" not in partial["items"][0]


def test_a_collection_is_deleted_by_selector(api: Api, namespace: str) -> None:
    _make(api, namespace, "a1", "a2", "b1")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    status, document, _ = api.request("DELETE", f"{path}?labelSelector=app%3Da")
    assert (status, _names(document)) == (200, ["a1", "a2"])
    assert _names(api.request("GET", path)[1]) == ["b1"]


def test_a_large_collection_goes_in_one_request(api: Api, namespace: str) -> None:
    _make(api, namespace, *(f"n{index:03}" for index in range(120)))
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    status, document, _ = api.request("DELETE", f"{path}?dryRun=All")
    assert (status, len(document["items"])) == (200, 120)
    assert len(api.request("GET", path)[1]["items"]) == 120
    status, document, _ = api.request("DELETE", path)
    assert (status, len(document["items"])) == (200, 120)
    assert api.request("GET", path)[1]["items"] == []


def test_lists_over_all_namespaces_are_sorted_by_namespace_and_name(api: Api, namespace: str) -> None:
    _make(api, namespace, "z1", "a1")
    _, document, _ = api.request("GET", "/api/v1/configmaps")
    places = [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in document["items"]]
    assert places == sorted(places)
    assert (namespace, "a1") in places


def test_a_page_that_may_not_be_the_last_says_how_to_go_on(api: Api, namespace: str) -> None:
    _make(api, namespace, "a1", "b1", "c1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?limit=1"
    _, first, _ = api.request("GET", f"{path}&labelSelector=app%3Da")
    assert _names(first) == ["a1"]
    _, rest, _ = api.request("GET", f"{path}&labelSelector=app%3Da&continue={first['metadata']['continue']}")
    assert (_names(rest), rest["metadata"].get("continue")) == ([], None)
    _, last, _ = api.request("GET", f"{path}&labelSelector=app%3Dc")
    assert (_names(last), last["metadata"].get("continue")) == (["c1"], None)


def test_fields_are_refused_in_the_words_of_their_kind(api: Api) -> None:
    for path, field, why in (
        ("/api/v1/nodes", "metadata.namespace", "field label not supported: metadata.namespace"),
        ("/apis/batch/v1/jobs", "spec.x", 'field label "spec.x" not supported for Job'),
        (
            "/apis/resource.k8s.io/v1/resourceslices",
            "spec.x",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x",
        ),
    ):
        status, refused, _ = api.request("GET", f"{path}?fieldSelector={field}%3D1")
        assert (status, refused["message"]) == (400, why)
    assert api.request("GET", "/api/v1/pods?fieldSelector=status.podIPs%3Dx")[0] == 200
    assert api.request("GET", "/api/v1/pods?fieldSelector=%3D")[0] == 200


def test_what_is_quoted_in_a_selector_is_shown_quoted(api: Api) -> None:
    _, refused, _ = api.request("GET", "/api/v1/pods?labelSelector=%22a%22%3Db")
    assert refused["message"].startswith(r'unable to parse requirement: <nil>: Invalid value: "\"a\"": name part')
