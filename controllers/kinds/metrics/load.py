"""What requests make pods use: those of the session's clients, and of pods whose command sends them again and again.

A function of what there is, as all usage is: nobody counts requests for it. A client's requests are spread over the
ready pods of the Service that it names; so are those of a pod that runs `while sleep 0.01; do wget -qO- web; done`, of
whose command as much is read as is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from controllers.kinds.clustersim.target import BadTarget, Target, read_target
from controllers.kinds.core.commands import script_of
from controllers.kinds.core.service_names import service_of_name
from controllers.kinds.metrics.usage import cost_milli, running_containers
from scheduler_core.api.document import Document, at, condition

SCRIPT_LENGTH_MAX: Final = 4096
"""Characters of a command that is read; a longer one is taken to send nothing."""

ANSWERED_SECONDS: Final = 0.02
"""How long a command waits for the answer to a request before it goes on."""

_LOOP: Final = re.compile(r"\b(?:while|until|for)\b")
_PARTS: Final = re.compile(r"[;\n|&()`]+|\bdo\b|\bdone\b|\bwhile\b|\buntil\b|\bthen\b|!")
_SLEEP: Final = re.compile(r"(\d{0,9}\.?\d{1,9})([smhd]?)")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_SENDS: Final = frozenset({"wget", "curl"})

Loads = Mapping[str, int]
"""Uid of a pod → the millicores that it uses for requests."""


class Sender(NamedTuple):
    """Who sends: names are looked up in `namespace`; `rate` is in requests per second."""

    namespace: str
    target: Target
    rate: float


def requests_of(words: tuple[str, ...]) -> tuple[tuple[Target, float], ...]:
    """Return (where to, requests per second) for each request of a command that sends them again and again."""
    return _requests_of(words) if sum(map(len, words)) <= SCRIPT_LENGTH_MAX else ()


@lru_cache(maxsize=4096)
def _requests_of(words: tuple[str, ...]) -> tuple[tuple[Target, float], ...]:
    text = script_of(words)
    if not _LOOP.search(text):
        return ()
    seconds, targets = 0.0, []
    for part in _PARTS.split(text):
        name, *rest = part.split() or [""]
        name = name.rpartition("/")[2]
        if name == "sleep" and rest and (found := _SLEEP.fullmatch(rest[0])):
            seconds += float(found[1]) * _UNITS[found[2]]
        elif name in _SENDS and (target := _target_in(rest)) is not None:
            seconds += ANSWERED_SECONDS
            targets.append(target)
    return tuple((target, 1 / seconds) for target in targets)


def _target_in(words: Iterable[str]) -> Target | None:
    """Return where a program of this line sends to: what is written as an address, else the last that may be one."""
    found = None
    for word in (word.strip("'\"") for word in words):
        try:
            target = read_target(word)
        except BadTarget:
            continue
        if "://" in word:
            return target
        found = target
    return found


def sends(pod: Document) -> bool:
    """Return whether a pod's command sends requests again and again, once it runs."""
    return any(requests_of(_words_of(one)) for one in pod["spec"]["containers"])


def _words_of(container: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ())))


def sent_by(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page is told of a pod: `sends`, where it sends requests, and how many a second; else nothing."""
    found = [
        {"host": target.host, "rate": round(rate, 2)}
        for container in running_containers(pod)
        for target, rate in requests_of(_words_of(container))
    ]
    return {"sends": found} if found else {}


def senders_of(pods: Iterable[Document], clients: Iterable[Document]) -> list[Sender]:
    """Return who sends now: the clients that do, as far as they are answered, and pods that run."""
    found = []
    for client in clients:
        spec, status = client["spec"], client.get("status") or {}
        if status.get("state") == "Sending":
            answered = status.get("success")
            rate = spec["rate"] * (1.0 if answered is None else answered)
            found.append(Sender(spec["namespace"], read_target(spec["target"]), rate))
    for pod in pods:
        if sends(pod):
            for container in running_containers(pod):
                asked = requests_of(_words_of(container))
                found += [Sender(pod["metadata"]["namespace"], target, rate) for target, rate in asked]
    return found


def loads_of(
    senders: Iterable[Sender], services: Callable[[], Iterable[Document]], pods: Callable[[str], Iterable[Document]]
) -> Loads:
    """Return what requests make pods use.

    Args:
        senders: who sends.
        services: lists all Services; asked where somebody sends.
        pods: namespace → its pods.
    """
    asked: dict[tuple[str, str], float] = {}
    for sender in senders:
        place = (sender.namespace, sender.target.host)
        asked[place] = asked.get(place, 0.0) + sender.rate
    milli: dict[str, float] = {}
    for service, rate in _found(asked, services) if asked else ():
        ready = list(_behind(service, pods(service["metadata"]["namespace"])))
        for pod in ready:
            uid = pod["metadata"]["uid"]
            milli[uid] = milli.get(uid, 0.0) + rate / len(ready) * cost_milli(pod)
    return {uid: round(used) for uid, used in milli.items()}


def _found(
    asked: Mapping[tuple[str, str], float], services: Callable[[], Iterable[Document]]
) -> Iterable[tuple[Document, float]]:
    """Return the Services that requests go to, and how many a second; `asked`: (namespace of who asks, host) → rate."""
    named: dict[tuple[str, str], Document] = {}
    placed: dict[str, Document] = {}
    for one in services():
        named[one["metadata"]["namespace"], one["metadata"]["name"]] = one
        for address in _addresses_of(one):
            placed.setdefault(address, one)
    rates: dict[tuple[str, str], float] = {}
    for (namespace, host), rate in asked.items():
        place = service_of_name(host, namespace)
        service = placed.get(host) if place is None else named.get(place)
        if service is not None:
            key = (service["metadata"]["namespace"], service["metadata"]["name"])
            rates[key] = rates.get(key, 0.0) + rate
    return [(named[key], rate) for key, rate in rates.items()]


def _addresses_of(service: Document) -> Iterator[str]:
    spec = service["spec"]
    balanced = (one.get("ip") for one in at(service, "status", "loadBalancer", "ingress") or ())
    for address in (spec.get("clusterIP"), *(spec.get("externalIPs") or ()), *balanced):
        if address and address != "None":
            yield address


def _behind(service: Document, pods: Iterable[Document]) -> Iterator[Document]:
    selector = (service["spec"].get("selector") or {}).items()
    for pod in pods if selector else ():
        ready = condition(pod, "Ready")
        if selector <= (pod["metadata"].get("labels") or {}).items() and ready and ready.get("status") == "True":
            yield pod
