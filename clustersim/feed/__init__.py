"""One feed a process and session: it tails the log and encodes each event once, for websockets and HTTP watches."""

from clustersim.feed.hints import wake

__all__ = ["wake"]
