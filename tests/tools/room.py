"""An open session with its control plane in this process, asked as its API server is asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response, error_response, parse_query, parse_values
from clustersim.apiserver.negotiation import formed
from clustersim.classroom.keys import keys_of
from clustersim.classroom.opening import open_session
from clustersim.classroom.writing import write
from clustersim.store import open_store, sessions
from controllers.cluster import Cluster
from controllers.log.operations import Patch
from scheduler_core.api.errors import ApiError

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Room:
    """An open session with its control plane, asked in this process."""

    def __init__(self, template: str = "three-nodes") -> None:
        opened = open_session("t", template, 5, "Teacher")
        self.session, self.code, self.teacher = opened.session, opened.session.code, opened.token
        epoch = sessions.claim(self.session.id, "w", epoch=self.session.epoch)
        self.store = open_store(self.session.id, owner=True)
        self.cluster = Cluster(self.store, fence=epoch, keys=keys_of(self.session.id))
        self.cluster.start()

    def run(self, seconds: float) -> None:
        self.cluster.pull()
        self.cluster.advance(self.cluster.now_ms + round(seconds * 1000))

    def answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        token: str = "",
        query: Mapping[str, str | Sequence[str]] | None = None,
        **headers: str,
    ) -> Response:
        data = b"" if body is None else json.dumps(body).encode()
        return self.sent(method, path, data, token, query, **headers)

    def sent(
        self,
        method: str,
        path: str,
        body: bytes,
        token: str = "",
        query: Mapping[str, str | Sequence[str]] | None = None,
        **headers: str,
    ) -> Response:
        """Answer what is sent as it stands."""
        told = {"authorization": f"Bearer {token or self.teacher}", "content-type": "application/json", **headers}
        text = urlencode(query or {}, doseq=True)
        values = parse_values(text)
        request = Request(method, self.code, path, parse_query(text), told, body, values=values, question=text)
        try:
            answer = handle(request)
        except ApiError as error:
            answer = formed(request, error_response(error))
        assert isinstance(answer, Response)
        return answer

    def ask(self, method: str, path: str, body: Any = None, token: str = "", **query: str) -> tuple[int, Any]:
        answer = self.answer(method, path, body, token, query)
        text = answer.body.decode()
        return answer.status, json.loads(text) if text[:1] in "{[" else text

    def table(self, path: str) -> Any:
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        return json.loads(self.answer("GET", path, accept=accept).body)

    def fault(self, identity: str, kind: str) -> None:
        """Bring a fault on a replica, as the session API's route does."""
        fault = {"id": 1, "kind": kind}
        write(self.store, [Patch("replicas.clustersim.io", "", identity, {"spec": {"fault": fault}})], commands=True)
        self.cluster.pull()
        self.cluster.obey(1_800_000_000_000)

    def made(self, path: str, body: Any) -> Any:
        status, document = self.ask("POST", path, body)
        assert status == 201, document
        return document

    def account(self, name: str) -> Any:
        return self.made(ACCOUNTS, {"metadata": {"name": name}})

    def token(self, name: str, **spec: Any) -> str:
        return str(self.made(f"{ACCOUNTS}/{name}/token", {"spec": spec})["status"]["token"])

    def review(self, token: str, *audiences: str) -> Any:
        return self.made(REVIEWS, {"spec": {"token": token, "audiences": list(audiences)}})["status"]

    def bind(self, account: str, role: str, namespace: str = "default") -> None:
        binding = {
            "metadata": {"name": f"{account}-{role}"},
            "roleRef": {"kind": "Role", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}],
        }
        self.made(f"{RBAC}/namespaces/{namespace}/rolebindings", binding)
