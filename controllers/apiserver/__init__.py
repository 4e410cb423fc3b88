"""What a session's API servers keep themselves: the Service `kubernetes` and the addresses behind it."""

from controllers.apiserver.component import ApiServers

__all__ = ["ApiServers"]
