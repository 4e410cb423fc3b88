"""Websockets: one session's log to many pages (docs/protocol.md)."""
