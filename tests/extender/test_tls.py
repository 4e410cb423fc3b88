"""Extenders over TLS: whom the certificate must come from, and whose name it must carry."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clustersim.runtime import certificates, extenders
from scheduler_core.extender import wire
from scheduler_core.extender.calls import ExtenderCall, Record
from tests.extender.server import Extender, extender, keep

BODY = wire.nodes_and_pod({"metadata": {"name": "web"}}, [], ["a", "b"], names_only=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ssl.SSLContext]:
    """Return (the authority's PEM in base64, the context of a server that it vouches for)."""
    folder: Path = tmp_path_factory.mktemp("certificates")
    key, certificate = certificates.ensure(folder, ["extender.example"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return base64.b64encode(certificates.authority_path(folder).read_bytes()).decode(), context


@pytest.fixture
def secure(authority) -> Iterator[Extender]:
    with extender(authority[1], filter=keep("a")) as one:
        yield one


def ask(configured, one: Extender, tls: dict[str, Any]) -> Record:
    document = {"urlPrefix": one.url, "filterVerb": "filter", "nodeCacheCapable": True, "tlsConfig": tls}
    (found,) = configured(document)
    return extenders.call(ExtenderCall(found, "filter", found.url("filter"), BODY))


@pytest.mark.parametrize("named", ["", "extender.example"])
def test_a_certificate_of_the_given_authority_is_taken(configured, authority, secure, named: str) -> None:
    record = ask(configured, secure, {"caData": authority[0], "serverName": named})
    assert record["answer"]["nodes"] == ["a"]


def test_without_the_authority_it_is_refused_unless_any_will_do(configured, secure) -> None:
    assert "certificate verify failed" in ask(configured, secure, {})["error"]
    assert ask(configured, secure, {"insecure": True})["answer"]["nodes"] == ["a"]


def test_another_s_certificate_is_refused(configured, authority, secure) -> None:
    record = ask(configured, secure, {"caData": authority[0], "serverName": "elsewhere.example"})
    assert "certificate is not valid for 'elsewhere.example'" in record["error"]
