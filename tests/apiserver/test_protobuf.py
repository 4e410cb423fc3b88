"""Protobuf out and in: the bytes that Go writes, every kind there and back, and whoever asks for it gets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustersim.apiserver import protobuf
from clustersim.apiserver.messages import Request, json_response
from clustersim.apiserver.negotiation import formed, wanted_of, wanted_stream
from clustersim.apiserver.protobuf import fields
from controllers.kinds.table import COMPUTED, SERVED, kind_of
from scheduler_core.api.errors import ApiError, not_found
from tests.tools.apiserver import Api, watch_event
from tests.tools.messages import body, encoded

GOLDEN = Path(__file__).parent.parent / "golden" / "kinds"
ISO = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
PROTOBUF = "application/vnd.kubernetes.protobuf"
EITHER = f"{PROTOBUF},application/json"


def metadata(name: str = "", namespace: str = "", seconds: int = 0, **more: Any) -> bytes:
    """Return an ObjectMeta as Go writes it: texts that are empty, a generation of nought and no time, all there."""
    made = encoded(f1=seconds, f2=0) if seconds else b""
    return encoded(f1=name, f2="", f3=namespace, f4="", f5="", f6="", f7=0, f8=made, **more)


def test_an_object_is_written_as_go_writes_it() -> None:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "ns", "creationTimestamp": ISO, "labels": {"b": "2", "a": "1"}},
        "data": {"key": "说"},
    }
    labels = encoded(f11=encoded(f1="a", f2="1")) + encoded(f11=encoded(f1="b", f2="2"))
    head = metadata("a", "ns", SECONDS) + labels
    assert protobuf.encode(document) == body("v1", "ConfigMap", encoded(f1=head, f2=encoded(f1="key", f2="说")))
    small = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    assert protobuf.encode(small) == bytes.fromhex(
        "6b387300" "0a0f" "0a027631" "12094e616d657370616365"
        "1219" "0a11" "0a016e" "1200" "1a00" "2200" "2a00" "3200" "3800" "4200" "1200" "1a02" "0a00" "1a00" "2200"
    )  # fmt: skip


def test_what_is_no_pointer_in_go_is_written_where_it_is_zero() -> None:
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "ports": [{"containerPort": 80}],
                    "readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 3},
                    "resources": {"requests": {"cpu": "250m"}},
                }
            ],
            "terminationGracePeriodSeconds": 0,
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
        "status": {"startTime": ISO},
    }
    port = encoded(f1="", f2=0, f3=80, f4="", f5="")
    get = encoded(f1="", f2=encoded(f1=0, f2=8080, f3=""), f3="", f4="")
    probe = encoded(f1=encoded(f2=get), f2=0, f3=0, f4=3, f5=0, f6=0)
    needs = encoded(f2=encoded(f1="cpu", f2=encoded(f1="250m")))
    container = encoded(
        f1="c", f2="i", f5="", f6=port, f8=needs, f11=probe, f13="", f14="", f16=0, f17=0, f18=0, f20=""
    )
    volume = encoded(f1="v", f2=encoded(f2=encoded(f1="")))
    spec = encoded(
        f1=volume, f2=container, f3="", f4=0, f6="", f8="", f9="", f10="", f11=0, f12=0, f13=0, f16="", f17="", f19="",
        f24="",
    )  # fmt: skip
    started = encoded(f1=SECONDS, f2=0)
    status = encoded(f1="", f3="", f4="", f5="", f6="", f7=started, f9="", f11="", f14="", f17=0)
    assert protobuf.encode(document) == body("v1", "Pod", encoded(f1=metadata("p"), f2=spec, f3=status))


def test_a_list_has_its_items_without_their_kinds() -> None:
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    head = {"resourceVersion": "7", "remainingItemCount": 3}
    written = protobuf.encode_list("v1", "ConfigMap", head, [json.dumps(item).encode()])
    listed = encoded(f1="", f2="7", f3="", f4=3)
    assert written == body("v1", "ConfigMapList", encoded(f1=listed, f2=encoded(f1=metadata("a"))))
    assert protobuf.decode(written) == {
        "apiVersion": "v1",
        "kind": "ConfigMapList",
        "metadata": head,
        "items": [{"metadata": {"name": "a"}}],
    }
    assert protobuf.encode({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": head, "items": [item]}) == written


def test_a_watch_is_written_in_frames() -> None:
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    frame = protobuf.watch_frame("ADDED", item)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:] == encoded(f1="ADDED", f2=encoded(f1=protobuf.encode(item)))
    assert watch_event(frame[4:]) == {"type": "ADDED", "object": item}


def test_refusals_and_lists_of_resources_have_messages_too() -> None:
    refusal = not_found("pods", "web").status()
    details = encoded(f1="web", f2="", f3="pods", f5=0, f6="")
    head = encoded(f1="", f2="", f3="")
    status = encoded(f1=head, f2="Failure", f3=refusal["message"], f4="NotFound", f5=details, f6=404)
    assert protobuf.encode(refusal) == body("v1", "Status", status)
    resource = {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": ["get", "list"]}
    verbs = encoded(f1="get") + encoded(f1="list")
    entry = encoded(f1="pods", f2=1, f3="Pod", f4=verbs, f6="pod", f8="", f9="", f10="")
    listed = {"kind": "APIResourceList", "groupVersion": "v1", "resources": [resource]}
    assert protobuf.encode(listed) == body("", "APIResourceList", encoded(f1="v1", f2=entry))


def plain(value: Any) -> Any:
    """Return a document without what is empty: the wire does not tell an empty struct from one that is not there."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: plain(item) for key, item in value.items()}
    return {key: item for key, item in found.items() if item not in (None, "", 0, False) and item != {} and item != []}


def untyped(stored: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the kinds of the objects in it, which JSON tells and protobuf has no place for."""
    for claim in stored.get("spec", {}).get("volumeClaimTemplates", ()):
        del claim["apiVersion"], claim["kind"]
    return stored


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_every_kind_goes_there_and_back(file: Path) -> None:
    stored = json.loads(file.read_text())["stored"]
    written = protobuf.encode(stored)
    ours = stored["apiVersion"].startswith("clustersim.io/")
    assert (written is None) is ours
    if written is not None:
        assert plain(protobuf.decode(written)) == plain(untyped(stored))
        assert protobuf.encode(protobuf.decode(written)) == written


def test_all_that_is_served_has_a_message_but_what_is_of_this_project() -> None:
    for kind in (*SERVED, *COMPUTED):
        known = protobuf.is_known(kind.api_version, kind.kind)
        assert known is not kind.group.startswith("clustersim"), kind.resource
        assert protobuf.is_known(kind.api_version, f"{kind.kind}List") is known
        for subresource in kind.subresources:
            if subresource.body is not None and not subresource.simulated:
                group, version, name = subresource.body
                assert protobuf.is_known(f"{group}/{version}" if group else version, name)


def test_a_custom_resource_is_never_taken_for_one_of_upstreams() -> None:
    assert protobuf.is_known("batch/v1", "Job")
    assert not protobuf.is_known("batch.example.dev/v1", "Job")
    assert not protobuf.is_known("core.example.dev/v1", "Pod")


def test_schemas_of_custom_resources_there_and_back() -> None:
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "array",
                "items": {"type": "number", "minimum": -1.5, "maximum": 0, "default": 0},
                "additionalProperties": False,
                "x-kubernetes-validations": [{"rule": "self.size() > 0", "message": "none"}],
            },
            "more": {"additionalProperties": {"type": "string", "enum": ["a", 1, None]}},
            "tuple": {"items": [{"type": "string"}, {"type": "integer"}], "dependencies": {"a": ["b"], "c": {}}},
        },
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.dev"},
        "spec": {"group": "example.dev", "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
    }
    written = protobuf.encode(definition)
    assert written is not None
    version = protobuf.decode(written)["spec"]["versions"][0]
    assert version["schema"]["openAPIV3Schema"] == schema


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00:02.000000Z",
        "0999-12-31T23:59:59.500000Z",
        "1970-01-01T00:00:00.000000Z",
        "1969-07-20T20:17:40.000001Z",
    ],
)
def test_times_before_the_epoch_go_there_and_back(time: str) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "old"},
        "spec": {"renewTime": time},
    }
    written = protobuf.encode(lease)
    assert written is not None
    assert protobuf.decode(written)["spec"] == {"renewTime": time}
    for zero in ("0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00Z"):
        written = protobuf.encode({**lease, "spec": {"renewTime": zero}})
        assert written is not None
        assert "renewTime" not in protobuf.decode(written)["spec"]


def test_who_takes_protobuf_gets_it_where_there_is_one() -> None:
    request = Request("GET", "ABC123", "/", {}, {"accept": EITHER})
    refusal = json_response(not_found("pods", "web").status(), 404)
    told = formed(request, refusal)
    assert (told.status, told.content_type) == (404, PROTOBUF)
    assert protobuf.decode(told.body)["reason"] == "NotFound"
    plainly = formed(request, json_response({"major": "1"}))
    assert (plainly.content_type, plainly.body) == ("application/json", b'{"major":"1"}\n')
    assert wanted_of(request, kind_of("pods")).media == PROTOBUF
    assert wanted_of(request, kind_of("clocks.clustersim.io")).media == "application/json"


def test_custom_resources_have_no_protobuf_but_their_metadata_has() -> None:
    clocks = kind_of("clocks.clustersim.io")
    with pytest.raises(ApiError) as refusal:
        wanted_of(Request("GET", "ABC123", "/", {}, {"accept": PROTOBUF}), clocks)
    assert refusal.value.code == 406
    accept = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    want = wanted_of(Request("GET", "ABC123", "/", {}, {"accept": accept}), clocks)
    assert (want.form, want.media) == ("metadata", PROTOBUF)


def test_a_watch_is_never_yaml() -> None:
    with pytest.raises(ApiError) as refusal:
        wanted_stream(Request("GET", "ABC123", "/", {}, {"accept": "application/yaml"}), kind_of("pods"))
    assert refusal.value.code == 406
    assert refusal.value.message.endswith(f": application/json;stream=watch, {PROTOBUF};stream=watch")


def test_old_lists_of_metadata_have_their_own_numbers() -> None:
    document = {"apiVersion": "meta.k8s.io/v1beta1", "kind": "PartialObjectMetadataList", "metadata": {}, "items": []}
    assert protobuf.encode(document) == body(
        "meta.k8s.io/v1beta1", "PartialObjectMetadataList", encoded(f2=encoded(f1="", f2="", f3=""))
    )


def test_every_message_of_the_table_can_be_written() -> None:
    for message in fields.messages():
        assert fields.fields_of(message) is not None
        module, _, kind = message.partition(".")
        api_version = {"core_v1": "v1", "meta_v1": "v1"}.get(module, module.replace("_", "/"))
        assert protobuf.encode({"apiVersion": api_version, "kind": kind}) is not None


DISCOVERY = ("/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1")


def test_a_client_that_speaks_protobuf_alone_finds_its_way(sqlite_api: Api) -> None:
    """What `ContentType: application/vnd.kubernetes.protobuf` makes a Go client send and read."""

    def ask(method: str, path: str, message: bytes | None = None) -> tuple[int, dict[str, Any]]:
        status, answer, headers = sqlite_api.request(
            method, path, message, content_type=PROTOBUF, headers={"Accept": PROTOBUF}
        )
        assert headers["Content-Type"] == PROTOBUF
        return status, answer

    for path in DISCOVERY:
        as_json = sqlite_api.request("GET", path)[1]
        assert plain(ask("GET", path)[1]) == plain({"apiVersion": "", **as_json})
    home = "/api/v1/namespaces/default/configmaps"
    made = body("v1", "ConfigMap", encoded(f1=encoded(f1="in-protobuf"), f2=encoded(f1="a", f2="1")))
    status, answer = ask("POST", home, made)
    assert (status, answer["data"]) == (201, {"a": "1"})
    assert ask("POST", home, made)[1]["reason"] == "AlreadyExists"
    assert answer == ask("GET", f"{home}/in-protobuf")[1]
    as_json = sqlite_api.request("GET", f"{home}/in-protobuf")[1]
    assert plain(answer) == plain(as_json)
    revision = answer["metadata"]["resourceVersion"]
    watch = f"{home}?watch=true&resourceVersion={int(revision) - 1}&timeoutSeconds=1"
    (event,) = sqlite_api.watch(watch, accept=PROTOBUF)
    assert event == {"type": "ADDED", "object": answer}
    listed = ask("DELETE", home, body("v1", "DeleteOptions", b""))[1]
    assert "in-protobuf" in {item["metadata"]["name"] for item in listed["items"]}
    options = body("v1", "DeleteOptions", encoded(f4="Background"))
    assert ask("DELETE", f"{home}/in-protobuf", options)[1]["reason"] == "NotFound"


def test_a_schema_s_json_that_is_no_text_is_told() -> None:
    schema = {"type": "string", "default": "mark"}
    spec = {"group": "example.dev", "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}
    metadata_ = {"name": "things.example.dev"}
    made = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata_}
    written = protobuf.encode({**made, "spec": spec})
    assert written is not None
    assert written.count(b'"mark"') == 1
    with pytest.raises(ApiError, match="a part that is not JSON"):
        protobuf.decode(written.replace(b'"mark"', b'"\xea\xeark"'))
