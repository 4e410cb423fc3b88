"""What an operator can set, and what is refused with which words."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clustersim import environment, hosts, logs


@pytest.mark.parametrize("text", ["abc", "-1", "70000", "80.5", "８０００x"])
def test_a_bad_number_is_refused_by_name(monkeypatch, text):
    monkeypatch.setenv("PORT", text)
    with pytest.raises(environment.BadEnvironment, match="PORT"):
        environment.integer("PORT", 8000)


def test_an_empty_variable_is_the_default(monkeypatch):
    monkeypatch.setenv("PORT", " ")
    assert environment.integer("PORT", 8000) == 8000


def test_database_addresses(tmp_path):
    assert environment.database("", tmp_path)["NAME"] == str(tmp_path / "clustersim.sqlite3")
    assert environment.database("sqlite:////srv/a b.db", tmp_path)["NAME"] == "/srv/a b.db"
    chosen = environment.database("postgres://me:p%40ss@db.example:6432/class?sslmode=require", tmp_path)
    assert (chosen["USER"], chosen["PASSWORD"], chosen["HOST"], chosen["PORT"], chosen["NAME"]) == (
        "me",
        "p@ss",
        "db.example",
        "6432",
        "class",
    )
    assert chosen["OPTIONS"] == {"sslmode": "require"}
    with pytest.raises(environment.BadEnvironment, match="mysql"):
        environment.database("mysql://x/y", tmp_path)


def test_the_key_is_made_once_and_is_nobody_elses(tmp_path):
    key = environment.secret_key(tmp_path)
    assert len(key) >= 50
    assert environment.secret_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_any_changed_byte_of_a_static_file_is_another_release(tmp_path):
    (tmp_path / "js").mkdir()
    file = tmp_path / "js" / "main.js"
    file.write_text("1")
    before = environment.release("1.0", {"static": tmp_path})
    file.write_text("2")
    after = environment.release("1.0", {"static": tmp_path})
    assert before != after
    assert before.startswith("1.0-")
    file.rename(tmp_path / "js" / "other.js")
    assert environment.release("1.0", {"static": tmp_path}) != after
    assert environment.release("1.0", {"static": Path(tmp_path / "missing")}).startswith("1.0-")


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("192.168.1.7", True),
        ("[::1]:8000", True),
        ("[fe80::1]", True),
        ("clustersim.internal:8443", True),
        ("CLUSTERSIM.INTERNAL.", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("localhost.evil.example", False),
        ("", False),
        ("*", False),
    ],
)
def test_literal_addresses_and_own_names_are_answered(host, allowed):
    assert hosts.is_allowed(host) is allowed


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcDEF123.-_",
        "authorization basic dXNlcjpzM2NyZXQ=",
        'body {"token": "s3cret-token"}',
        "connect redis://user:s3cret@host/0",
    ],
)
def test_log_lines_carry_no_secret(text):
    import logging

    record = logging.LogRecord("x", logging.INFO, __file__, 1, "%s", (text,), None)
    record.session = 7
    line = logs.LineFormatter().format(record)
    assert "***" in line
    assert "session=7" in line
    for secret in ("abcDEF123", "dXNlcjpzM2NyZXQ", "s3cret"):
        assert secret not in line
