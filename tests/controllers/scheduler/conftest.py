from __future__ import annotations

from collections.abc import Callable

import pytest

from controllers.bootstrap import initial_objects
from controllers.machinery.client import Client
from controllers.machinery.memory import MemoryStore
from controllers.machinery.operations import Create
from tests.controllers.scheduler.plane import Plane


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore(seed=7)
    client = Client(store)
    for document in initial_objects():
        resource = {"Namespace": "namespaces", "PriorityClass": "priorityclasses.scheduling.k8s.io"}.get(
            document["kind"], document["kind"].lower() + "s.clustersim.io"
        )
        result = client.apply(Create(resource, document["metadata"].get("namespace", ""), document), "session", 0)
        assert result.error is None, result.error
    return store


@pytest.fixture
def plane(store: MemoryStore) -> Plane:
    return Plane(store)


@pytest.fixture
def make_plane() -> Callable[..., Plane]:
    return Plane
