"""The session's own HTTP API (docs/session-api.md)."""
