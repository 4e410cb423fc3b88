"""Tokens and link secrets as people and scripts carry them."""

from __future__ import annotations

import pytest

from clustersim.classroom import auth


def test_a_secret_is_never_read_as_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--token -x` is refused by the command line, and a secret may be drawn with any letter of its alphabet first."""
    drawn = iter(["-abc", "_abc", "7abc"])
    monkeypatch.setattr(auth.secrets, "token_urlsafe", lambda size: next(drawn))
    assert auth.new_secret() == "7abc"
