"""OpenAPI v3: the paths and structs that upstream's documents name, and where each reference leads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustersim.apiserver.discovery import group_versions
from clustersim.apiserver.messages import Request
from clustersim.apiserver.openapi import answer

SCHEMAS = "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def document(name: str) -> Any:
    return json.loads(answer(Request("GET", "AAAAAA", f"/openapi/v3/{name}", {}, {})).body)


@pytest.mark.parametrize(("group", "version"), group_versions())
def test_every_reference_leads_somewhere_and_every_path_has_its_methods(group: str, version: str) -> None:
    told = document(f"apis/{group}/{version}" if group else f"api/{version}")
    schemas = told["components"]["schemas"]
    references = {part.split('"')[0] for part in json.dumps(told).split(f'"{SCHEMAS}')[1:]}
    assert references <= schemas.keys()
    assert all(methods for methods in told["paths"].values())
    assert {} not in schemas.values()


def test_a_groups_paths_are_upstreams() -> None:
    base = "/apis/policy/v1"
    told = document("apis/policy/v1")
    assert sorted(told["paths"]) == [
        f"{base}/",
        f"{base}/namespaces/{{namespace}}/poddisruptionbudgets",
        f"{base}/namespaces/{{namespace}}/poddisruptionbudgets/{{name}}",
        f"{base}/namespaces/{{namespace}}/poddisruptionbudgets/{{name}}/status",
        f"{base}/poddisruptionbudgets",
        f"{base}/watch/namespaces/{{namespace}}/poddisruptionbudgets",
        f"{base}/watch/namespaces/{{namespace}}/poddisruptionbudgets/{{name}}",
        f"{base}/watch/poddisruptionbudgets",
    ]
    one = told["paths"][f"{base}/namespaces/{{namespace}}/poddisruptionbudgets/{{name}}"]
    assert {method: operation["x-kubernetes-action"] for method, operation in one.items()} == {
        "get": "get",
        "put": "put",
        "patch": "patch",
        "delete": "delete",
    }
    assert {name.removeprefix(f"{META}.") for name in told["components"]["schemas"] if name.startswith(META)} == {
        "APIResource", "APIResourceList", "Condition", "DeleteOptions", "FieldsV1", "LabelSelector",
        "LabelSelectorRequirement", "ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "Patch",
        "Preconditions", "Status", "StatusCause", "StatusDetails", "Time", "WatchEvent",
    }  # fmt: skip


def test_connections_and_what_is_created_alone_have_paths() -> None:
    paths = document("api/v1")["paths"]
    pod = "/api/v1/namespaces/{namespace}/pods/{name}"
    assert paths[f"{pod}/exec"].keys() == {"get", "post"}
    assert paths[f"{pod}/proxy/{{path}}"].keys() == {"get", "post", "put", "patch", "delete"}
    assert paths["/api/v1/namespaces/{namespace}/bindings"].keys() == {"post"}
    assert paths["/api/v1/nodes/{name}/proxy"]["get"]["x-kubernetes-action"] == "connect"
    reviews = document("apis/authorization.k8s.io/v1")["paths"]
    assert reviews["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"].keys() == {"post"}
