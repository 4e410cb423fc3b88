"""Requests through the cluster as it is at one moment: of a container's own commands, of the API server for a client.

Unlike those of clients of a session they meet proxies that have heard of everything: nothing is kept to the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import Target
from controllers.kubelet.logs import filled
from controllers.kubelet.shell.running import Came
from controllers.kubelet.stages.answers import Answers, Page
from controllers.log.store import Stored
from controllers.proxy.exchange import API_SERVER, Exchange, Record, Source, rules_now, source_of
from controllers.proxy.network import Network
from controllers.proxy.rules import Rules
from controllers.proxy.serving import listener
from scheduler_core.api.document import Document, has_ended

BODY_LENGTH_MAX: Final = 16 * 1024
"""Characters of an answer; the rest is cut."""

FORBIDDEN: Final = (
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User '
    '\\"system:anonymous\\" cannot get path \\"/\\"","reason":"Forbidden","details":{},"code":403}\n'
)

Lists = Callable[[str], tuple[Sequence[Stored], int]]
"""Returns the objects of a resource, and the revision at which they were read."""


class Asking:
    """The network of one moment."""

    def __init__(self, lists: Lists, flags: InForce, answers: Answers, unix_ms: int) -> None:
        """Read all that requests meet."""
        network = self._network = Network(flags)
        network.unix_ms = unix_ms
        for resource, reflector in network.informers.reflectors.items():
            reflector.listed(*lists(resource), watches=False)
        self._answers = answers
        self._rules: dict[str, Rules] = {}

    def send(self, pod: Document, target: Target, choose: Callable[[str, int], int]) -> Came:
        """Return what comes of a request of a pod, whether it runs still or not. `choose`: (what for, below) → draw."""
        return self._sent(source_of(pod), target, choose)

    def send_for_client(self, target: Target) -> Came:
        """Return what comes of a request that the API server sends to an address for somebody."""
        return self._sent(API_SERVER, target, lambda purpose, below: 0)

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

    def _sent(self, source: Source, target: Target, choose: Callable[[str, int], int]) -> Came:
        record = self._exchange.send(source, target, choose)
        if record.result == "ok" and not record.pod:
            # The API server, to somebody whom it does not know.
            return Came("ok", 403, "", record.address, FORBIDDEN, "application/json")
        return self._came(record, target)

    def _came(self, record: Record, target: Target) -> Came:
        page = self._page(record, target) if record.result in ("ok", "error") else Page("")
        told = Came(record.result, record.code, record.reason, record.address, page.body, page.type, page.server)
        return told._replace(message=record.message)

    def _rules_of(self, node: str) -> Rules:
        known = self._rules.get(node)
        if known is None:
            known = self._rules[node] = rules_now(self._network, node)
        return known

    def _page(self, record: Record, target: Target) -> Page:
        """Return what the pod that answered says."""
        if record.result == "error":
            return Page(f"{record.message}\n")
        namespace, _, name = record.pod.partition("/")
        pod = self._network.pods.get(namespace, name) or {"metadata": {}, "spec": {"containers": [{}]}}
        port = int(record.endpoint.rpartition(":")[2] or target.port)
        container = listener(pod, port) or pod["spec"]["containers"][0]
        page = self._answers.of_page(str(container.get("image", "")), target.path.partition("?")[0])
        address = str((pod.get("status") or {}).get("podIP") or "")
        names = {"pod": name, "namespace": namespace, "node": record.node, "ip": address}
        body = filled(page.body, {**names, "path": target.path, "host": target.host})[:BODY_LENGTH_MAX]
        return replace(page, body=body)
