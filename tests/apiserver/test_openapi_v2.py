"""Clients that know no OpenAPI v3 read v2: every kind with its fields, as JSON and as the protobuf of client-go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.openapi import answer
from controllers.kinds.table import SERVED

ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
GVK = "x-kubernetes-group-version-kind"
DEPLOYMENT = {"group": "apps", "version": "v1", "kind": "Deployment"}


def get(accept: str = "") -> Response:
    return answer(Request("GET", "K7QM2X", "/openapi/v2", {}, {"accept": accept} if accept else {}))


def told() -> Any:
    response = get()
    assert response.content_type == "application/json"
    return json.loads(response.body)


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield (number, bytes or integer) of a protobuf message."""

    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    at = 0
    while at < len(data):
        key, at = varint(at)
        size, at = varint(at)
        if key & 7 == 0:
            yield key >> 3, size
            continue
        assert key & 7 == 2
        yield key >> 3, data[at : at + size]
        at += size
    assert at == len(data)


def inner(data: bytes, *numbers: int) -> list[Any]:
    """Return what lies at a path of field numbers."""
    found = [data]
    for number in numbers:
        found = [value for one in found for key, value in fields(one) if key == number]
    return found


SCHEMAS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


def test_every_kind_is_defined_and_every_reference_leads_somewhere() -> None:
    document = told()
    assert (document["swagger"], document["info"]) == ("2.0", {"title": "Kubernetes", "version": "1.34"})
    kinds = [gvk for one in document["definitions"].values() for gvk in one.get(GVK, ())]
    for kind in SERVED:
        assert {"group": kind.group, "version": kind.version, "kind": kind.kind} in kinds, kind.resource
    # What defines schemas has fields of these names itself.
    schemas = document["definitions"].pop(SCHEMAS)
    text = json.dumps(document)
    document["definitions"][SCHEMAS] = schemas
    assert "#/components" not in text
    assert '"oneOf"' not in text
    assert '"allOf"' not in text
    references = {part.split('"')[0] for part in text.split('"#/definitions/')[1:]}
    assert references <= document["definitions"].keys()
    containers = document["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["items"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Container"}
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    spec = document["definitions"]["io.k8s.api.apps.v1.Deployment"]["properties"]["spec"]
    assert spec["$ref"] == "#/definitions/io.k8s.api.apps.v1.DeploymentSpec"
    surge = document["definitions"]["io.k8s.api.apps.v1.RollingUpdateDeployment"]["properties"]["maxSurge"]
    assert surge["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"
    either = document["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    assert (either["type"], either["format"]) == ("string", "int-or-string")
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch[GVK] == DEPLOYMENT
    assert "application/strategic-merge-patch+json" in patch["consumes"]
    assert patch["parameters"][0]["schema"] == {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch"}
    assert "dryRun" in [one["name"] for one in patch["parameters"]]


def test_the_protobuf_says_what_the_json_says() -> None:
    response = get(ASKED)
    assert response.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    document, data = told(), response.body
    assert inner(data, 1) == [b"2.0"]
    assert inner(data, 2, 1) == [b"Kubernetes"]
    assert [one.decode() for one in inner(data, 9, 1, 1)] == list(document["definitions"])
    assert [one.decode() for one in inner(data, 8, 2, 1)] == list(document["paths"])
    (deployment,) = [one for one in inner(data, 9, 1) if inner(one, 1) == [b"io.k8s.api.apps.v1.Deployment"]]
    wanted = document["definitions"]["io.k8s.api.apps.v1.Deployment"]
    assert inner(deployment, 2, 4) == [wanted["description"].encode()]
    assert [one.decode() for one in inner(deployment, 2, 25, 1, 1)] == list(wanted["properties"])
    (extension,) = inner(deployment, 2, 31)
    assert inner(extension, 1) == [GVK.encode()]
    assert [json.loads(one) for one in inner(extension, 2, 2)] == [[DEPLOYMENT]]
    (path,) = [
        one
        for one in inner(data, 8, 2)
        if inner(one, 1) == [b"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
    ]
    assert b"dryRun" in inner(path, 2, 8, 8, 1, 2, 3, 4)
    assert b"application/strategic-merge-patch+json" in inner(path, 2, 8, 7)
