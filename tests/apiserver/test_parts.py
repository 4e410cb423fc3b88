"""Parts that need no server: ages, protobuf, limits, paths, negotiation, YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim.apiserver import protobuf, tables
from clustersim.apiserver.limits import WATCHES_MAX, Watches
from clustersim.apiserver.messages import Request, json_response, parse_query
from clustersim.apiserver.negotiation import STREAMED_TOO, Wanted, aggregated_version, check_acceptable, formed, wanted
from clustersim.apiserver.protobuf import fields
from clustersim.apiserver.routes import parse
from clustersim.classroom.auth import cookies_in
from controllers.kinds.table import KINDS, kind_of
from controllers.log import stamps
from controllers.registry.schema import is_model, model
from scheduler_core.api.errors import ApiError


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"), (0, "0s"), (1, "1s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"),
        (600, "10m"), (3 * 3600 - 1, "179m"), (3 * 3600, "3h"), (3 * 3600 + 1200, "3h20m"), (8 * 3600, "8h"),
        (47 * 3600, "47h"), (48 * 3600, "2d"), (50 * 3600, "2d2h"), (8 * 86400, "8d"), (729 * 86400, "729d"),
        (730 * 86400, "2y"), (800 * 86400, "2y70d"), (9 * 365 * 86400, "9y"),
    ],
)  # fmt: skip
def test_ages_are_written_as_kubectl_writes_them(seconds: int, text: str) -> None:
    assert stamps.human_duration(seconds) == text


POD_STATES: list[tuple[dict[str, Any], str]] = [
    ({"phase": "Pending"}, "Pending"),
    ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
    ({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
     "ImagePullBackOff"),
    ({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}, "ExitCode:3"),
    ({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]},
     "SchedulingGated"),
    ({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}, "Running"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "word"), POD_STATES)
def test_the_status_column_tells_the_reason(status: dict[str, Any], word: str) -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}, "status": status}
    row = tables.row(kind_of("pods"), pod, tables.age_by(0), Wanted("table", "None"))
    names = [column.name for column in kind_of("pods").columns]
    assert row["cells"][names.index("Status")] == word
    assert row["object"] is None
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    going = tables.row(kind_of("pods"), pod, tables.age_by(0), Wanted("table", "None"))
    # What has ended says how, to the end.
    assert going["cells"][names.index("Status")] == (word if status["phase"] == "Failed" else "Terminating")


def _varint(number: int) -> bytes:
    out = b""
    while True:
        number, low = number >> 7, number & 0x7F
        if not number:
            return out + bytes([low])
        out += bytes([low | 0x80])


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value & (2**64 - 1))


def _envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    meta = _bytes(1, api_version.encode()) + _bytes(2, kind.encode())
    return protobuf.MAGIC + _bytes(1, meta) + _bytes(2, raw) + _bytes(3, b"") + _bytes(4, b"")


def test_protobuf_keeps_zeros_that_are_meant_and_drops_those_that_are_not() -> None:
    metadata = _bytes(1, b"high") + _bytes(2, b"") + _number(7, 0) + _bytes(8, b"")
    raw = _bytes(1, metadata) + _number(2, -5) + _number(3, 0) + _bytes(4, "说明".encode())
    assert protobuf.decode(_envelope("scheduling.k8s.io/v1", "PriorityClass", raw)) == {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": -5,
        "description": "说明",
    }
    options = protobuf.decode(_envelope("v1", "DeleteOptions", _number(1, 0) + _bytes(4, b"Background")))
    assert options["gracePeriodSeconds"] == 0
    assert options["propagationPolicy"] == "Background"


def test_protobuf_reads_maps_quantities_and_times() -> None:
    pair = _bytes(1, b"cpu") + _bytes(2, _bytes(1, b"500m"))
    created = _bytes(8, _number(1, 1_767_225_600))
    quota = _envelope("v1", "ResourceQuota", _bytes(1, created) + _bytes(2, _bytes(1, pair)))
    document = protobuf.decode(quota)
    assert document["spec"] == {"hard": {"cpu": "500m"}}
    assert document["metadata"] == {"creationTimestamp": "2026-01-01T00:00:00Z"}


def test_a_field_that_is_not_known_is_refused_never_dropped() -> None:
    with pytest.raises(ApiError) as refusal:
        protobuf.decode(_envelope("v1", "ConfigMap", _bytes(99, b"x")))
    assert (refusal.value.code, "field 99 of ConfigMap" in refusal.value.message) == (415, True)
    with pytest.raises(ApiError) as refusal:
        protobuf.decode(_envelope("v1", "Nothing", b""))
    assert refusal.value.code == 415


def test_protobuf_of_every_kind_has_the_fields_of_the_schema() -> None:
    served = {kind.schema for kind in KINDS if not kind.schema.startswith("clustersim_")}
    assert served <= fields.messages().keys()

    def names(message: str) -> Iterator[str]:
        for field in fields.fields_of(message):
            yield from (field.name,) if field.name else names(field.form)

    def told(message: str) -> set[str]:
        found = set(model(message).fields)
        return found - {"apiVersion", "kind"} if "metadata" in found or message in TYPED else found

    whole = [message for message in fields.messages() if message not in PARTS | OPEN and is_model(message)]
    assert {message: set(names(message)) for message in whole} == {message: told(message) for message in whole}


TYPED = {
    "meta_v1.APIGroup",
    "meta_v1.APIGroupList",
    "meta_v1.APIResourceList",
    "meta_v1.APIVersions",
    "meta_v1.DeleteOptions",
}
"""Messages without metadata of which JSON tells kind and version."""

PARTS = {
    "admissionregistration_v1.Rule",
    "core_v1.EphemeralContainerCommon",
    "core_v1.PersistentVolumeSource",
    "core_v1.ProbeHandler",
    "core_v1.VolumeSource",
    "networking_v1.IngressRuleValue",
    "resource_v1.DeviceConfiguration",
}
"""Messages whose fields stand in the structs that hold them."""

OPEN = {"apiextensions_v1.CustomResourceSubresourceStatus"}
"""Messages of which the installed models say no more than that they are objects."""


def test_protobuf_puts_parts_of_a_struct_where_json_has_them() -> None:
    claim = _bytes(10, _bytes(1, b"data-0") + _number(2, 0))
    volume = _bytes(1, b"data") + _bytes(2, claim)
    probe = _bytes(1, _bytes(2, _bytes(1, b"/live") + _bytes(2, _number(1, 0) + _number(2, 80))))
    context = _bytes(15, _number(2, 1) + _number(4, 0))
    container = _bytes(1, b"main") + _bytes(10, probe) + context
    template = _bytes(2, _bytes(1, volume) + _bytes(2, container))
    raw = _bytes(2, _number(1, 0) + _bytes(3, template)) + _bytes(3, _number(2, 3))
    document = protobuf.decode(_envelope("apps/v1", "StatefulSet", raw))
    assert document["spec"]["replicas"] == 0
    assert document["status"]["replicas"] == 3
    spec = document["spec"]["template"]["spec"]
    assert spec["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}]
    assert spec["containers"][0]["livenessProbe"] == {"httpGet": {"path": "/live", "port": 80}}
    assert spec["containers"][0]["securityContext"] == {"privileged": True, "runAsUser": 0}


def test_protobuf_reads_bytes_small_times_json_and_maps_of_structs() -> None:
    data = _bytes(2, _bytes(1, b"key") + _bytes(2, b"\x00\xff"))
    assert protobuf.decode(_envelope("v1", "Secret", data))["data"] == {"key": "AP8="}
    renewed = _bytes(2, _bytes(4, _number(1, 1_767_225_600) + _number(2, 1_234_000)))
    lease = protobuf.decode(_envelope("coordination.k8s.io/v1", "Lease", renewed))
    assert lease["spec"] == {"renewTime": "2026-01-01T00:00:00.001234Z"}
    revision = protobuf.decode(
        _envelope("apps/v1", "ControllerRevision", _bytes(2, _bytes(1, b'{"a":1}')) + _number(3, 2))
    )
    assert (revision["data"], revision["revision"]) == ({"a": 1}, 2)
    extra = _bytes(5, _bytes(1, b"k") + _bytes(2, _bytes(1, b"v") + _bytes(1, b"w")))
    review = protobuf.decode(_envelope("authorization.k8s.io/v1", "SubjectAccessReview", _bytes(2, extra)))
    assert review["spec"] == {"extra": {"k": ["v", "w"]}}
    evicted = _bytes(2, _bytes(1, b"web-0") + _bytes(2, _number(1, 1_767_225_600)))
    budget = protobuf.decode(_envelope("policy/v1", "PodDisruptionBudget", _bytes(3, evicted)))
    assert budget["status"]["disruptedPods"] == {"web-0": "2026-01-01T00:00:00Z"}


@given(st.binary(max_size=60), st.sampled_from(["Pod", "Secret", "Service", "PodTemplate", "DeleteOptions", "Event"]))
def test_any_protobuf_is_read_or_refused(raw: bytes, kind: str) -> None:
    try:
        answer: object = protobuf.decode(_envelope("v1", kind, raw))["kind"]
    except ApiError as error:
        answer = error.code
    assert answer in (kind, 400, 415)


def test_watches_are_limited_by_participant() -> None:
    watches = Watches()
    for _ in range(WATCHES_MAX):
        watches.open(1)
    with pytest.raises(ApiError) as refusal:
        watches.open(1)
    assert (refusal.value.code, refusal.value.retry_after_seconds) == (429, 1)
    watches.open(2)
    watches.close(1)
    watches.open(1)


@pytest.mark.parametrize(
    ("path", "resource", "namespace", "name", "subresource"),
    [
        ("/api/v1/namespaces", "namespaces", None, "", ""),
        ("/api/v1/namespaces/room", "namespaces", None, "room", ""),
        ("/api/v1/namespaces/room/finalize", "namespaces", None, "room", "finalize"),
        ("/api/v1/namespaces/room/status", "namespaces", None, "room", "status"),
        ("/api/v1/namespaces/status/pods", "pods", "status", "", ""),
        ("/api/v1/pods", "pods", None, "", ""),
        ("/api/v1/namespaces/room/pods/web/log", "pods", "room", "web", "log"),
        ("/api/v1/nodes/n/status", "nodes", None, "n", "status"),
        ("/apis/apps/v1/namespaces/room/deployments/web/scale", "deployments.apps", "room", "web", "scale"),
        ("/apis/clustersim.io/v1/clocks/clock", "clocks.clustersim.io", None, "clock", ""),
    ],
)
def test_paths(path: str, resource: str, namespace: str | None, name: str, subresource: str) -> None:
    target = parse(path)
    assert (target.kind.resource, target.namespace, target.name, target.subresource) == (
        resource, namespace, name, subresource,
    )  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "/api", "/api/v1", "/api/v1/pods/web", "/api/v1/namespaces/room/nodes", "/api/v1/namespaces/room/nodes/n",
        "/api/v1/namespaces/room/pods/web/status/more", "/api/v1/namespaces/room/configmaps/a/status", "/x/v1/pods",
        "/apis/apps/v2/deployments", "/api/v1/namespaces/room/pods/web/exec\x00",
    ],
)  # fmt: skip
def test_paths_that_name_nothing(path: str) -> None:
    with pytest.raises(ApiError) as refusal:
        parse(path)
    assert refusal.value.code == 404


def _request(accept: str, query: str = "") -> Request:
    return Request("GET", "AAAAAA", "/", parse_query(query), {"accept": accept})


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("application/json", "objects"),
        ("", "objects"),
        ("application/vnd.kubernetes.protobuf,application/json", "objects"),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "table"),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "table"),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "objects"),
        ("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io", "table"),
        ("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", "objects"),
        ("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "metadata"),
        ("*/*", "objects"),
    ],
)
def test_the_accept_header_chooses_the_form(accept: str, form: str) -> None:
    assert wanted(_request(accept)).form == form


@pytest.mark.parametrize(
    "accept",
    ["application/json;as=Poem;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v9", "text/html"],
)
def test_a_form_that_is_not_served_is_not_acceptable(accept: str) -> None:
    with pytest.raises(ApiError) as refusal:
        wanted(_request(accept))
    assert (refusal.value.code, refusal.value.reason) == (406, "NotAcceptable")
    assert refusal.value.message.endswith("application/json, application/yaml, application/vnd.kubernetes.protobuf")


def test_what_no_route_produces_is_refused_before_anything_is_read() -> None:
    for accept in ("", "*/*", "text/html,application/json;q=0.9", "application/yaml"):
        check_acceptable(_request(accept))
    with pytest.raises(ApiError) as refusal:
        check_acceptable(_request("application/xml"), produced=STREAMED_TOO)
    assert refusal.value.status()["details"] == {}
    assert refusal.value.message.startswith("406: Not Acceptable\n\nAvailable representations: application/json, ")
    assert refusal.value.message.endswith(", application/vnd.kubernetes.protobuf;stream=watch")


def test_yaml_is_written_as_upstream_writes_it() -> None:
    document = {"kind": "A", "apiVersion": "v1", "n2": "1", "n10": ["x"], "t": "2026-01-02T03:04:05Z", "e": "", "m": {}}
    answer = formed(_request("application/yaml"), json_response(document))
    assert answer.content_type == "application/yaml"
    expected = 'apiVersion: v1\ne: ""\nkind: A\nm: {}\nn2: "1"\nn10:\n- x\nt: "2026-01-02T03:04:05Z"\n'
    assert answer.body.decode() == expected
    assert formed(_request("application/json"), json_response(document)).content_type == "application/json"


def test_aggregated_discovery_is_chosen_by_its_version() -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    assert aggregated_version(_request(accept)) == "v2"
    assert aggregated_version(_request("application/json")) == ""


def test_parameters() -> None:
    request = _request("", "a=1&a=2&b=&c=t&d=-1&e=99999999999999999999")
    assert (request.query["a"], request.flag("b"), request.flag("c"), request.flag("x")) == ("1", True, True, False)
    assert (request.number("a"), request.number("d")) == (1, -1)
    for name in ("b", "c", "e"):
        with pytest.raises(ApiError):
            request.number(name)
    with pytest.raises(ApiError):
        parse_query("&".join("a=1" for _ in range(1000)))
    assert cookies_in({"cookie": 'a=1; b="2" ; c; a=3'}) == {"a": "1", "b": "2"}
