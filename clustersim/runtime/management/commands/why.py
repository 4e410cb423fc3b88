"""`manage.py why`: why a pending pod of a real cluster finds no node, from what kubectl says of it, in a terminal."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.core.management.base import BaseCommand, CommandError

from clustersim import documents
from clustersim.classroom import manifests
from clustersim.plugins import installed
from controllers.whatif.why import load, why
from controllers.whatif.wishes import CPU, OF_CONDITIONS, amount_told
from scheduler_core.api.errors import ApiError
from scheduler_core.api.quantity import milli_value

CLUSTER_BYTES_MAX: Final = 1024 * 1024 * 1024
"""Bytes of a cluster's objects as kubectl prints them; more are refused."""

CLUSTER_OBJECTS_MAX: Final = 500_000

OPENING_SECONDS: Final = 60
"""Longest wait for a session of several thousand pods to be there."""

NODES_TOLD: Final = 10
"""Nodes told for each plugin that refused, the nearest first; `--json` has all."""

VICTIMS_TOLD: Final = 5

HINT: Final = "kubectl get nodes,pods -A -o json | python manage.py why -"


class Command(BaseCommand):
    """Read a cluster, take one decision on it, and tell it."""

    help = f"Say why a pending pod finds no node and what would make it fit: {HINT}"
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "pod",
            nargs="?",
            default="-",
            help="namespace/name of a pending pod; - (the default): the one of the highest priority that waits longest",
        )
        parser.add_argument(
            "--file", type=Path, help="a file with the cluster's objects, JSON or YAML; else they come from a pipe"
        )
        parser.add_argument("--config", type=Path, help="the cluster's KubeSchedulerConfiguration; else the defaults")
        parser.add_argument("--seed", type=int, default=0, help="chance is drawn from it (default 0)")
        parser.add_argument("--open", metavar="URL", help="open a session at the pod there and print its address")
        parser.add_argument("--json", action="store_true", help="print one JSON object (docs/why.md)")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = "" if options["pod"] == "-" else options["pod"]
        if options["open"]:
            if options["config"] is not None:
                raise CommandError("a session is opened with kube-scheduler's defaults; leave --config out, or --open")
            told = _opened(options["open"], _bytes(options["file"]), wanted)
            address = f"{told['url']}".replace("#", f"?pod={quote(told['pod'])}#", 1)
            self.stdout.write(json.dumps({**told, "url": address}) if options["json"] else address)
            return
        try:
            scheduler = None if options["config"] is None else documents.one_yaml(_bytes(options["config"]))
            if scheduler is not None and not isinstance(scheduler, dict):
                raise CommandError(f"{options['config']} is no KubeSchedulerConfiguration")
            found = manifests.objects(
                _bytes(options["file"]), bytes_max=CLUSTER_BYTES_MAX, objects_max=CLUSTER_OBJECTS_MAX
            )
            store = load(found, seed=options["seed"], scheduler=scheduler, plugins=installed().registry)
            told = why(store, wanted)
        except ApiError as error:
            causes = "".join(f"\n  {cause.field}: {cause.message}" for cause in error.causes)
            raise CommandError(f"{error.message}{causes}") from error
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        for line in _lines(told):
            self.stdout.write(line)


def _opened(server: str, data: bytes, wanted: str) -> Mapping[str, Any]:
    """Open a session of the objects at a server; return its answer.

    Raises:
        CommandError: it cannot be reached, or says no.
    """
    query = urlencode({"title": wanted or "kubectl", "pod": wanted})
    asked = urllib.request.Request(f"{server.rstrip('/')}/api/clusters?{query}", data=data, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=OPENING_SECONDS) as answer:
            told: Mapping[str, Any] = json.load(answer)
            return told
    except urllib.error.HTTPError as error:
        refused = json.loads(error.read() or b"{}")
        raise CommandError(refused.get("message") or f"{server} answers {error.code}") from error
    except (OSError, ValueError) as error:
        raise CommandError(f"{server} cannot be reached: {error}; start it with `make run`") from error


def _bytes(path: Path | None) -> bytes:
    if path is None or str(path) == "-":
        if sys.stdin.isatty():
            raise CommandError(f"nothing comes in; try: {HINT}")
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from error


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    asks = ", ".join(f"{name} {_amount(name, amount)}" for name, amount in told["requests"].items()) or "nothing"
    yield f"{told['pod']} asks for {asks}; priority {told['priority']}"
    if told["chosen"]:
        yield f"It fits: the scheduler would bind it to {told['chosen']}."
    elif told["gated"]:
        yield f"It is held back before any node is looked at: {told['gated']}"
        yield from ["And without that no node takes it:"] if told["message"] else []
    yield from [told["message"]] if told["message"] else []
    others = told["pending"] - 1
    if others:
        yield f"({others:,} more {'pod waits' if others == 1 else 'pods wait'} for a node; name one to ask about it)"
    yield from _refusals(told["nodes"])
    if told["preemption"] is not None:
        yield ""
        yield f"Preemption: {_preemption(told['preemption'])}"
    if told["chosen"]:
        return
    yield ""
    if not told["fits"]:
        yield "No single change that was tried makes it fit."
        return
    yield "Each of these alone makes it fit, tried with the scheduler:"
    for number, fit in enumerate(told["fits"], 1):
        yield f"  {number}. {fit['text']['en']}  → {fit['node']}"


def _refusals(nodes: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the nodes by what refused them, the nearest first."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in nodes:
        groups.setdefault((row["plugin"], ", ".join(row["reasons"])), []).append(row)
    for (plugin, reasons), rows in groups.items():
        yield ""
        yield f"{len(rows):,} {'node' if len(rows) == 1 else 'nodes'}: {reasons} ({plugin})"
        if OF_CONDITIONS in reasons:
            yield f"  a condition of the node put it there; it ends with that: kubectl describe node {rows[0]['node']}"
        if not rows[0]["short"]:
            more = f" and {len(rows) - NODES_TOLD:,} more" if len(rows) > NODES_TOLD else ""
            yield f"  {', '.join(row['node'] for row in rows[:NODES_TOLD])}{more}"
            continue
        width = max(len(row["node"]) for row in rows[:NODES_TOLD])
        for row in rows[:NODES_TOLD]:
            amounts = "; ".join(
                f"needs {_amount(name, one['asked'])} {name}, {_amount(name, one['free'])} free"
                for name, one in row["short"].items()
            )
            yield f"  {row['node']:{width}}  {amounts}"
        if len(rows) > NODES_TOLD:
            yield f"  … and {len(rows) - NODES_TOLD:,} more, none nearer"


def _amount(resource: str, quantity: str) -> str:
    """Return a quantity as the page writes it."""
    return amount_told(resource, milli_value(quantity)) if resource == CPU else quantity


def _preemption(told: Mapping[str, Any]) -> str:
    if told["node"]:
        victims = told["victims"]
        shown = ", ".join(victims[:VICTIMS_TOLD]) + (" …" if len(victims) > VICTIMS_TOLD else "")
        count = f"{len(victims)} {'pod' if len(victims) == 1 else 'pods'}"
        candidates = len(told["candidates"])
        of = f" (cheapest of {candidates} candidates)" if candidates > 1 else ""
        return f"would evict {count} from {told['node']}{of}: {shown}"
    if not told["eligible"]:
        return f"the pod may not preempt: {told['whyNot']}"
    return "evicting pods of lower priority frees no node"
