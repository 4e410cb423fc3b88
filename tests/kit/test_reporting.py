"""What a controller tells of a reconciliation is read by people: the marks inside its keys are not."""

from __future__ import annotations

import pytest

from controllers.kit.reporting import Reconciled


@pytest.mark.parametrize(
    ("key", "said"),
    [("default/web", "default/web"), ("stale\x00default/web", "stale default/web"), ("\x00resync", "resync")],
    ids=["a key", "a key with a prefix of its own", "a key that is no object's"],
)
def test_a_key_is_told_in_words(key: str, said: str) -> None:
    assert Reconciled(key, 0).shown()["object"] == said
