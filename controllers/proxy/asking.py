"""Requests through the cluster as it is: of a container's own commands, of the API server for a client.

Unlike those of clients of a session they meet proxies that have heard of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import Target
from controllers.kubelet.documents import Request, served
from controllers.kubelet.logs import filled
from controllers.kubelet.shell.inside import Facts
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant
from controllers.kubelet.stages.answers import Answers, Page
from controllers.log.store import Stored
from controllers.proxy.exchange import API_SERVER, Exchange, Record, Source, rules_now, source_of
from controllers.proxy.network import Network
from controllers.proxy.rules import Rules
from controllers.proxy.serving import listener
from controllers.registry.gotext import quoted
from scheduler_core.api.document import Document, has_ended

BODY_LENGTH_MAX: Final = 16 * 1024
"""Characters of an answer; the rest is cut."""

Api = Callable[[Target, Asked], Came]
"""Asks the API server itself; the address is left to who knows it."""


def forbidden(target: Target, asked: Asked) -> Came:
    """Return what the API server says to somebody whom it does not know."""
    path = target.path.partition("?")[0]
    why = f'forbidden: User "system:anonymous" cannot {asked.method.lower()} path {quoted(path)}'
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": why}
    body = msgspec.json.encode({**status, "reason": "Forbidden", "details": {}, "code": 403}).decode()
    return Came("ok", 403, body=body + "\n", type="application/json")


Lists = Callable[[str], tuple[Sequence[Stored], int]]
"""Returns the objects of a resource, and the revision at which they were read."""


class _Listed:
    """The objects of a moment, for what volumes are made from: of each resource all are read once."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._read: dict[str, dict[tuple[str, str], Document]] = {}

    def get(self, resource: str, namespace: str, name: str) -> Document | None:
        return self._of(resource).get((namespace, name))

    def list(self, resource: str, namespace: str) -> Sequence[Document]:
        return [one for (place, _), one in self._of(resource).items() if place == namespace]

    def at(self, unix_ms: int) -> _Listed:
        # Files follow what they are made from; of environments nobody asks here.
        return self

    def _of(self, resource: str) -> dict[tuple[str, str], Document]:
        if resource not in self._read:
            self._read[resource] = {(one.namespace, one.name): one.object for one in self._lists(resource)[0]}
        return self._read[resource]


def listed(lists: Lists, flags: InForce, answers: Answers, unix_ms: int, api: Api = forbidden) -> Asking:
    """Return the network of one moment: all that requests meet is read; `api` answers for the API server."""
    network = Network(flags)
    network.unix_ms = unix_ms
    for resource, reflector in network.informers.reflectors.items():
        reflector.listed(*lists(resource), watches=False)
    network.changed.clear()
    return Asking(network, _Listed(lists), answers, api)


class Asking:
    """Sends requests through a network."""

    def __init__(self, network: Network, facts: Facts, answers: Answers, api: Api) -> None:
        """Send nothing yet.

        Args:
            network: what requests meet; it may go on to change.
            facts: what volumes are made from.
            answers: what containers answer.
            api: answers for the API server.
        """
        self._network, self._facts, self.answers, self._api = network, facts, answers, api
        self._rules: dict[str, Rules] = {}
        self._pages: dict[tuple[object, ...], tuple[int, Page]] = {}
        """What pods say at the present moment: scripts ask for the same again and again."""
        self._pages_ms = network.unix_ms

    def send(self, pod: Document, target: Target, choose: Callable[[str, int], int], asked: Asked = PLAIN) -> Came:
        """Return what comes of a request of a pod, whether it runs still or not. `choose`: (what for, below) → draw."""
        if target.host == "localhost" or target.host.startswith("127."):
            here = self._network.pods.get(pod["metadata"]["namespace"], pod["metadata"]["name"])
            return self._came(self._exchange.within(here or pod, target.port), target)
        return self._sent(source_of(pod), target, choose, asked)

    def look_up(self, pod: Document, host: str) -> Meant | None:
        """Return what a name means to a pod; None: there is no such name."""
        found = self._exchange.look_up(source_of(pod), host)
        return None if found is None else Meant(found[0], found[1].addresses, found[1].alias)

    def send_for_client(self, target: Target) -> Came:
        """Return what comes of a request that the API server sends to an address for somebody."""
        return self._sent(API_SERVER, target, lambda purpose, below: 0, PLAIN)

    def send_within(self, namespace: str, name: str, uid: str, target: Target) -> Came | None:
        """Return what comes of a request to a port of a pod from inside of it; None: the pod is not there any more.

        No name, Service or NetworkPolicy is on its way.
        """
        pod = self._network.pods.get(namespace, name)
        if pod is None or pod["metadata"]["uid"] != uid or has_ended(pod):
            return None
        return self._came(self._exchange.within(pod, target.port), target)

    @property
    def _exchange(self) -> Exchange:
        return Exchange(self._network, self._rules_of)

    def _sent(self, source: Source, target: Target, choose: Callable[[str, int], int], asked: Asked) -> Came:
        record = self._exchange.send(source, target, choose)
        if record.result == "ok" and not record.pod:
            return self._api(target, asked)._replace(address=record.address)
        return self._came(record, target)

    def _came(self, record: Record, target: Target) -> Came:
        code, page = record.code, Page("")
        if record.result in ("ok", "error"):
            code, page = self._page(record, target)
            if code < 0:
                message = f"nothing of {record.pod} listens on port {target.port}: its settings say so"
                return Came("refused", 0, "NotListening", record.address, message=message)
        told = Came(record.result, code, record.reason, record.address, page.body, page.type, page.server)
        return told._replace(message=record.message)

    def _rules_of(self, node: str) -> Rules:
        network = self._network
        changed, network.changed = network.changed, {}
        for rules in self._rules.values() if changed else ():
            rules.apply({key: network.ports(key) for key in changed})
        known = self._rules.get(node)
        if known is None or known.zone != network.zone(node):
            known = self._rules[node] = rules_now(network, node)
        return known

    def _page(self, record: Record, target: Target) -> tuple[int, Page]:
        """Return (HTTP status, what the pod that answered says)."""
        if record.result == "error":
            return record.code, Page(f"{record.message}\n")
        namespace, _, name = record.pod.partition("/")
        pod = self._network.pods.get(namespace, name)
        if pod is None:
            return record.code, Page("")
        if self._network.unix_ms != self._pages_ms:
            self._pages_ms = self._network.unix_ms
            self._pages.clear()
        place = (record.code, record.pod, pod["metadata"]["resourceVersion"], record.endpoint, record.client, target)
        if place not in self._pages:
            self._pages[place] = self._page_of(pod, record, target)
        return self._pages[place]

    def _page_of(self, pod: Document, record: Record, target: Target) -> tuple[int, Page]:
        port = int(record.endpoint.rpartition(":")[2] or target.port)
        container, path = listener(pod, port) or pod["spec"]["containers"][0], target.path.partition("?")[0]
        request = Request(port, target.host, path, record.client)
        own = served(pod, container, request, self._facts, self.answers, self._network.unix_ms)
        if own is not None:
            return own.code, replace(own.page, body=own.page.body[:BODY_LENGTH_MAX])
        page = self.answers.of_page(str(container.get("image", "")), path)
        address = str((pod.get("status") or {}).get("podIP") or "")
        namespace, _, name = record.pod.partition("/")
        names = {"pod": name, "namespace": namespace, "node": record.node, "ip": address, "client": record.client}
        body = filled(page.body, {**names, "path": target.path, "host": target.host})[:BODY_LENGTH_MAX]
        return record.code, replace(page, body=body)
