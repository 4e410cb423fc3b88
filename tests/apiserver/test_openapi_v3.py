"""OpenAPI v3: the paths and structs that upstream's documents name, and where each reference leads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustersim.apiserver import openapischema
from clustersim.apiserver.discovery import group_versions
from clustersim.apiserver.messages import Request
from clustersim.apiserver.openapi import answer
from controllers.registry.schema import model

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


def test_a_patch_names_its_forms() -> None:
    patch = document("apis/apps/v1")["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    content = patch["requestBody"]["content"]
    assert content.keys() == {
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    }
    assert all(one["schema"] == {"$ref": f"{SCHEMAS}{META}.Patch"} for one in content.values())


def test_connections_and_what_is_created_alone_have_paths() -> None:
    paths = document("api/v1")["paths"]
    pod = "/api/v1/namespaces/{namespace}/pods/{name}"
    assert paths[f"{pod}/exec"].keys() == {"get", "post"}
    assert paths[f"{pod}/proxy/{{path}}"].keys() == {"get", "post", "put", "patch", "delete"}
    assert paths["/api/v1/namespaces/{namespace}/bindings"].keys() == {"post"}
    assert paths["/api/v1/nodes/{name}/proxy"]["get"]["x-kubernetes-action"] == "connect"
    reviews = document("apis/authorization.k8s.io/v1")["paths"]
    assert reviews["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"].keys() == {"post"}


def test_fields_say_what_they_may_hold_what_stands_for_them_and_how_they_merge() -> None:
    schemas = document("apis/apps/v1")["components"]["schemas"]

    def of(struct: str, field: str) -> dict[str, Any]:
        told: dict[str, Any] = schemas[struct]["properties"][field]
        return {key: value for key, value in told.items() if key != "description"}

    core, apps = "io.k8s.api.core.v1", "io.k8s.api.apps.v1"
    assert of(f"{core}.ContainerPort", "protocol") == {
        "type": "string",
        "default": "TCP",
        "enum": ["SCTP", "TCP", "UDP"],
    }
    assert of(f"{core}.ContainerPort", "containerPort") == {"type": "integer", "format": "int32", "default": 0}
    assert of(f"{core}.ContainerPort", "hostIP") == {"type": "string"}
    assert of(f"{core}.Container", "env") == {
        "type": "array",
        "items": {"allOf": [{"$ref": f"{SCHEMAS}{core}.EnvVar"}], "default": {}},
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-patch-merge-key": "name",
        "x-kubernetes-patch-strategy": "merge",
    }
    assert of(f"{core}.Container", "command") == {
        "type": "array",
        "items": {"type": "string", "default": ""},
        "x-kubernetes-list-type": "atomic",
    }
    assert of(f"{core}.ResourceRequirements", "limits") == {
        "type": "object",
        "additionalProperties": {"$ref": f"{SCHEMAS}io.k8s.apimachinery.pkg.api.resource.Quantity"},
    }
    assert of(f"{apps}.DeploymentSpec", "strategy") == {
        "allOf": [{"$ref": f"{SCHEMAS}{apps}.DeploymentStrategy"}],
        "default": {},
        "x-kubernetes-patch-strategy": "retainKeys",
    }
    assert of(f"{apps}.DeploymentSpec", "selector") == {"allOf": [{"$ref": f"{SCHEMAS}{META}.LabelSelector"}]}
    assert schemas[f"{META}.LabelSelector"]["x-kubernetes-map-type"] == "atomic"
    assert schemas[f"{core}.ContainerPort"]["required"] == ["containerPort"]
    assert schemas[f"{apps}.DeploymentCondition"]["required"] == ["type", "status"]
    kinds = schemas[f"{apps}.DeploymentList"]["x-kubernetes-group-version-kind"]
    assert kinds == [{"group": "apps", "kind": "DeploymentList", "version": "v1"}]


def test_what_fields_may_hold_is_said_of_fields_there_are() -> None:
    for (struct, field), texts in openapischema.enums().items():
        assert field in model(struct).fields, (struct, field)
        assert texts == sorted(set(texts)), (struct, field)
    assert len(openapischema.enums()) > 80


def test_a_schema_names_what_may_stand_in_it_as_upstream_does() -> None:
    package = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
    schemas = document("apis/apiextensions.k8s.io/v1")["components"]["schemas"]
    fields = schemas[f"{package}.JSONSchemaProps"]["properties"]
    assert fields["items"]["$ref"] == f"{SCHEMAS}{package}.JSONSchemaPropsOrArray"
    assert fields["not"] == {"$ref": f"{SCHEMAS}{package}.JSONSchemaProps"}
    assert fields["dependencies"]["additionalProperties"]["$ref"] == f"{SCHEMAS}{package}.JSONSchemaPropsOrStringArray"
    whole = {"allOf": [{"$ref": f"{SCHEMAS}{package}.JSONSchemaProps"}], "default": {}}
    assert fields["properties"]["additionalProperties"] == whole


def test_the_index_lists_groups_versions_and_what_is_no_resource() -> None:
    response = answer(Request("GET", "AAAAAA", "/openapi/v3", {}, {"accept": "text/html"}))
    assert (response.status, response.content_type) == (200, "text/plain; charset=utf-8")
    paths = json.loads(response.body)["paths"]
    assert list(paths) == sorted(paths)
    assert {"api", "apis", "apis/apps", "version", "openid/v1/jwks", ".well-known/openid-configuration"} <= paths.keys()
    for name, place in paths.items():
        _, _, tag = place["serverRelativeURL"].partition("?hash=")
        told = answer(Request("GET", "AAAAAA", f"/openapi/v3/{name}", {"hash": tag}, {}))
        assert (told.status, ("etag", f'"{tag}"') in told.headers) == (200, True)


@pytest.mark.parametrize(
    ("name", "structs"),
    [
        ("api", ["APIVersions", "ServerAddressByClientCIDR"]),
        ("apis", ["APIGroup", "APIGroupList", "GroupVersionForDiscovery", "ServerAddressByClientCIDR"]),
        ("apis/apps", ["APIGroup", "GroupVersionForDiscovery", "ServerAddressByClientCIDR"]),
    ],
)
def test_what_is_no_resource_has_a_document(name: str, structs: list[str]) -> None:
    told = document(name)
    assert list(told["paths"]) == [f"/{name}/"]
    assert sorted(told["components"]["schemas"]) == [f"{META}.{struct}" for struct in structs]


def test_the_version_may_leave_out_what_is_emulated() -> None:
    (told,) = document("version")["components"]["schemas"].values()
    assert told["properties"].keys() - set(told["required"]) == {
        "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor",
    }  # fmt: skip


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3/version"])
def test_a_document_in_no_form_that_the_client_takes_is_not_told(path: str) -> None:
    told = answer(Request("GET", "AAAAAA", path, {}, {"accept": "text/html"}))
    assert (told.status, told.body) == (406, b"")
    assert answer(Request("GET", "AAAAAA", path, {}, {"accept": "text/html, */*;q=0.1"})).status == 200
