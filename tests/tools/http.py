"""An HTTP client for tests against a started installation on a machine that may be busy."""

from __future__ import annotations

from typing import Any

import httpx

from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for

UNOBEYED = "did not obey"


class PatientClient(httpx.Client):
    """Asks again where the session's owner had no time to obey within the contract's 5 s: nothing was changed then."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url=base_url, timeout=PATIENCE_SECONDS)

    def request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Response:
        answers: list[httpx.Response] = []

        def obeyed() -> bool:
            answers.append(super(PatientClient, self).request(method, url, **options))
            return not (answers[-1].status_code == 503 and UNOBEYED in answers[-1].text)

        wait_for(obeyed, what=f"{method} {url} obeyed")
        return answers[-1]
