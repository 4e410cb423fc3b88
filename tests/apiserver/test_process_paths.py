"""What an API server tells of itself beside its resources: keys, metrics, profiles, the level of its log."""

from __future__ import annotations

import gzip

import pytest

from clustersim.apiserver import openid, processtelling
from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import PageNotFound
from scheduler_core.api.errors import ApiError
from tests.tools.room import Room


def told(path: str, method: str = "GET", body: bytes = b"", **query: str) -> Response:
    return processtelling.debug(Request(method, "AAAAAA", path, query, {}, body))


def test_who_signs_tokens_is_told_and_no_key(own_database: None) -> None:
    room = Room("empty")
    found = room.ask("GET", openid.CONFIGURATION)[1]
    assert found["issuer"] == "https://kubernetes.default.svc.cluster.local"
    assert found["jwks_uri"].endswith(f"/clusters/{room.code}/openid/v1/jwks")
    assert found["id_token_signing_alg_values_supported"] == ["HS256"]
    paths = room.ask("GET", "/")[1]["paths"]
    assert {openid.CONFIGURATION, openid.KEYS, "/metrics/slis"} <= set(paths)


def test_keys_come_as_a_set_of_keys_alone() -> None:
    answer = openid.answer(Request("GET", "AAAAAA", openid.KEYS, {}, {"accept": "*/*"}), openid.KEYS)
    assert (answer.content_type, answer.body.strip()) == ("application/jwk-set+json", b'{"keys":[]}')
    with pytest.raises(ApiError, match="406: Not Acceptable\n\nAvailable representations: application/jwk-set") as why:
        openid.answer(Request("GET", "AAAAAA", openid.KEYS, {}, {"accept": "application/json"}), openid.KEYS)
    assert why.value.status()["details"] == {}
    with pytest.raises(ApiError, match="does not allow this method"):
        openid.answer(Request("POST", "AAAAAA", openid.KEYS, {}, {}), openid.KEYS)


def test_each_check_leaves_a_metric() -> None:
    lines = processtelling.slis().body.decode().splitlines()[2:]
    assert lines == sorted(lines)
    assert 'kubernetes_healthcheck{name="etcd",type="healthz"} 1' in lines
    assert 'kubernetes_healthcheck{name="etcd",type="readyz"} 1' not in lines
    assert 'kubernetes_healthcheck{name="shutdown",type="readyz"} 1' in lines


def test_profiles_are_well_formed_and_hold_nothing() -> None:
    moved = told("/debug/pprof")
    assert (moved.status, moved.headers) == (302, [("location", "/clusters/AAAAAA/debug/pprof/")])
    assert b"<a href='goroutine?debug=1'>goroutine</a>" in told("/debug/pprof/").body
    assert told("/debug/pprof/goroutine", debug="1").body == b"goroutine profile: total 0\n"
    profile = told("/debug/pprof/heap", debug="x")
    assert profile.content_type == "application/octet-stream"
    assert b"samples" in gzip.decompress(profile.body)


@pytest.mark.parametrize("name", ["nope", "cmdline", "heap/", "/heap"])
def test_a_profile_that_there_is_not(name: str) -> None:
    answer = told(f"/debug/pprof/{name}")
    assert (answer.status, answer.body) == (404, b"Unknown profile\n")


@pytest.mark.parametrize(
    ("method", "body", "expected"),
    [
        ("GET", b"", (406, "unsupported http method\n")),
        ("PUT", b"5", (200, "successfully set klog.logging.verbosity to 5\n")),
        ("PUT", b'x"y', (400, 'strconv.ParseUint: parsing "x\\"y": invalid syntax\n')),
        ("PUT", b"9" * 5000, (400, f'strconv.ParseUint: parsing "{"9" * 80}": value out of range\n')),
    ],
)
def test_a_level_is_taken_where_it_is_a_number(method: str, body: bytes, expected: tuple[int, str]) -> None:
    answer = told("/debug/flags/v", method, body)
    assert (answer.status, answer.body.decode()) == expected


@pytest.mark.parametrize("path", ["/debug", "/debug/", "/debug/vars"])
def test_nothing_else_is_told_below_debug(path: str) -> None:
    with pytest.raises(PageNotFound):
        told(path)
