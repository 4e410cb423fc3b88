"""Continue tokens: read back as they were written, refused in upstream's words."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim.apiserver.continuing import Token, read, written
from scheduler_core.api.errors import ApiError

NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-.", min_size=1, max_size=60)


@given(st.integers(-1, 10**12).filter(bool), st.sampled_from(("", "default", "team-a")), NAMES)
def test_a_token_is_read_as_it_was_written(revision: int, namespace: str, name: str) -> None:
    assert read(written(Token(revision, namespace, name))) == (revision, namespace, name)


def _coded(text: str) -> str:
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("!!", "illegal base64 data at input byte 0"),
        ("e30=", "illegal base64 data at input byte 3"),
        ("abcde", "illegal base64 data at input byte 4"),
        ("abc", "invalid character 'i' looking for beginning of value"),
        (_coded('{"v":'), "unexpected end of JSON input"),
        (_coded('{"v":"v9","rv":1,"start":"a"}'), "server does not recognize this encoded version v9"),
        (
            _coded('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'),
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (_coded('{"v":"meta.k8s.io/v1","rv":1,"start":"../a"}'), "../a"),
        (_coded('{"v":"meta.k8s.io/v1","rv":1}'), "encoded start key empty (version meta.k8s.io/v1)"),
    ],
)
def test_a_token_that_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        read(text)
    assert (caught.value.code, caught.value.message) == (
        400,
        f"invalid continue token: continue key is not valid: {why}",
    )


def test_no_token_is_none() -> None:
    assert read("") is None
