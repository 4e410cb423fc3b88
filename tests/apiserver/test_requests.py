"""Bodies, errors, identity: every refusal is a Status that says what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.apiserver import Api

POD = {"metadata": {"name": "one"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}


def _pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def test_who_shows_nothing_is_nobody_and_a_wrong_token_is_refused(api: Api) -> None:
    """As with upstream's default flags: `system:anonymous` reads versions and health, and is forbidden the rest."""
    pods = '"pods" in API group "" at the cluster scope'
    for path, why in (
        ("/api/v1/pods", f'pods is forbidden: User "system:anonymous" cannot list resource {pods}'),
        ("/api/v1/pods?watch=1", f'pods is forbidden: User "system:anonymous" cannot watch resource {pods}'),
        ("/apis", 'forbidden: User "system:anonymous" cannot get path "/apis"'),
        ("/openapi/v3", 'forbidden: User "system:anonymous" cannot get path "/openapi/v3"'),
        ("/nowhere", 'forbidden: User "system:anonymous" cannot get path "/nowhere"'),
        (
            "/api/v1/namespaces/default",
            'namespaces "default" is forbidden: User "system:anonymous" cannot get resource "namespaces" '
            'in API group "" in the namespace "default"',
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments/web/scale",
            'deployments.apps "web" is forbidden: User "system:anonymous" cannot get resource "deployments/scale" '
            'in API group "apps" in the namespace "default"',
        ),
    ):
        for shown in ({}, {"Authorization": "Nonsense"}, {"Authorization": "Bearer "}):
            status, document, headers = api.request("GET", path, role="", headers=shown)
            assert (status, document["reason"], document["message"]) == (403, "Forbidden", why)
            assert "WWW-Authenticate" not in headers
    assert api.request("GET", "/version", role="")[0] == 200
    for wrong in ({"Authorization": "Bearer wrong"}, {"Cookie": f"clustersim-{api.made['code']}=wrong"}):
        for path in ("/api/v1/pods", "/version"):
            assert api.request("GET", path, role="", headers=wrong)[0] == 401


def test_a_binding_gives_nobody_what_it_says(api: Api, namespace: str) -> None:
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "for-all"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:unauthenticated"}],
    }
    assert api.request("GET", _pods(namespace), role="")[0] == 403
    assert api.request("POST", f"/apis/{group}/v1/namespaces/{namespace}/rolebindings", binding)[0] == 201
    assert api.request("GET", _pods(namespace), role="")[0] == 200
    assert api.request("GET", f"/api/v1/namespaces/{namespace}/secrets", role="")[0] == 403
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    assert api.request("POST", maps, {"metadata": {"name": "one"}})[0] == 201
    one = "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done"
    assert api.request("GET", maps + one, role="")[1]["type"] == "ADDED"


def test_an_unknown_session_is_not_found(api: Api) -> None:
    path = "/../ZZZZZZ/api/v1/pods"
    other = Api(api.port, api.data, {**api.made, "code": "ZZZZZZ"})
    status, document, _ = other.request("GET", path.removeprefix("/../ZZZZZZ"))
    assert (status, document["reason"]) == (404, "NotFound")


def test_a_cookie_writes_only_from_a_page_of_this_server(api: Api, namespace: str) -> None:
    cookie = {"Cookie": f"clustersim-{api.made['code']}={api.made['teacher']}"}
    assert api.request("GET", _pods(namespace), role="", headers=cookie)[0] == 200
    assert api.request("POST", _pods(namespace), POD, role="", headers=cookie)[0] == 403
    foreign = {**cookie, "Origin": "http://evil.example"}
    assert api.request("POST", _pods(namespace), POD, role="", headers=foreign)[0] == 403
    own = {**cookie, "Origin": f"http://127.0.0.1:{api.port}"}
    assert api.request("POST", _pods(namespace), POD, role="", headers=own)[0] == 201


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 5000, "application/json", 400),
        (b'{"metadata":' * 200 + b"1" + b"}" * 200, "application/json", 400),
        (b"a: &a [*a]", "application/yaml", 400),
        (b"!!python/object/apply:os.system [ls]", "application/yaml", 400),
        (b"k8s\x00\xff\xff", "application/vnd.kubernetes.protobuf", 400),
        (b"k8s\x00", "application/vnd.kubernetes.protobuf", 415),
        (b"<x/>", "application/xml", 415),
        (b'{"metadata":{"name":"' + b"a" * (4 << 20) + b'"}}', "application/json", 413),
    ],
)
def test_bodies_that_cannot_be_read(api: Api, namespace: str, body: bytes, content_type: str, code: int) -> None:
    try:
        status, document, _ = api.request("POST", _pods(namespace), body, content_type=content_type)
    except (BrokenPipeError, ConnectionResetError):
        pytest.fail("the server closed the connection instead of answering")
    assert (status, document["kind"]) == (code, "Status")
    assert api.request("GET", _pods(namespace))[1]["items"] == []


def test_yaml_is_read_like_json(api: Api, namespace: str) -> None:
    text = "metadata: {name: one}\nspec:\n  containers: [{name: c, image: nginx, env: [{name: A, value: 2020-01-01}]}]"
    status, document, _ = api.request("POST", _pods(namespace), text.encode(), content_type="application/yaml")
    assert status == 201
    assert document["spec"]["containers"][0]["env"] == [{"name": "A", "value": "2020-01-01"}]


def test_causes_name_the_field(api: Api, namespace: str) -> None:
    bad: dict[str, Any] = json.loads(json.dumps(POD))
    bad["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 70000}]
    bad["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "-1"}}
    status, document, _ = api.request("POST", _pods(namespace), bad)
    assert (status, document["reason"]) == (422, "Invalid")
    fields = {cause["field"] for cause in document["details"]["causes"]}
    assert fields == {"spec.containers[0].ports[0].hostPort", "spec.containers[0].resources.requests[cpu]"}
    assert document["details"]["name"] == "one"


def test_unknown_fields_warn_or_refuse_or_pass(api: Api, namespace: str) -> None:
    body = {**POD, "color": "red"}
    status, document, _ = api.request("POST", _pods(namespace) + "?fieldValidation=Strict", body)
    assert (status, document["reason"]) == (400, "BadRequest")
    assert 'strict decoding error: unknown field "color"' in document["message"]
    status, document, headers = api.request("POST", _pods(namespace), body)
    assert status == 201
    assert headers["Warning"] == '299 - "unknown field \\"color\\""'
    assert "color" not in document
    body["metadata"] = {"name": "two"}
    status, _, headers = api.request("POST", _pods(namespace) + "?fieldValidation=Ignore", body)
    assert (status, headers["Warning"]) == (201, None)


def test_a_kind_that_nothing_acts_on_is_answered_as_upstream_answers(api: Api, namespace: str) -> None:
    attachment = {
        "metadata": {"name": f"web-{namespace}"},
        "spec": {"attacher": "a.example.dev", "nodeName": "n1", "source": {"persistentVolumeName": "v"}},
    }
    status, _, headers = api.request("POST", "/apis/storage.k8s.io/v1/volumeattachments", attachment)
    assert (status, headers["Warning"]) == (201, None)


def test_dry_run_writes_nothing(api: Api, namespace: str) -> None:
    before = api.request("GET", _pods(namespace))[1]["metadata"]["resourceVersion"]
    status, document, _ = api.request("POST", _pods(namespace) + "?dryRun=All", POD)
    assert (status, document["spec"]["schedulerName"]) == (201, "default-scheduler")
    assert api.request("GET", _pods(namespace))[1]["metadata"]["resourceVersion"] == before


def test_a_stale_update_is_a_conflict_and_an_equal_one_takes_no_revision(api: Api, namespace: str) -> None:
    _, first, _ = api.request("POST", _pods(namespace), POD)
    status, same, _ = api.request("PUT", _pods(namespace) + "/one", first)
    assert (status, same["metadata"]["resourceVersion"]) == (200, first["metadata"]["resourceVersion"])
    changed = json.loads(json.dumps(first))
    changed["metadata"]["labels"] = {"a": "b"}
    assert api.request("PUT", _pods(namespace) + "/one", changed)[0] == 200
    changed["metadata"]["labels"] = {"a": "c"}
    status, document, _ = api.request("PUT", _pods(namespace) + "/one", changed)
    assert (status, document["reason"]) == (409, "Conflict")


def test_binding_eviction_and_status(api: Api, namespace: str) -> None:
    api.request("POST", _pods(namespace), POD)
    path = _pods(namespace) + "/one"
    binding = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "node-1"}}
    status, document, _ = api.request("POST", path + "/binding", binding, role="component")
    assert (status, document["message"]) == (400, "name in URL does not match name in Binding object")
    binding["metadata"] = {"name": "one"}
    assert api.request("POST", path + "/binding", binding, role="component")[0] == 201
    status, document, _ = api.request("POST", path + "/binding", binding, role="component")
    assert (status, document["reason"]) == (409, "Conflict")
    assert "already assigned to node" in document["message"]
    patch = {"status": {"phase": "Running"}, "spec": {"nodeName": "other"}}
    _, pod, _ = api.request("PATCH", path + "/status", patch, content_type="application/merge-patch+json")
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", "node-1")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one"}}
    wrong = {**eviction, "metadata": {"name": "two"}}
    status, document, _ = api.request("POST", path + "/eviction", wrong)
    assert (status, document["message"]) == (400, "name in URL does not match name in Eviction object")
    assert api.request("POST", path + "/eviction", eviction)[0] == 201
    _, pod, _ = api.request("GET", path)
    told = {one["type"]: one.get("reason") for one in pod["status"]["conditions"]}
    assert told["DisruptionTarget"] == "EvictionByEvictionAPI"
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30


def test_methods_and_paths_that_are_not_served(api: Api, namespace: str) -> None:
    for method, path, code in (
        ("POST", "/api/v1/pods", 405),
        ("PUT", _pods(namespace), 405),
        ("DELETE", "/api/v1/pods", 405),
        ("POST", "/version", 405),
        ("GET", "/api/v1/pods/one", 404),
        ("GET", "/api/v1/nodes/one/binding", 404),
        ("GET", "/apis/apps/v1beta1/deployments", 404),
        ("GET", "/api/v9/pods", 404),
        ("POST", "/metrics", 200),
        ("GET", "//", 404),
        ("OPTIONS", "/api/v1/pods", 405),
    ):
        status, _, _ = api.request(method, path, POD if method in ("POST", "PUT") else None)
        assert (method, path, status) == (method, path, code)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nothings",
        "/api/v9/pods",
        "/apis/apps/v1/nothings",
        "/apis/apps/v1beta1/deployments",
        "/apis/policy/v1beta1",
        "/api/v1/namespaces/default/nodes",
    ],
)
def test_a_path_below_a_served_group_is_answered_with_a_status_that_has_details(api: Api, path: str) -> None:
    status, document, _ = api.request("GET", path)
    assert status == 404
    assert document == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server could not find the requested resource",
        "reason": "NotFound",
        "details": {},
        "code": 404,
    }


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/metrics/slis/",
        "/metrics/",
        "/debug",
        "/openapi/v2/",
        "/apis/nothing.io/v1/things",
        "/apis/nothing.io",
    ],
)
def test_a_path_that_nobody_serves_is_answered_with_a_line(api: Api, path: str) -> None:
    status, text, headers = api.request("GET", path)
    assert (status, text, headers["Content-Type"]) == (404, "404 page not found\n", "text/plain; charset=utf-8")


def test_a_method_that_is_not_allowed_has_details(api: Api) -> None:
    status, document, _ = api.request("POST", "/api/v1/pods", POD)
    assert (status, document["reason"], document["details"]) == (405, "MethodNotAllowed", {})


def test_bindings_are_made_in_their_collection(api: Api, namespace: str) -> None:
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "bound-here"}})
    api.request("POST", _pods(namespace), POD)
    path = f"/api/v1/namespaces/{namespace}/bindings"
    binding = {"metadata": {"name": "one"}, "target": {"kind": "Node", "name": "bound-here"}}
    status, document, _ = api.request("POST", path, binding)
    assert (status, document["status"]) == (201, "Success")
    assert api.request("GET", _pods(namespace) + "/one")[1]["spec"]["nodeName"] == "bound-here"
    assert api.request("POST", path, binding)[0] == 409
    assert api.request("GET", path)[0] == 405
    assert api.request("POST", path, binding, role="student")[0] == 403
    listed = api.request("GET", "/api/v1")[1]["resources"]
    assert [(one["kind"], one["verbs"]) for one in listed if one["name"] == "bindings"] == [("Binding", ["create"])]


def test_only_a_teacher_acts_as_somebody_else(api: Api) -> None:
    status, document, _ = api.request("GET", "/api/v1/pods", headers={"Impersonate-User": "jane"}, role="student")
    assert (status, document["reason"]) == (403, "Forbidden")
    assert document["message"] == (
        'users "jane" is forbidden: User "stu" cannot impersonate resource "users" in API group "" at the cluster scope'
    )


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Impersonate-Group", "{Group  jane    }"),
        ("Impersonate-Uid", "{UID  jane  authentication.k8s.io/v1  }"),
        ("Impersonate-Extra-Team", "{UserExtra  jane  authentication.k8s.io/v1  team}"),
    ],
)
def test_what_somebody_has_goes_with_a_user(api: Api, header: str, shown: str) -> None:
    status, told, _ = api.request("GET", "/api/v1/pods", headers={header: "jane"}, role="student")
    assert status == 500
    assert f"requested [{shown}] without impersonating a user" in str(told)


def test_what_is_not_served_may_not_be_done(api: Api) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

    def may(**attributes: str) -> bool:
        return api.request("POST", path, {"spec": {"resourceAttributes": {"verb": "create", **attributes}}})[1][
            "status"
        ]["allowed"]

    assert may(resource="pods")
    assert may(resource="deployments", group="apps")
    assert not may(resource="gadgets")
    assert not may(resource="deployments", group="gadgets.io")
    assert may(resource="*", group="*")


def test_items_of_a_list_do_not_repeat_its_kind(api: Api, namespace: str) -> None:
    api.request("POST", _pods(namespace), POD)
    document = api.request("GET", _pods(namespace))[1]
    assert (document["kind"], document["apiVersion"]) == ("PodList", "v1")
    assert [set(item) for item in document["items"]] == [{"metadata", "spec", "status"}]


def test_a_refusal_by_role_is_worded_as_upstreams(api: Api) -> None:
    status, document, _ = api.request("POST", "/api/v1/namespaces/default/pods", POD, role="student")
    assert status == 403
    assert document["message"].endswith('cannot create resource "pods" in API group "" in the namespace "default"'), (
        document["message"]
    )


def test_times_are_written_in_one_form(api: Api, namespace: str) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    spec = {"holderIdentity": "me", "renewTime": "2026-01-02T05:04:05.500000+02:00"}
    status, lease, _ = api.request("POST", path, {"metadata": {"name": "held"}, "spec": spec})
    assert (status, lease["spec"]["renewTime"]) == (201, "2026-01-02T03:04:05.500000Z")
    spec["renewTime"] = "2026-02-31T05:04:05.000000Z"
    assert api.request("POST", path, {"metadata": {"name": "never"}, "spec": spec})[0] == 400


def test_patches_of_no_known_type_are_refused(api: Api, namespace: str) -> None:
    api.request("POST", _pods(namespace), POD)
    for content_type in ("text/plain", "application/apply-patch+cbor"):
        answer = api.request("PATCH", _pods(namespace) + "/one", b"{}", content_type=content_type)
        assert (answer[0], answer[1]["reason"]) == (415, "UnsupportedMediaType")


def test_discovery_names_every_kind_in_both_forms(api: Api) -> None:
    from controllers.kinds.table import KINDS

    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    found = set()
    for path in ("/api", "/apis"):
        _, document, headers = api.request("GET", path, headers={"Accept": accept})
        assert "as=APIGroupDiscoveryList" in headers["Content-Type"]
        for group in document["items"]:
            for version in group["versions"]:
                for resource in version["resources"]:
                    found.add((group["metadata"].get("name", ""), version["version"], resource["resource"]))
    assert {(kind.group, kind.version, kind.plural) for kind in KINDS} <= found
    for kind in KINDS:
        path = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        _, document, _ = api.request("GET", path)
        assert kind.plural in {entry["name"] for entry in document["resources"]}


def test_two_sessions_do_not_share_tokens(api: Api) -> None:
    status, _, _ = Api(api.port, api.data, {**api.made, "code": api.made["code"][::-1]}).request("GET", "/api/v1/pods")
    assert status in (401, 404)


def test_secretive_paths_stay_inside_the_session(api: Api) -> None:
    for path in ("/api/v1/namespaces/..%2f..%2fx/pods", "/%2e%2e/%2e%2e/api/sessions", "/api/v1/pods%00"):
        status, document, _ = api.request("GET", path)
        assert status in (200, 404)
        if status == 200:
            assert document["items"] == []


def test_node_leases_are_computed_and_read_only(api: Api) -> None:
    node = {"metadata": {"name": "beating"}, "status": {"capacity": {"cpu": "1"}}}
    assert api.request("POST", "/api/v1/nodes", node)[0] == 201
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    status, lease, _ = api.request("GET", f"{path}/beating")
    assert (status, lease["spec"]["holderIdentity"]) == (200, "beating")
    assert "beating" in [item["metadata"]["name"] for item in api.request("GET", path)[1]["items"]]
    patch = {"spec": {"holderIdentity": "me"}}
    status, document, _ = api.request("PATCH", f"{path}/beating", patch, content_type="application/merge-patch+json")
    assert (status, document["reason"]) == (405, "MethodNotAllowed")
    api.request("DELETE", "/api/v1/nodes/beating")
    assert api.request("GET", f"{path}/beating")[0] == 404


def test_a_target_that_nothing_can_be_bound_to_is_told_in_a_line(api: Api, namespace: str) -> None:
    api.request("POST", _pods(namespace), POD)
    metadata = {"name": "one"}
    other = 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'
    for body, code, why in (
        ({"metadata": metadata, "target": {}}, 500, "target.name: Required value"),
        ({"metadata": metadata, "target": {"kind": "Pod", "name": "x"}}, 500, other),
        ({"metadata": metadata, "target": {"kind": "Pod"}}, 500, f"[{other}, target.name: Required value]"),
        (
            {"metadata": {**metadata, "namespace": "other"}, "target": {"name": "n"}},
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata},
            400,
            'Pod in version "v1" cannot be handled as a Binding: converting (v1.Pod) to (core.Binding): '
            "unknown conversion",
        ),
    ):
        status, refused, _ = api.request("POST", f"{_pods(namespace)}/one/binding", body, role="component")
        assert (status, refused["message"]) == (code, why)
    status, refused, _ = api.request(
        "POST", _pods(namespace).replace("pods", "bindings"), {"target": {"name": "n"}}, role="component"
    )
    assert (status, refused["message"]) == (400, "Name parameter required.")


def test_what_is_no_object_of_the_path_is_refused(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    cannot = "cannot be handled as a ConfigMap"
    for sent, why in (
        (
            {"apiVersion": "v1", "kind": "List", "items": []},
            "converting (v1.List) to (core.ConfigMap): unknown conversion",
        ),
        ({"apiVersion": "v1", "kind": "Any"}, 'no kind "Any" is registered for version "v1" in scheme'),
    ):
        status, refused, _ = api.request("POST", path, sent)
        assert (status, refused["reason"]) == (400, "BadRequest")
        assert refused["message"].startswith(f'{sent["kind"]} in version "v1" {cannot}: {why}')
    body = {"metadata": {"name": "a", "namespace": "elsewhere"}}
    status, refused, _ = api.request("POST", path, body)
    why = "the namespace of the provided object does not match the namespace sent on the request"
    assert (status, refused["message"]) == (400, why)
    status, refused, _ = api.request("POST", path, {"metadata": {"name": "a"}}, content_type="text/yaml")
    assert (status, refused["reason"]) == (415, "UnsupportedMediaType")
