"""ServiceAccounts ask the API with tokens of their own: on demand, or from a Secret that the token controller fills."""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from typing import Any

import pytest

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response
from clustersim.classroom.accounttokens import ISSUER
from tests.tools.room import ACCOUNTS, RBAC, Room

SECRETS = "/api/v1/namespaces/default/secrets"
PODS = "/api/v1/namespaces/default/pods"


def secret_of(name: str, account: str) -> Any:
    annotations = {"kubernetes.io/service-account.name": account}
    return {"metadata": {"name": name, "annotations": annotations}, "type": "kubernetes.io/service-account-token"}


def text_in(secret: Any, key: str) -> str:
    return b64decode(secret["data"][key]).decode()


def test_a_token_is_the_account_and_may_nothing_but_ask_who_it_is(room: Room) -> None:
    account = room.account("web")
    token = room.token("web")
    status, who = room.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, token)
    user = who["status"]["userInfo"]
    assert (status, user["username"], user["uid"]) == (
        201,
        "system:serviceaccount:default:web",
        account["metadata"]["uid"],
    )
    assert user["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]
    assert user["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")
    assert room.ask("GET", "/api/v1", token=token)[0] == 200
    status, refused = room.ask("GET", PODS, token=token)
    assert (status, refused["message"]) == (
        403,
        'pods is forbidden: User "system:serviceaccount:default:web" cannot list resource "pods" in API group "" '
        'in the namespace "default"',
    )
    assert room.review(token) == {"authenticated": True, "user": user, "audiences": [ISSUER]}


def test_what_a_stored_role_allows_it_may(room: Room) -> None:
    room.account("web")
    token = room.token("web")
    rules = [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["patch"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"]},
    ]
    room.made(f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "reader"}, "rules": rules})
    room.bind("web", "reader")
    assert room.ask("GET", PODS, token=token)[0] == 200
    assert room.ask("GET", "/api/v1/namespaces/kube-system/pods", token=token)[0] == 403
    assert room.ask("GET", "/api/v1/pods", token=token)[0] == 403
    assert room.ask("DELETE", f"{PODS}/none", token=token)[0] == 403
    maps = "/api/v1/namespaces/default/configmaps"
    for name in ("mine", "other"):
        room.made(maps, {"metadata": {"name": name}})
    merge = {"data": {"a": "b"}}
    headers = {"authorization": f"Bearer {token}", "content-type": "application/merge-patch+json"}
    request = Request("PATCH", room.code, f"{maps}/mine", {}, headers, json.dumps(merge).encode())
    answer = handle(request)
    assert isinstance(answer, Response)
    assert answer.status == 200
    assert room.ask("PATCH", f"{maps}/other", merge, token)[0] == 403
    asked = {"verb": "list", "resource": "pods", "namespace": "default"}
    review = {"spec": {"user": "system:serviceaccount:default:web", "resourceAttributes": asked}}
    access = room.made("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]
    assert access == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "web-reader/default" of Role "reader" to ServiceAccount "web/default"',
    }
    _, own = room.ask(
        "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}, token
    )
    assert rules[0] in own["status"]["resourceRules"]


def test_a_clusterrole_holds_everywhere_and_commands_stay_the_session_apis(room: Room) -> None:
    room.account("boss")
    token = room.token("boss")
    everything = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    room.made(f"{RBAC}/clusterroles", {"metadata": {"name": "all"}, "rules": everything})
    binding = {
        "metadata": {"name": "all"},
        "roleRef": {"kind": "ClusterRole", "name": "all"},
        "subjects": [{"kind": "Group", "name": "system:serviceaccounts:default"}],
    }
    room.made(f"{RBAC}/clusterrolebindings", binding)
    assert room.ask("GET", "/api/v1/secrets", token=token)[0] == 200
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    status, made = room.ask("POST", PODS, pod, token)
    assert status == 201
    assert "clustersim.io/created-by" not in (made["metadata"].get("annotations") or {})
    assert room.ask("DELETE", "/apis/clustersim.io/v1/clocks/clock", token=token)[0] == 403


def test_a_token_ends_with_its_time_and_is_not_for_others(room: Room) -> None:
    room.account("web")
    short, foreign = room.token("web", expirationSeconds=600), room.token("web", audiences=["vault"])
    assert room.ask("GET", "/api", token=foreign)[0] == 401
    assert room.review(foreign, "vault", "other")["audiences"] == ["vault"]
    assert room.review(foreign) == {
        "user": {},
        "error": f'[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]]',
    }
    assert room.ask("GET", "/api", token=short)[0] == 200
    room.run(590)
    assert room.ask("GET", "/api", token=short)[0] == 200
    room.run(20)
    assert room.ask("GET", "/api", token=short)[0] == 401
    assert room.review(short)["error"] == "[invalid bearer token, service account token has expired]"


def test_a_token_ends_with_what_it_is_bound_to(room: Room) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    uid = room.made(PODS, pod)["metadata"]["uid"]
    room.run(30)
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
    token = room.token("default", boundObjectRef=bound)
    extra = room.review(token)["user"]["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["p"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [uid]
    assert extra["authentication.kubernetes.io/node-name"][0] in ("n1", "n2", "n3")
    room.account("other")
    status, refused = room.ask("POST", f"{ACCOUNTS}/other/token", {"spec": {"boundObjectRef": bound}})
    assert (status, refused["message"]) == (
        400,
        'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    )
    room.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert room.ask("GET", "/api", token=token)[0] == 401
    assert room.review(token)["error"] == "[invalid bearer token, service account token has been invalidated]"


def test_a_token_ends_with_its_account(room: Room) -> None:
    room.account("web")
    token = room.token("web")
    room.ask("DELETE", f"{ACCOUNTS}/web")
    assert room.ask("GET", "/api", token=token)[0] == 401
    assert room.review(token)["error"] == '[invalid bearer token, serviceaccounts "web" not found]'
    again = room.account("web")
    assert f"service account UID ({again['metadata']['uid']}) does not match claim" in room.review(token)["error"]


def test_a_secret_of_the_type_is_filled_and_its_token_is_good_while_it_is_there(room: Room) -> None:
    uid = room.account("web")["metadata"]["uid"]
    room.made(SECRETS, secret_of("web-token", "web"))
    room.run(3)
    secret = room.ask("GET", f"{SECRETS}/web-token")[1]
    assert secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == uid
    assert text_in(secret, "namespace") == "default"
    assert text_in(secret, "ca.crt").startswith("-----BEGIN CERTIFICATE-----")
    token = text_in(secret, "token")
    assert room.review(token)["user"]["username"] == "system:serviceaccount:default:web"
    revision = room.store.revision
    room.run(60)
    assert room.ask("GET", f"{SECRETS}/web-token")[1] == secret
    assert not [row for row in room.store.events(revision) if row.resource == "secrets"]
    room.ask("DELETE", f"{SECRETS}/web-token")
    assert room.ask("GET", "/api", token=token)[0] == 401
    assert room.review(token)["error"] == "[invalid bearer token, Token has been invalidated]"


def test_a_secret_goes_with_its_account_and_one_without_account_goes_too(room: Room) -> None:
    room.account("web")
    room.made(SECRETS, secret_of("web-token", "web"))
    room.made(SECRETS, secret_of("stray", "nobody"))
    room.run(3)
    assert room.ask("GET", f"{SECRETS}/stray")[0] == 404
    assert room.ask("GET", f"{SECRETS}/web-token")[0] == 200
    room.ask("DELETE", f"{ACCOUNTS}/web")
    room.run(3)
    assert room.ask("GET", f"{SECRETS}/web-token")[0] == 404


def test_an_account_forgets_a_secret_that_went(room: Room) -> None:
    room.made(ACCOUNTS, {"metadata": {"name": "web"}, "secrets": [{"name": "web-token"}, {"name": "kept"}]})
    room.made(SECRETS, secret_of("web-token", "web"))
    room.run(3)
    room.ask("DELETE", f"{SECRETS}/web-token")
    room.run(3)
    assert room.ask("GET", f"{ACCOUNTS}/web")[1]["secrets"] == [{"name": "kept"}]


def test_tokens_of_one_session_are_nothing_in_another_and_stay_out_of_the_logs(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    room.account("web")
    token = room.token("web")
    other = Room()
    assert other.ask("GET", "/api", token=token)[0] == 401
    assert other.review(token) == {"user": {}, "error": "invalid bearer token"}
    assert room.ask("GET", PODS, token=token)[0] == 403
    assert token not in caplog.text


def test_a_teacher_acts_as_anybody_and_nobody_else_does(room: Room) -> None:
    room.account("web")
    who = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    def told(**headers: str) -> Any:
        return json.loads(room.answer("POST", who, {}, **headers).body)["status"]["userInfo"]

    account = "system:serviceaccount:default:web"
    assert told(**{"impersonate-user": account})["groups"][0] == "system:serviceaccounts"
    stranger = told(**{"impersonate-user": "jane", "impersonate-group": "dev\nops"})
    assert (stranger["username"], stranger["groups"]) == ("jane", ["dev", "ops", "system:authenticated"])
    assert room.answer("GET", PODS, **{"impersonate-user": "jane"}).status == 403
    rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}
    room.made(f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "lists"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "jane"},
        "roleRef": {"kind": "Role", "name": "lists"},
        "subjects": [{"kind": "Group", "name": "ops"}],
    }
    room.made(f"{RBAC}/namespaces/default/rolebindings", binding)
    assert room.answer("GET", PODS, **{"impersonate-user": "jane", "impersonate-group": "dev\nops"}).status == 200
    facts = {"impersonate-extra-scopes": "view\nedit", "impersonate-extra-acme.io%2fproject": "blue"}
    assert told(**{"impersonate-user": "jane"}, **facts)["extra"] == {
        "scopes": ["view", "edit"],
        "acme.io/project": ["blue"],
    }
    told_groups = told(**{"impersonate-user": account, "impersonate-group": "ops"})["groups"]
    assert told_groups == ["ops", "system:authenticated"]
    assert told(**{"impersonate-user": "teacher"})["groups"] == ["clustersim:teacher", "system:authenticated"]
    assert room.answer("GET", PODS, **{"impersonate-group": "dev"}).status == 500
    token = room.token("web")
    refused = json.loads(room.answer("GET", PODS, token=token, **{"impersonate-user": "jane"}).body)
    assert refused["message"] == (
        f'users "jane" is forbidden: User "{account}" cannot impersonate resource "users" in API group "" '
        "at the cluster scope"
    )


def test_an_account_acts_as_whom_its_bindings_name(room: Room) -> None:
    token = room.account("web") and room.token("web")
    rules = [
        {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["jane"]},
        {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scopes"]},
        {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]},
    ]
    room.made(f"{RBAC}/clusterroles", {"metadata": {"name": "acts"}, "rules": rules})
    reference = {"kind": "ClusterRole", "name": "acts"}
    subjects = [{"kind": "ServiceAccount", "name": "web", "namespace": "default"}, {"kind": "User", "name": "jane"}]
    room.made(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "acts"}, "roleRef": reference, "subjects": subjects})

    def asked(**headers: str) -> tuple[int, str]:
        answer = room.answer("GET", PODS, token=token, **headers)
        return answer.status, json.loads(answer.body).get("message", "")

    jane = {"impersonate-user": "jane", "impersonate-extra-scopes": "view"}
    assert asked(**jane)[0] == 200
    where = "at the cluster scope"
    who = 'is forbidden: User "system:serviceaccount:default:web" cannot impersonate resource'
    assert asked(**jane, **{"impersonate-group": "ops"}) == (
        403,
        f'groups "ops" {who} "groups" in API group "" {where}',
    )
    assert asked(**{**jane, "impersonate-user": "joe"}) == (403, f'users "joe" {who} "users" in API group "" {where}')
    assert asked(**jane, **{"impersonate-extra-teams": "a"}) == (
        403,
        f'userextras.authentication.k8s.io "a" {who} "userextras/teams" in API group "authentication.k8s.io" {where}',
    )
    assert asked(**{"impersonate-user": "system:serviceaccount:default:web"}) == (
        403,
        f'serviceaccounts "web" {who} "serviceaccounts" in API group "" in the namespace "default"',
    )


def test_a_name_with_a_password_shows_nothing_of_who_asks(room: Room) -> None:
    """Upstream looks for a bearer's token alone; here a password may be one, too."""
    credentials = b64encode(b"jane:guessed").decode()
    refused = json.loads(room.sent("GET", PODS, b"", authorization=f"Basic {credentials}").body)
    assert refused["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" '
        'in the namespace "default"'
    )
    credentials = b64encode(f"jane:{room.teacher}".encode()).decode()
    assert room.sent("GET", PODS, b"", authorization=f"Basic {credentials}").status == 200
    assert room.sent("GET", PODS, b"", authorization="Bearer guessed").status == 401


def test_no_token_is_made_in_a_namespace_that_ends_or_is_not_there(room: Room) -> None:
    home = {"metadata": {"name": "leaving"}, "spec": {"finalizers": ["kubernetes"]}}
    room.ask("POST", "/api/v1/namespaces", home)
    room.ask("POST", "/api/v1/namespaces/leaving/configmaps", {"metadata": {"name": "a", "finalizers": ["a.b/c"]}})
    room.ask("DELETE", "/api/v1/namespaces/leaving")
    status, refused = room.ask("POST", "/api/v1/namespaces/leaving/serviceaccounts/default/token", {})
    why = "unable to create new content in namespace leaving because it is being terminated"
    assert (status, refused["message"]) == (403, f'serviceaccounts "default" is forbidden: {why}')
    assert refused["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    status, refused = room.ask("POST", "/api/v1/namespaces/nowhere/serviceaccounts/default/token", {})
    assert (status, refused["message"]) == (404, 'namespaces "nowhere" not found')
