"""Somebody acts between what the engine has decided and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from controllers.kit.client import Client
from controllers.loop.component import Emission


def before_each_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[Emission], object]) -> None:
    """Have `act` told of each thing that is to be written, before the transaction is opened in which it is.

    That is in the middle of a burst. Time has been promised further by then: what `act` writes is for later, and the
    engine has not read it. Only of clusters made from now on.
    """
    commit = Client.commit

    def others_first(client: Client, emissions: Sequence[Emission], now_ms: int, read: int) -> Any:
        for emission in emissions:
            act(emission)
        return commit(client, emissions, now_ms, read)

    monkeypatch.setattr(Client, "commit", others_first)
