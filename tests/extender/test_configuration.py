"""`extenders` of a configuration: what is read, in which order they are called, and what is refused where."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.test import override_settings

from clustersim import environment
from clustersim.extenders import refusals
from controllers.kinds.clustersim.schedulerconfig import calls_of
from scheduler_core.api.errors import ApiError
from scheduler_core.extender.configuration import (
    EXTENDER_TIMEOUT_MS_MAX,
    EXTENDERS_MAX,
    ExtenderConfiguration,
    ManagedResource,
    Tls,
    read_extenders,
)
from scheduler_core.profiles.configuration import read_configuration

AT = {"urlPrefix": "http://x:1"}


def test_every_field_is_read() -> None:
    pem = "-----BEGIN CERTIFICATE-----\n"
    document = {
        "urlPrefix": "https://x/deep",
        "filterVerb": "f",
        "preemptVerb": "p",
        "prioritizeVerb": "r",
        "bindVerb": "b",
        "weight": 7,
        "enableHTTPS": True,
        "tlsConfig": {"insecure": True, "serverName": "y", "caData": base64.b64encode(pem.encode()).decode()},
        "httpTimeout": "1.5s",
        "nodeCacheCapable": True,
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/nic"}],
        "ignorable": True,
    }
    (found,), causes = read_extenders([document])
    assert causes == []
    assert found == ExtenderConfiguration(
        url_prefix="https://x/deep",
        filter_verb="f",
        preempt_verb="p",
        prioritize_verb="r",
        bind_verb="b",
        weight=7,
        tls=Tls(True, "y", pem),
        timeout_ms=1_500,
        node_cache_capable=True,
        managed_resources=(ManagedResource("example.com/gpu", True), ManagedResource("example.com/nic")),
        ignorable=True,
        name="https://x/deep",
    )
    assert found.origin == "https://x:443"
    assert found.url("f") == "https://x/deep/f"


def test_ignorable_ones_come_last_and_each_has_a_name_of_its_own() -> None:
    found, _ = read_extenders([{**AT, "ignorable": True}, {"urlPrefix": "http://y:1"}, AT])
    assert [(one.name, one.ignorable) for one in found] == [
        ("http://y:1", False),
        ("http://x:1", False),
        ("http://x:1 (2)", True),
    ]


@pytest.mark.parametrize(
    ("text", "ms"), [("", 5_000), ("0s", 5_000), ("250ms", 250), ("1m", 60_000), ("1ns", 1), ("2s500ms", 2_500)]
)
def test_durations_are_go_s(text: str, ms: int) -> None:
    (found,), causes = read_extenders([{**AT, "httpTimeout": text}])
    assert found.timeout_ms == ms
    assert bool(causes) == (ms > EXTENDER_TIMEOUT_MS_MAX)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({}, "urlPrefix", "Required value"),
    ({"urlPrefix": "ftp://x"}, "urlPrefix", "must be http://"),
    ({"urlPrefix": "http://me:word@x"}, "urlPrefix", "must not carry a user name"),
    ({"urlPrefix": "http://x:99999"}, "urlPrefix", "Invalid value"),
    ({"urlPrefix": "http://x y"}, "urlPrefix", "without spaces"),
    ({"urlPrefix": "http://x\r\nHost: y"}, "urlPrefix", "without spaces"),
    ({**AT, "filterVerb": "f HTTP/1.0\r\nX: y"}, "filterVerb", "must be a path"),
    ({**AT, "bindVerb": "b?c"}, "bindVerb", "must be a path"),
    ({"urlPrefix": "http://x/?a=b"}, "urlPrefix", "must end with the path"),
    ({**AT, "prioritizeVerb": "r"}, "weight", "must have a positive weight applied to it"),
    ({**AT, "prioritizeVerb": "r", "weight": -1}, "weight", "must have a positive weight applied to it"),
    ({**AT, "weight": 10**12}, "weight", "must be at most 1000000"),
    ({**AT, "filterVerb": 3}, "filterVerb", "must be a text"),
    ({**AT, "ignorable": "yes"}, "ignorable", "must be true or false"),
    ({**AT, "weight": True}, "weight", "must be an integer"),
    ({**AT, "httpTimeout": "5"}, "httpTimeout", "must be a duration"),
    ({**AT, "httpTimeout": "31s"}, "httpTimeout", "must be at most 30s"),
    ({**AT, "verbs": {}}, "verbs", 'unknown field "extenders[0].verbs"'),
    ({**AT, "tlsConfig": []}, "tlsConfig", "must be an object"),
    ({**AT, "tlsConfig": {"caFile": "/etc/passwd"}}, "tlsConfig.caFile", "cannot be used here"),
    ({**AT, "tlsConfig": {"caData": "%"}}, "tlsConfig.caData", "must be a PEM bundle in base64"),
    ({**AT, "managedResources": {"name": "a.com/b"}}, "managedResources", "must be a list of objects"),
    ({**AT, "managedResources": [{"name": "cpu"}]}, "managedResources[0].name", "invalid extended resource name"),
    (
        {**AT, "managedResources": [{"name": "a.com/b"}, {"name": "a.com/b"}]},
        "managedResources[1].name",
        "duplicate extender managed resource name",
    ),
]


@pytest.mark.parametrize(("document", "field", "text"), WRONG)
def test_what_is_wrong_is_refused_by_its_path(document: dict[str, Any], field: str, text: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_configuration({"extenders": [document]})
    assert refused.value.code == 422
    told = {cause.field: cause.message for cause in refused.value.causes}
    assert text in told[f"extenders[0].{field}"]


def test_one_extender_may_bind_and_few_may_be_asked() -> None:
    _, causes = read_extenders([{**AT, "bindVerb": "b"}] * 2)
    assert [cause.message for cause in causes] == [
        "Invalid value: found 2 extenders implementing bind: only one extender can implement bind"
    ]
    _, causes = read_extenders([AT] * (EXTENDERS_MAX + 1))
    assert [cause.reason for cause in causes] == ["FieldValueTooMany"]


# Which origins an operator allows.


def test_origins_are_allowed_one_by_one_with_their_port() -> None:
    allowed = environment.extender_origins(" http://127.0.0.1:8888, https://x ,http://[::1]:1/")
    assert allowed == {"http://127.0.0.1:8888", "https://x:443", "http://[::1]:1"}
    assert environment.extender_origins("") == frozenset()
    urls = ("http://127.0.0.1:8888/deep", "http://127.0.0.1:8889", "http://x")
    documents = {"extenders": [{"urlPrefix": url} for url in urls]}
    with override_settings(EXTENDER_ORIGINS=allowed):
        spec = {"configuration": documents, "policy": {"extenders": [{"urlPrefix": "http://y"}]}}
        causes = refusals(calls_of(spec))
    assert [cause.field for cause in causes] == [
        "configuration.extenders[1].urlPrefix",
        "configuration.extenders[2].urlPrefix",
        "policy.extenders[0].urlPrefix",
    ]
    assert "http://127.0.0.1:8889" in causes[0].message
    assert "CLUSTERSIM_EXTENDERS" in causes[0].message


@pytest.mark.parametrize("text", ["x:80", "http://", "http://x/path", "ftp://x", "http://me@x", "*"])
def test_a_setting_that_is_no_origin_stops_the_start(text: str) -> None:
    with pytest.raises(environment.BadEnvironment, match="CLUSTERSIM_EXTENDERS"):
        environment.extender_origins(text)
