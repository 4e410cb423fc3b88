"""Rules of Secrets, Endpoints, slices, LimitRanges and ControllerRevisions, in upstream's words."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

SLICES = "endpointslices.discovery.k8s.io"
REVISIONS = "controllerrevisions.apps"


def told(resource: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    error = refusal(Cluster().create, resource, "web", body)
    assert error.code == 422
    return [(cause.field, cause.message) for cause in error.causes]


def secret(kind: str, **data: str) -> dict[str, Any]:
    return {"type": kind, "data": {key: b64encode(text.encode()).decode() for key, text in data.items()}}


def limit(**item: Any) -> dict[str, Any]:
    return {"spec": {"limits": [{"type": "Container", **item}]}}


def subset(*ips: str, ports: Any = ({"port": 80},)) -> dict[str, Any]:
    return {"subsets": [{"addresses": [{"ip": ip} for ip in ips], "ports": list(ports)}]}


def endpoints_of(of: str, *addresses: str) -> dict[str, Any]:
    return {"addressType": of, "endpoints": [{"addresses": list(addresses)}], "ports": []}


REDACTED = 'Invalid value: "<secret contents redacted>": '
CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "secrets",
        secret("kubernetes.io/basic-auth"),
        [("data[username]", "Required value"), ("data[password]", "Required value")],
    ),
    ("secrets", secret("kubernetes.io/tls", **{"tls.crt": "x"}), [("data[tls.key]", "Required value")]),
    ("secrets", secret("kubernetes.io/ssh-auth"), [("data[ssh-privatekey]", "Required value")]),
    (
        "secrets",
        secret("kubernetes.io/service-account-token"),
        [("metadata.annotations[kubernetes.io/service-account.name]", "Required value")],
    ),
    (
        "secrets",
        secret("kubernetes.io/dockerconfigjson", **{".dockerconfigjson": '"a"'}),
        [
            (
                "data[.dockerconfigjson]",
                f"{REDACTED}json: cannot unmarshal string into Go value of type map[string]interface {{}}",
            )
        ],
    ),
    (
        "secrets",
        secret("kubernetes.io/dockercfg", **{".dockercfg": "x"}),
        [("data[.dockercfg]", f"{REDACTED}invalid character 'x' looking for beginning of value")],
    ),
    ("secrets", secret("Opaque", **{"..": "x"}), [("data[..]", "Invalid value: \"..\": must not be '..'")]),
    (
        "endpoints",
        {"subsets": [{}]},
        [("subsets[0]", "Required value: must specify `addresses` or `notReadyAddresses`")],
    ),
    (
        "endpoints",
        subset("::1"),
        [
            (
                "subsets[0].addresses[0].ip",
                'Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
            )
        ],
    ),
    (
        "endpoints",
        subset("10.0.0.1", ports=({"port": 1, "name": "a"}, {"port": 70000})),
        [
            ("subsets[0].ports[1].name", "Required value"),
            ("subsets[0].ports[1].port", "Invalid value: 70000: must be between 1 and 65535, inclusive"),
        ],
    ),
    (SLICES, endpoints_of("", "10.0.0.1"), [("addressType", "Required value")]),
    (
        SLICES,
        endpoints_of("IPv7", "10.0.0.1"),
        [("addressType", 'Unsupported value: "IPv7": supported values: "FQDN", "IPv4", "IPv6"')],
    ),
    (SLICES, endpoints_of("IPv4"), [("endpoints[0].addresses", "Required value: must contain at least 1 address")]),
    (
        SLICES,
        endpoints_of("IPv4", "fd00::1"),
        [("endpoints[0].addresses", 'Invalid value: "fd00::1": must be an IPv4 address')],
    ),
    (
        SLICES,
        endpoints_of("IPv6", "FD00::1"),
        [("endpoints[0].addresses[0]", 'Invalid value: "FD00::1": must be in canonical form ("fd00::1")')],
    ),
    (
        SLICES,
        endpoints_of("FQDN", "host"),
        [
            (
                "endpoints[0].addresses[0]",
                'Invalid value: "host": should be a domain with at least two segments separated by dots',
            )
        ],
    ),
    (
        SLICES,
        {**endpoints_of("IPv4", "10.0.0.1"), "ports": [{"port": 1}, {"port": 2}]},
        [("ports[1].name", 'Duplicate value: ""')],
    ),
    (
        "limitranges",
        {"spec": {"limits": [{"type": "Nothing"}]}},
        [
            (
                "spec.limits[0].type",
                'Invalid value: "Nothing": must be a standard limit type or fully qualified',
            )
        ],
    ),
    (
        "limitranges",
        limit(max={"cpu": "1"}, min={"cpu": "1500m"}),
        [
            ("spec.limits[0].min[cpu]", 'Invalid value: "1500m": min value 1500m is greater than max value 1'),
            (
                "spec.limits[0].defaultRequest[cpu]",
                'Invalid value: "1": min value 1500m is greater than default request value 1',
            ),
            ("spec.limits[0].default[cpu]", 'Invalid value: "1500m": min value 1500m is greater than default value 1'),
        ],
    ),
    (
        "limitranges",
        limit(max={"cpu": "3"}, min={"cpu": "1"}, maxLimitRequestRatio={"cpu": "4"}),
        [
            (
                "spec.limits[0].maxLimitRequestRatio[cpu]",
                'Invalid value: "4": ratio 4 is greater than max/min = 3.000000',
            )
        ],
    ),
    (
        "limitranges",
        {"spec": {"limits": [{"type": "PersistentVolumeClaim"}]}},
        [
            (
                "spec.limits[0].limits",
                "Required value: either minimum or maximum storage value is required, but neither was provided",
            )
        ],
    ),
    (REVISIONS, {"revision": -1, "data": {}}, [("revision", "Invalid value: -1: must be greater than or equal to 0")]),
    (REVISIONS, {"revision": 1}, [("data", "Required value: data is mandatory")]),
]


@pytest.mark.parametrize(("resource", "body", "causes"), CASES)
def test_what_is_refused(resource: str, body: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    assert told(resource, body) == causes


def test_text_becomes_data_and_a_type_stays() -> None:
    cluster = Cluster()
    made = cluster.create("secrets", "web", {"stringData": {"a": "ü"}})
    assert (made["type"], made["data"]) == ("Opaque", {"a": "w7w="})
    assert "stringData" not in made
    assert cluster.patch("secrets", "web", {"stringData": {"b": "x"}})["data"] == {"a": "w7w=", "b": "eA=="}
    refused = refusal(cluster.patch, "secrets", "web", {"type": "other"})
    assert [(cause.field, cause.message) for cause in refused.causes] == [
        ("type", 'Invalid value: "other": field is immutable')
    ]


def test_an_immutable_secret_keeps_its_data() -> None:
    cluster = Cluster()
    cluster.create("secrets", "web", {"stringData": {"a": "1"}, "immutable": True})
    for change, field in (({"stringData": {"a": "2"}}, "data"), ({"immutable": False}, "immutable")):
        refused = refusal(cluster.patch, "secrets", "web", change)
        assert [cause.field for cause in refused.causes] == [field]
    assert cluster.patch("secrets", "web", {"metadata": {"labels": {"a": "b"}}})["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(("resource", "key"), [("secrets", "data"), ("configmaps", "binaryData")])
def test_an_immutable_object_without_data_is_sent_no_empty_data(resource: str, key: str) -> None:
    cluster = Cluster()
    cluster.create(resource, "web", {"immutable": True})
    refused = refusal(cluster.patch, resource, "web", {key: {}})
    assert [cause.field for cause in refused.causes] == [key]


def test_what_is_absent_in_a_slice_is_null_and_stays_so() -> None:
    cluster = Cluster()
    made = cluster.create(SLICES, "web", {"addressType": "IPv4"})
    assert (made["endpoints"], made["ports"]) == (None, None)
    before = cluster.store.revision
    assert cluster.update(SLICES, made) == made
    assert cluster.store.revision == before
    filled = cluster.patch(SLICES, "web", {"endpoints": [{"addresses": ["10.0.0.1"]}]})
    assert (filled["endpoints"], filled["ports"]) == ([{"addresses": ["10.0.0.1"], "conditions": {}}], None)
    emptied = cluster.patch(SLICES, "web", {"endpoints": None})
    assert (emptied["endpoints"], emptied["metadata"]["generation"]) == (None, 3)


def test_addresses_in_an_odd_form_are_warned_of() -> None:
    cluster = Cluster()
    cluster.create("endpoints", "web", subset("010.0.0.1", "FD00::1"))
    assert cluster.warnings == [
        'subsets[0].addresses[0].ip: non-standard IP address "010.0.0.1" will be considered invalid in a future '
        'Kubernetes release: use "10.0.0.1"',
        'subsets[0].addresses[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    ]
    cluster.create(SLICES, "web", endpoints_of("FQDN", "a.example.dev"))
    assert cluster.warnings == ["spec.addressType: FQDN endpoints are deprecated"]


def test_a_change_never_writes_into_the_stored_document() -> None:
    cluster = Cluster()
    made = cluster.create("endpoints", "web", subset("10.0.0.1"))
    refusal(cluster.patch, "endpoints", "web", {"subsets": [{"addresses": [{"ip": "x"}]}]})
    assert cluster.store.get("endpoints", "default", "web").object == made


def test_names_of_kernel_parameters_are_checked() -> None:
    names = ["kernel.shm_rmid_forced", "net/ipv4/tcp_syncookies", "foo-", "bar..", "kernel.shm_rmid_forced", ""]
    sysctls = [{"name": name, "value": "1"} for name in names]
    spec = {"containers": [{"name": "c", "image": "i:1"}], "securityContext": {"sysctls": sysctls}}
    refused = refusal(Cluster().create, "pods", "web", {"spec": spec})
    found = [(cause.field, cause.message.partition(": must")[0]) for cause in refused.causes]
    where = "spec.securityContext.sysctls"
    assert found == [
        (f"{where}[2].name", 'Invalid value: "foo-"'),
        (f"{where}[3].name", 'Invalid value: "bar.."'),
        (f"{where}[4].name", 'Duplicate value: "kernel.shm_rmid_forced"'),
        (f"{where}[5].name", "Required value"),
    ]


def test_a_namespace_that_nothing_holds_goes_with_its_second_delete() -> None:
    """As in upstream's `registry/core/namespace/storage`: the first one begins its end, its controller has none."""
    cluster = Cluster()
    made = cluster.create("namespaces", "bare")
    cluster.update("namespaces", {**made, "spec": {"finalizers": []}}, "finalize")
    first = cluster.delete("namespaces", "bare")
    assert first["status"]["phase"] == "Terminating"
    assert cluster.get("namespaces", "bare") == first
    cluster.delete("namespaces", "bare")
    assert cluster.get("namespaces", "bare") is None
