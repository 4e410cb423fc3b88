"""Webhook configurations: defaults, and each rule in upstream's words."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from controllers.kinds.admissionregistration import mutatingwebhookconfiguration, validatingwebhookconfiguration
from controllers.kinds.networking import ipaddress

HOOK: dict[str, Any] = {
    "name": "check.team.example",
    "clientConfig": {"service": {"namespace": "team", "name": "checker"}},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
SERVICE = "clientConfig.service"


def _told(kind: Any, **changes: Any) -> list[tuple[str, str]]:
    hook = copy.deepcopy(HOOK)
    for path, value in changes.items():
        place, keys = hook, path.split("__")
        for key in keys[:-1]:
            place = place[int(key) if key.isdigit() else key]
        place[keys[-1]] = value
    document = {"metadata": {"name": "a"}, "webhooks": [hook]}
    kind.KIND.defaults(document)
    return [(cause.field.removeprefix("webhooks[0]."), cause.message) for cause in kind.KIND.validate(document)]


def test_a_whole_webhook_is_taken_with_upstreams_defaults() -> None:
    assert _told(mutatingwebhookconfiguration) == _told(validatingwebhookconfiguration) == []
    document = {"metadata": {"name": "a"}, "webhooks": [copy.deepcopy(HOOK)]}
    mutatingwebhookconfiguration.KIND.defaults(document)
    (hook,) = document["webhooks"]
    told = {key: hook[key] for key in ("failurePolicy", "matchPolicy", "timeoutSeconds", "reinvocationPolicy")}
    assert told == {
        "failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10, "reinvocationPolicy": "Never",
    }  # fmt: skip
    assert (hook["rules"][0]["scope"], hook["clientConfig"]["service"]["port"]) == ("*", 443)


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"name": ""}, "name", "Required value"),
        ({"name": "a.b"}, "name", 'Invalid value: "a.b": should be a domain with at least three segments separated'),
        ({"failurePolicy": "x"}, "failurePolicy", 'Unsupported value: "x": supported values: "Fail", "Ignore"'),
        ({"sideEffects": "Some"}, "sideEffects", 'Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'),
        ({"sideEffects": None}, "sideEffects", "Required value: must specify one of None, NoneOnDryRun"),
        ({"timeoutSeconds": 31}, "timeoutSeconds", "Invalid value: 31: the timeout value must be between 1 and 30 s"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions", "Required value: must specify one of v1, v1beta1"),
        ({"admissionReviewVersions": ["v2"]}, "admissionReviewVersions", 'Invalid value: ["v2"]: must include at'),
        ({"admissionReviewVersions": ["v1", "v1"]}, "admissionReviewVersions[1]", 'Invalid value: "v1": duplicate ver'),
        ({"rules__0__operations": []}, "rules[0].operations", "Required value"),
        ({"rules__0__operations": ["*", "CREATE"]}, "rules[0].operations", 'Invalid value: ["*","CREATE"]: if \'*\''),
        ({"rules__0__operations": ["READ"]}, "rules[0].operations[0]", 'Unsupported value: "READ": supported values'),
        ({"rules__0__apiVersions": [""]}, "rules[0].apiVersions[0]", "Required value"),
        (
            {"rules__0__resources": ["pods/*", "pods/log"]},
            "rules[0].resources[1]",
            'Invalid value: "pods/log": if \'po',
        ),
        ({"rules__0__resources": ["*/*", "pods"]}, "rules[0].resources", 'Invalid value: ["*/*","pods"]: if \'*/*\''),
        (
            {"rules__0__scope": "All"},
            "rules[0].scope",
            'Unsupported value: "All": supported values: "*", "Cluster", "N',
        ),
        ({"clientConfig": {}}, "clientConfig", "Required value: exactly one of url or service is required"),
        (
            {"clientConfig": {"url": "http://a.b"}},
            "clientConfig.url",
            "Invalid value: \"http\": 'https' is the only all",
        ),
        (
            {"clientConfig": {"url": "https://"}},
            "clientConfig.url",
            'Invalid value: "": host must be specified; desired',
        ),
        (
            {"clientConfig": {"url": "https://a.b?c=d"}},
            "clientConfig.url",
            'Invalid value: "c=d": query parameters are',
        ),
        # Upstream tells of one what the other lacks.
        ({"clientConfig__service__name": ""}, f"{SERVICE}.namespace", "Required value"),
        (
            {"clientConfig__service__port": 0},
            f"{SERVICE}.port",
            "Invalid value: 0: port is not valid: must be between 1",
        ),
        ({"clientConfig__service__path": "a"}, f"{SERVICE}.path", "Invalid value: \"a\": must start with a '/'"),
        (
            {"clientConfig__service__path": "/a//b"},
            f"{SERVICE}.path",
            'Invalid value: "/a//b": segment[1] may not be emp',
        ),
        ({"matchConditions": [{"name": "", "expression": " "}]}, "matchConditions[0].expression", "Required value"),
    ],
)
def test_what_is_wrong_is_told_as_upstream_tells_it(changes: dict[str, Any], field: str, says: str) -> None:
    told = _told(validatingwebhookconfiguration, **changes)
    assert any(where == field and message.startswith(says) for where, message in told), told


def test_names_are_unique_in_a_configuration() -> None:
    document = {"metadata": {"name": "a"}, "webhooks": [copy.deepcopy(HOOK), copy.deepcopy(HOOK)]}
    validatingwebhookconfiguration.KIND.defaults(document)
    (cause,) = validatingwebhookconfiguration.KIND.validate(document)
    assert (cause.field, cause.message) == ("webhooks[1].name", 'Duplicate value: "check.team.example"')


def test_whoever_writes_a_webhook_is_told_that_nobody_calls_it() -> None:
    (warning,) = validatingwebhookconfiguration.KIND.explains({"webhooks": [HOOK]})
    assert "calls nobody outside of itself" in warning
    assert list(validatingwebhookconfiguration.KIND.explains({})) == []


@pytest.mark.parametrize(
    ("parent", "wrong"),
    [
        ({"resource": "services", "namespace": "default", "name": "web"}, []),
        (None, ["spec.parentRef"]),
        ({"name": "web"}, ["spec.parentRef.resource"]),
        ({"resource": "services", "name": "a/b"}, ["spec.parentRef.name"]),
    ],
)
def test_an_address_belongs_to_somebody(parent: dict[str, str] | None, wrong: list[str]) -> None:
    spec = {} if parent is None else {"parentRef": parent}
    causes = ipaddress.KIND.validate({"metadata": {"name": "10.96.0.9"}, "spec": spec})
    assert [cause.field for cause in causes] == wrong
