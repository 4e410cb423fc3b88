"""Questions about who may what: answered by the roles of the session, worded as upstream words them."""

from __future__ import annotations

from typing import Any

from clustersim.apiserver.reviews import REVIEWS

AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
GET_PODS = {"resourceAttributes": {"verb": "get", "resource": "pods"}}


def test_every_question_is_discovered_and_only_posted(sqlite_api: Any) -> None:
    for review in REVIEWS:
        _, found, _ = sqlite_api.request("GET", f"/apis/{review.group}/v1")
        listed = {entry["name"]: entry for entry in found["resources"]}
        assert (listed[review.plural]["kind"], listed[review.plural]["verbs"]) == (review.kind, ["create"])
        home = "/namespaces/default" if review.namespaced else ""
        assert sqlite_api.request("GET", f"/apis/{review.group}/v1{home}/{review.plural}")[0] == 405


def test_what_somebody_else_may(sqlite_api: Any) -> None:
    path = f"{AUTHORIZATION}/subjectaccessreviews"

    def status(user: str, **attributes: str) -> dict[str, Any]:
        spec = {"user": user, "resourceAttributes": {"resource": "pods", **attributes}}
        code, answer, _ = sqlite_api.request("POST", path, {"spec": spec})
        assert (code, answer["spec"]) == (201, spec)
        found: dict[str, Any] = answer["status"]
        return found

    assert status("nobody", verb="get") == {"allowed": False}
    assert status("tara", verb="delete")["allowed"]
    refused = sqlite_api.request("POST", path, {"spec": GET_PODS})[1]
    assert refused["message"].endswith("at least one of user or group must be specified")


def test_what_somebody_else_may_in_one_namespace(sqlite_api: Any) -> None:
    path = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
    spec = {"user": "tara", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}
    status, answer, _ = sqlite_api.request("POST", path, {"spec": spec})
    assert (status, answer["kind"], answer["status"]["allowed"]) == (201, "LocalSubjectAccessReview", True)
    spec["resourceAttributes"]["namespace"] = "other"
    status, refused, _ = sqlite_api.request("POST", path, {"spec": spec})
    assert (status, refused["details"]["causes"][0]["field"]) == (422, "spec.resourceAttributes.namespace")


def test_a_question_about_rights_is_nothing_but_a_question(sqlite_api: Any) -> None:
    """Upstream shows the metadata that it refuses whole, with who owns what; answers carry theirs."""
    body = {"metadata": {"labels": {"a": "b"}, "name": "x"}, "spec": GET_PODS}
    status, refused, _ = sqlite_api.request("POST", f"{AUTHORIZATION}/selfsubjectaccessreviews", body)
    (cause,) = refused["details"]["causes"]
    assert (status, cause["field"]) == (422, "metadata")
    shown = 'Invalid value: {"name":"x","labels":{"a":"b"},"managedFields":[{"manager":"'
    assert cause["message"].startswith(shown)
    assert cause["message"].endswith("}]}: must be empty")
    local = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
    attributes = {"verb": "get", "resource": "pods", "namespace": "default"}
    spec = {"user": "tara", "resourceAttributes": attributes}
    _, refused, _ = sqlite_api.request("POST", local, {"metadata": {"name": "x"}, "spec": spec})
    assert refused["message"].endswith("}]}: must be empty except for namespace")
    status, refused, _ = sqlite_api.request("POST", local, {"metadata": {"namespace": "other"}, "spec": spec})
    why = "the namespace of the provided object does not match the namespace sent on the request"
    assert (status, refused["message"]) == (400, why)
    _, answer, _ = sqlite_api.request("POST", local, {"spec": spec})
    assert answer["metadata"]["namespace"] == "default"
    sent = {"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"token": "t"}}
    _, answer, _ = sqlite_api.request("POST", f"{AUTHENTICATION}/tokenreviews", sent)
    assert (answer["metadata"]["name"], answer["metadata"]["labels"]) == ("x", {"a": "b"})
    assert answer["metadata"]["managedFields"][0]["operation"] == "Update"


def test_two_questions_in_one(sqlite_api: Any) -> None:
    spec = {**GET_PODS, "nonResourceAttributes": {"path": "/"}}
    status, refused, _ = sqlite_api.request("POST", f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": spec})
    assert (status, refused["details"]["group"]) == (422, "authorization.k8s.io")
    assert refused["message"] == (
        '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: '
        "cannot be specified in combination with resourceAttributes"
    )


def test_whose_token_that_is(sqlite_api: Any) -> None:
    path = f"{AUTHENTICATION}/tokenreviews"
    status, answer, _ = sqlite_api.request("POST", path, {"spec": {"token": "nothing"}})
    assert (status, answer["status"]) == (201, {"user": {}, "error": "invalid bearer token"})
    status, refused, _ = sqlite_api.request("POST", path, {"spec": {}})
    assert (status, refused["message"]) == (400, "token is required for TokenReview in authentication")
    token = sqlite_api.made["teacher"]
    _, answer, _ = sqlite_api.request("POST", path, {"spec": {"token": token}})
    assert (answer["status"]["authenticated"], answer["status"]["user"]["username"]) == (True, "tara")


def test_only_who_may_do_all_asks_about_others(sqlite_api: Any) -> None:
    for path in (f"{AUTHORIZATION}/subjectaccessreviews", f"{AUTHENTICATION}/tokenreviews"):
        status, refused, _ = sqlite_api.request("POST", path, {"spec": {}}, role="student")
        assert (status, refused["reason"]) == (403, "Forbidden")


def test_a_scheduler_has_others_requests_to_itself_reviewed(sqlite_api: Any) -> None:
    status, answer, _ = sqlite_api.request(
        "POST", f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": "nothing"}}, role="component"
    )
    assert (status, answer["status"]["error"]) == (201, "invalid bearer token")
    asked = {"user": "nobody", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    path = f"{AUTHORIZATION}/subjectaccessreviews"
    status, answer, _ = sqlite_api.request("POST", path, {"spec": asked}, role="component")
    assert (status, answer["status"]["allowed"]) == (201, False)


def test_the_rules_of_the_owner_are_all(sqlite_api: Any) -> None:
    _, answer, _ = sqlite_api.request(
        "POST", f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    )
    assert {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]} in answer["status"]["resourceRules"]


def test_a_token_of_an_account_is_good_for_a_review(sqlite_api: Any) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    assert sqlite_api.request("POST", accounts, {"metadata": {"name": "reviewed"}})[0] == 201
    path = f"{accounts}/reviewed/token"
    status, answer, _ = sqlite_api.request("POST", path, {"spec": {"expirationSeconds": None}})
    assert (status, answer["kind"], answer["spec"]["expirationSeconds"]) == (201, "TokenRequest", 3600)
    token = answer["status"]["token"]
    _, review, _ = sqlite_api.request("POST", f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": token}})
    assert review["status"]["user"]["username"] == "system:serviceaccount:default:reviewed"
    forged = token[:-2] + ("AA" if token[-2:] != "AA" else "BB")
    _, review, _ = sqlite_api.request("POST", f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": forged}})
    assert review["status"] == {"user": {}, "error": "invalid bearer token"}


def test_what_no_token_is_made_for(sqlite_api: Any) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    sqlite_api.request("POST", accounts, {"metadata": {"name": "bound"}})
    status, refused, _ = sqlite_api.request("POST", f"{accounts}/bound/token", {"spec": {"expirationSeconds": 10}})
    assert (status, refused["details"]["causes"][0]["message"]) == (
        422,
        "Invalid value: 10: may not specify a duration less than 10 minutes",
    )
    pod = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "none"}}
    status, refused, _ = sqlite_api.request("POST", f"{accounts}/bound/token", {"spec": pod})
    assert (status, refused["message"]) == (404, 'pods "none" not found')
    assert sqlite_api.request("POST", f"{accounts}/nobody/token", {"spec": {}})[0] == 404
