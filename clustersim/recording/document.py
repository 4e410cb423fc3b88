"""One HTML file of a recorded session: packed, with a policy that lets nothing in and nothing out."""

from __future__ import annotations

import base64
import gzip
import hashlib
from typing import Any, Final

import msgspec
from django.template.loader import render_to_string

from clustersim.recording.bundle import bundle

DOCUMENT_BYTES_MAX: Final = 3_000_000
"""Bytes of the file; a session with more to tell begins later."""

_POLICY: Final = (
    "default-src 'none'; script-src 'sha256-{digest}' blob:; style-src blob: 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
"""Charts write style elements of their own; every script but the first comes out of the file itself."""


def document(recorded: dict[str, Any], *, title: str, start: dict[str, str], words: dict[str, str]) -> bytes:
    """Return the file.

    Args:
        recorded: `Recorded` of static/js/recording/recording.js, as msgspec can encode it.
        title: of the session, as somebody typed it.
        start: what the page begins with: code, title, lang, release.
        words: the page's sentences that stand in the file itself.
    """
    parts = bundle()
    body = {"modules": parts.modules, "styles": parts.styles, "recorded": recorded}
    # No time in the header: the same session gives the same file.
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(body), compresslevel=9, mtime=0)).decode()
    digest = base64.b64encode(hashlib.sha256(parts.boot.encode()).digest()).decode()
    context = {
        "title": title,
        "start": start,
        "t": words,
        "packed": packed,
        "boot": parts.boot,
        "policy": _POLICY.format(digest=digest),
        "html_lang": "zh-Hans" if start["lang"] == "zh-hans" else "en",
    }
    return render_to_string("recording.html", context).encode()
