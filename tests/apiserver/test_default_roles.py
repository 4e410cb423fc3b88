"""The roles that every cluster has: accounts get what they give, and nobody gives away more than they have."""

from __future__ import annotations

import re
from typing import Any

from cryptography import x509

from controllers.kinds.core import authentication
from tests.tools.room import RBAC, Room

PODS = "/api/v1/namespaces/default/pods"
WHO = "system:serviceaccount:default:web"
GROUPS = '["system:serviceaccounts" "system:serviceaccounts:default" "system:authenticated"]'


def bound(room: Room, role: str, *, kind: str = "ClusterRole", name: str = "it", token: str = "") -> tuple[int, Any]:
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "web", "namespace": "default"}],
    }
    return room.ask("POST", f"{RBAC}/namespaces/default/rolebindings", binding, token)


def test_the_roles_of_every_cluster_are_there_and_stay(room: Room) -> None:
    _, roles = room.ask("GET", f"{RBAC}/clusterroles")
    found = {role["metadata"]["name"]: role for role in roles["items"]}
    assert {"cluster-admin", "admin", "edit", "view", "system:node", "system:kube-scheduler"} <= found.keys()
    assert found["cluster-admin"]["rules"] == [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ]
    assert found["view"]["metadata"]["labels"] == {
        "kubernetes.io/bootstrapping": "rbac-defaults",
        "rbac.authorization.k8s.io/aggregate-to-edit": "true",
    }
    assert found["view"]["rules"] == found["system:aggregate-to-view"]["rules"]
    # Who may edit may look, and who administers may edit.
    assert all(rule in found["edit"]["rules"] for rule in found["view"]["rules"])
    assert all(rule in found["admin"]["rules"] for rule in found["edit"]["rules"])
    _, bindings = room.ask("GET", f"{RBAC}/clusterrolebindings")
    assert "cluster-admin" in {one["metadata"]["name"] for one in bindings["items"]}
    _, inner = room.ask("GET", f"{RBAC}/namespaces/kube-system/roles")
    assert "extension-apiserver-authentication-reader" in {one["metadata"]["name"] for one in inner["items"]}
    status, refused = room.ask("DELETE", f"{RBAC}/clusterroles/view")
    assert (status, refused["message"]) == (
        405,
        "view is the cluster's own and stays as it is; make one of another name with what you need",
    )


def test_a_default_role_gives_what_it_says(room: Room) -> None:
    room.account("web")
    token = room.token("web")
    assert room.ask("GET", PODS, token=token)[0] == 403
    assert bound(room, "view")[0] == 201
    assert room.ask("GET", PODS, token=token)[0] == 200
    assert room.ask("GET", "/api/v1/namespaces/default/secrets", token=token)[0] == 403
    review = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/openapi/v2"}}}
    _, access = room.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, token)
    assert access["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" '
        'to Group "system:authenticated"',
    }
    review = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}}
    _, access = room.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, token)
    assert access["status"] == {"allowed": False}


def test_a_role_gathers_the_rules_that_its_selectors_find(room: Room) -> None:
    mine = {"metadata": {"name": "mine", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true", "a": "b"}}}
    rule = {"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}
    room.made(f"{RBAC}/clusterroles", {**mine, "rules": [rule]})
    # The default ones gather it at once.
    assert rule in room.ask("GET", f"{RBAC}/clusterroles/view")[1]["rules"]
    assert rule in room.ask("GET", f"{RBAC}/clusterroles/admin")[1]["rules"]
    gathers = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    room.made(f"{RBAC}/clusterroles", {"metadata": {"name": "all"}, "aggregationRule": gathers})
    room.run(2)
    assert room.ask("GET", f"{RBAC}/clusterroles/all")[1]["rules"] == [rule]
    room.ask("DELETE", f"{RBAC}/clusterroles/mine")
    room.run(2)
    assert not room.ask("GET", f"{RBAC}/clusterroles/all")[1]["rules"]


def test_an_account_cannot_give_what_it_does_not_have(room: Room) -> None:
    room.account("web")
    token = room.token("web")
    manage = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": ["*"]}
    own = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
    # Everything about roles but `escalate` and `bind`.
    manage["verbs"] = ["create", "get", "update", "delete"]
    roles = f"{RBAC}/namespaces/default/roles"
    room.made(roles, {"metadata": {"name": "own"}, "rules": [manage, own]})
    assert bound(room, "own", kind="Role")[0] == 201
    assert room.ask("POST", roles, {"metadata": {"name": "less"}, "rules": [own]}, token)[0] == 201
    more = {"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["get", "delete"]}
    status, refused = room.ask("POST", roles, {"metadata": {"name": "more"}, "rules": [more]}, token)
    assert (status, refused["message"]) == (
        403,
        f'roles.rbac.authorization.k8s.io "more" is forbidden: user "{WHO}" (groups={GROUPS}) is attempting to grant '
        'RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]}',
    )
    assert room.ask("PUT", f"{roles}/less", {"metadata": {"name": "less"}, "rules": [more]}, token)[0] == 403
    # A binding gives what its role allows; whoever may `bind` it need not have it.
    assert bound(room, "less", kind="Role", name="ok", token=token)[0] == 201
    status, refused = bound(room, "cluster-admin", name="boss", token=token)
    assert status == 403
    assert refused["message"].endswith(
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'
    )
    assert bound(room, "none", name="none", token=token)[0] == 404
    named = {"resourceNames": ["cluster-admin"], "resources": ["clusterroles"], "verbs": ["bind"]}
    room.made(
        roles, {"metadata": {"name": "may-bind"}, "rules": [{"apiGroups": ["rbac.authorization.k8s.io"], **named}]}
    )
    assert bound(room, "may-bind", kind="Role", name="second")[0] == 201
    assert bound(room, "cluster-admin", name="boss", token=token)[0] == 201


def test_servers_beside_the_api_server_read_whom_they_may_trust(room: Room) -> None:
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    _, found = room.ask("GET", path)
    assert found["data"]["requestheader-username-headers"] == '["X-Remote-User"]'
    for name, common in (("requestheader-client-ca-file", "front-proxy-ca"), ("client-ca-file", "kubernetes")):
        authority = x509.load_pem_x509_certificate(found["data"][name].encode())
        assert authority.subject.rfc4514_string() == f"CN={common}"
    assert room.ask("DELETE", path)[0] == 405
    # Without this one a controller manager does not know which accounts' tokens are out of use.
    _, tracking = room.ask("GET", path.replace("extension-apiserver-authentication", authentication.TRACKING))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", tracking["data"]["since"])
    _, others = room.ask("GET", "/api/v1/namespaces/default/configmaps")
    assert "extension-apiserver-authentication" not in {one["metadata"]["name"] for one in others["items"]}
