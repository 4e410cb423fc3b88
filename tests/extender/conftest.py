from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import override_settings

from clustersim.runtime import extenders
from scheduler_core.extender.configuration import ExtenderConfiguration, origin_of, read_extenders
from scheduler_core.framework.asks import Ask, CallExtenders, Reply


@pytest.fixture
def allow() -> Iterator[Callable[..., None]]:
    """Let the operator allow these URLs' origins for the test."""
    changed: list[Any] = []

    def allowing(*urls: str) -> None:
        setting = override_settings(EXTENDER_ORIGINS=frozenset(map(origin_of, urls)))
        setting.enable()
        changed.append(setting)

    yield allowing
    for setting in reversed(changed):
        setting.disable()


@pytest.fixture
def over_http() -> Callable[[Ask], Reply]:
    """Return what carries a cycle's calls out for real, and says yes to everything else."""

    def carry_out(ask: Ask) -> Reply:
        if isinstance(ask, CallExtenders):
            return Reply(value=[extenders.call(call) for call in ask.calls])
        return Reply()

    return carry_out


@pytest.fixture
def configured(allow) -> Callable[..., tuple[ExtenderConfiguration, ...]]:
    """Return a reader of extenders that the operator allows: `configured({urlPrefix: …, …}, …)`."""

    def read(*documents: dict[str, Any]) -> tuple[ExtenderConfiguration, ...]:
        found, causes = read_extenders(documents)
        assert causes == []
        allow(*(one.url_prefix for one in found))
        return found

    return read
