"""An HTTP client for tests against a started installation on a machine that may be busy."""

from __future__ import annotations

from typing import Any

import httpx

from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for

UNOBEYED = ("did not obey", "the session's owner did not answer")


class PatientClient(httpx.Client):
    """Asks again where the session's owner had no time to obey, or to answer, in the contract's seconds."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url=base_url, timeout=PATIENCE_SECONDS)

    def request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Response:
        answers: list[httpx.Response] = []

        def obeyed() -> bool:
            answers.append(super(PatientClient, self).request(method, url, **options))
            return not (answers[-1].status_code == 503 and any(told in answers[-1].text for told in UNOBEYED))

        wait_for(obeyed, what=f"{method} {url} obeyed")
        return answers[-1]
