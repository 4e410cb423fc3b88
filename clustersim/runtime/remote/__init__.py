"""A replica of a component in a process of its own: it takes part in a session's elections over the HTTP API."""
