"""One feed a process and session: it tails the log and encodes each event once, for websockets and HTTP watches."""

from clustersim.feed.hints import touch, wake, wake_owners

__all__ = ["touch", "wake", "wake_owners"]
