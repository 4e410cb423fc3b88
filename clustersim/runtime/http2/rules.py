"""What HTTP/2 allows, kept by the library `h2`, with this server's settings."""

from __future__ import annotations

from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes

from clustersim.runtime.http2.heads import PlainEncoder

STREAMS_MAX: Final = 100
"""Requests that one HTTP/2 connection may have open, as kube-apiserver (`--http2-max-streams-per-connection`)."""

HEAD_BYTES_MAX: Final = 32 * 1024
"""Bytes of one HTTP/2 request's head, 32 more counted for each header: HTTP/1.1 takes 16 KiB of lines."""

WINDOW_BYTES: Final = 256 * 1024
"""Bytes of a request's body that an HTTP/2 client may send before it is told to go on, as kube-apiserver."""

CONNECTION_WINDOW_BYTES: Final = 4 * WINDOW_BYTES
"""The same for all requests of a connection together."""

CLOSED_STREAMS_MAX: Final = 1_000
"""Ended requests of one HTTP/2 connection of which it is remembered how they ended."""


class _Rules(H2Connection):
    MAX_CLOSED_STREAMS = CLOSED_STREAMS_MAX


def new_rules() -> H2Connection:
    """Return the state of a connection on which the server has said its settings, and nothing more."""
    # What is sent was put together here, and need not be looked at again.
    config = H2Configuration(
        client_side=False, header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
    )
    rules = _Rules(config)
    rules.local_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = STREAMS_MAX
    rules.local_settings[SettingCodes.MAX_HEADER_LIST_SIZE] = HEAD_BYTES_MAX
    rules.local_settings[SettingCodes.INITIAL_WINDOW_SIZE] = WINDOW_BYTES
    # They hold at once, not only when the client has acknowledged them.
    rules.local_settings.acknowledge()
    rules.decoder.max_header_list_size = HEAD_BYTES_MAX
    rules.encoder = PlainEncoder()
    rules.initiate_connection()
    rules.increment_flow_control_window(CONNECTION_WINDOW_BYTES - rules.inbound_flow_control_window)
    return rules
