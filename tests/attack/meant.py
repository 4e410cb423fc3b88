"""Which answers of 500 and 503 are upstream's own: an attack looks for faults, not for these."""

from __future__ import annotations

import re

import httpx

CLASSED = ("without impersonating a user", "failed calling webhook", "failed to create RequestInfo")
"""What upstream answers with 500 and a reason: groups of nobody, a webhook that has to agree and does not answer, a
path that says how and not what."""

PROXY = re.compile(r"^/clusters/[^/]+/.*/services/[^/]+/proxy(/|$)")
NOWHERE = re.compile(r"no endpoints available for service|no service port \d+ found for service")


def is_upstreams_own(answer: httpx.Response) -> bool:
    """Return whether a 500 is an error that a real API server has no class for, too, or a 503 a proxy to nowhere.

    The former it tells without a reason: options of a deletion that are cut off or of another kind, a
    resourceVersion that is no number, an applied document of wrong types. A fault of ours says InternalError.
    """
    text = answer.text
    if answer.status_code == 503 and PROXY.search(answer.url.path):
        return answer.request.method == "HEAD" or NOWHERE.search(text) is not None
    if answer.status_code != 500:
        return False
    if any(words in text for words in CLASSED):
        return True
    if not answer.url.path.startswith("/clusters/"):
        return False
    if answer.request.method == "HEAD":
        # It has no body; a GET of the same would be found.
        return True
    # Also as YAML and protobuf, whose texts are searched.
    told = answer.json() if answer.headers.get("content-type", "") == "application/json" else None
    if told is None:
        return "Status" in text and "InternalError" not in text and "Traceback" not in text
    return bool(told.get("kind") == "Status" and told.get("message") and not told.get("reason"))
