"""The API server as a pod of the session asks it: `curl --cacert … -H "Authorization: Bearer $(cat …/token)" https://kubernetes.default.svc/api`.

The token in a pod's own volume is simulated: within the pod it stands for the pod's account, and elsewhere for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from clustersim.apiserver.messages import Request, Response, parse_query, parse_values
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom.accounttokens import ISSUER, claims_for, signer
from controllers.kinds.clustersim.target import Target
from controllers.kinds.core.serviceaccount import KIND as ACCOUNT_KIND
from controllers.kubelet.shell.inside import TOKEN
from controllers.kubelet.shell.running import Asked, Came
from scheduler_core.api.document import Document

SECONDS: Final = 60
"""How long a token is good that stands in for the simulated one: for one request."""

BODY_LENGTH_MAX: Final = 256 * 1024
"""Characters of an answer; the rest is cut."""

SENT_LENGTH_MAX: Final = 64 * 1024
"""Characters of a body that is sent; longer ones are refused."""

EXEC_REQUESTS_MAX: Final = 1_000
"""Requests to the API server that one command sends; further ones are answered with 429."""

LOG_REQUESTS_MAX: Final = 50
"""The same of a log, which is played anew for each reader."""

TOO_MANY: Final = "clustersim: a simulated command sends no more requests to the API server than that\n"

NOT_AGAIN: Final = (
    "clustersim: a log is played anew for each reader, so what its script writes to the API server is not written\n"
)
TOO_LONG: Final = f"clustersim: at most {SENT_LENGTH_MAX:,} characters are sent\n"

_READS: Final = ("GET", "HEAD")
_METHODS: Final = (*_READS, "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PASSED: Final = frozenset({"accept", "authorization", "content-type", "user-agent"})
_AGENT: Final = "curl/8.10.1"

Answered = Callable[[Request], Response]
"""Answers a request whole: a refusal too, and a stream with the word that none is read here."""


class Within:
    """Answers for the API server to one pod's commands."""

    def __init__(
        self, view: ReadView, pod: Document, code: str, answered: Answered, *, owns: bool, writes: bool
    ) -> None:
        """Ask nothing yet.

        Args:
            view: the session's objects.
            pod: who asks.
            code: the session's.
            answered: the API's own way to an answer.
            owns: whether the simulated token is taken for that of the pod's account.
            writes: whether more than reading is passed on.
        """
        self._view, self._pod, self._code, self._answered = view, pod, code, answered
        self._owns, self._writes = owns, writes
        self._left = EXEC_REQUESTS_MAX if writes else LOG_REQUESTS_MAX

    def __call__(self, target: Target, asked: Asked) -> Came:
        """Return what the API server answers."""
        if asked.method not in _METHODS:
            return Came("ok", 405, body="405 method not allowed\n")
        if asked.method not in _READS and not self._writes:
            return Came("ok", 501, body=NOT_AGAIN)
        if len(asked.body) > SENT_LENGTH_MAX:
            return Came("ok", 413, body=TOO_LONG)
        self._left -= 1
        if self._left < 0:
            return Came("ok", 429, body=TOO_MANY)
        path, _, question = target.path.partition("?")
        passed = {name: text for name, text in asked.headers if name in _PASSED}
        headers = {"host": f"{target.host}:{target.port}", "user-agent": _AGENT, **passed}
        if self._owns and headers.get("authorization") == f"Bearer {TOKEN}":
            headers["authorization"] = f"Bearer {self._signed()}"
        values, body = parse_values(question), asked.body.encode()
        request = Request(
            asked.method, self._code, path, parse_query(question), headers, body, values=values, question=question
        )
        answer = self._answered(request)
        text = "" if asked.method == "HEAD" else answer.body.decode(errors="replace")[:BODY_LENGTH_MAX]
        return Came("ok", answer.status, body=text, type=answer.content_type)

    def _signed(self) -> str:
        """Return a token of the pod's account that is bound to the pod."""
        metadata = self._pod["metadata"]
        namespace, name = metadata["namespace"], str(self._pod["spec"].get("serviceAccountName") or "default")
        account = self._view.get(ACCOUNT_KIND.resource, namespace, name)
        if account is None:
            return TOKEN
        now = session_unix_ms(self._view.store) // 1000
        said = {
            "namespace": namespace,
            "pod": {"name": metadata["name"], "uid": metadata["uid"]},
            "serviceaccount": {"name": name, "uid": account.uid},
        }
        claims = claims_for(said, (ISSUER,), now, SECONDS)
        return signer(self._view.session_id)(claims)
