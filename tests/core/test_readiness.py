"""Structs have read their fields before there are threads: two that do it at once end the process."""

from __future__ import annotations

from typing import Any

import msgspec

from clustersim.runtime.management.commands import web, worker
from scheduler_core.kernels import readiness

READ: list[str] = []


def told(name: str) -> type[int]:
    """Stand as a field's type; it is looked at when, and only when, the struct reads its fields."""
    READ.append(name)
    return int


class Inner(msgspec.Struct):
    """A struct within another."""

    one: told("inner") = 1  # type: ignore[valid-type]


class Outer(msgspec.Struct):
    """A struct that nobody has converted to yet."""

    inner: Inner
    two: told("outer") = 2  # type: ignore[valid-type]


def test_every_struct_reads_its_fields_at_once_and_never_again() -> None:
    assert readiness.make_ready() > 2
    assert sorted(READ) == ["inner", "outer"]
    assert readiness.make_ready() == 0, "who is forked from one that is ready has nothing left to do"
    assert msgspec.convert({"inner": {}}, Outer) == Outer(Inner())
    assert sorted(READ) == ["inner", "outer"]


def test_processes_with_threads_begin_with_it(monkeypatch: Any) -> None:
    begun: list[str] = []
    monkeypatch.setattr(worker, "make_ready", lambda: begun.append("ready"))
    monkeypatch.setattr(worker, "collect_rarely", lambda: None)
    monkeypatch.setattr(worker, "Worker", lambda: type("Idle", (), {"run": lambda self: begun.append("runs")})())
    worker.Command().handle()
    assert begun == ["ready", "runs"]

    from clustersim.runtime import webserver

    begun.clear()
    server = type("Idle", (), {"__init__": lambda self, **kind: None, "run": lambda self: begun.append("runs")})
    monkeypatch.setattr(web, "make_ready", lambda: begun.append("ready"))
    monkeypatch.setattr(web, "collect_rarely", lambda: None)
    monkeypatch.setattr(web.sys, "setswitchinterval", lambda seconds: None)
    monkeypatch.setattr(webserver, "Server", server)
    web.Command().handle()
    assert begun == ["ready", "runs"]
