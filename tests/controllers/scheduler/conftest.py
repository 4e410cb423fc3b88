from __future__ import annotations

from collections.abc import Callable

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from tests.controllers.scheduler.plane import Plane


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore(seed=7)
    found(store)
    return store


@pytest.fixture
def plane(store: MemoryStore) -> Plane:
    return Plane(store)


@pytest.fixture
def make_plane() -> Callable[..., Plane]:
    return Plane
