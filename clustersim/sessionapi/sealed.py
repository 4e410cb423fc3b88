"""How each route keeps to the seal of an open poll: one line a route, and one that has none is refused meanwhile.

`FREE` routes tell nothing that a poll could be about (or are the teacher's alone). `LATER` routes could tell it in too
many ways: who is sealed is answered 409 until the reveal, from the scene on where a lesson is about to ask. `CUT`
routes apply `Call.seal` themselves.
"""

from __future__ import annotations

from typing import Final

FREE, LATER, CUT = "free", "later", "cut"

ROUTES: Final[dict[str, str]] = {
    "sessions": FREE,
    "clusters": FREE,
    "lessons": FREE,
    "lessons/check": FREE,
    "sessions/<str:code>": FREE,
    "sessions/<str:code>/join": FREE,
    "sessions/<str:code>/door": FREE,
    "sessions/<str:code>/enter": FREE,
    "sessions/<str:code>/rotate": FREE,
    "sessions/<str:code>/leave": FREE,
    "sessions/<str:code>/qr.svg": FREE,
    "sessions/<str:code>/kubeconfig": FREE,
    "sessions/<str:code>/people": FREE,
    "sessions/<str:code>/people/<str:person>": FREE,
    "sessions/<str:code>/people/<str:person>/undo": FREE,
    "sessions/<str:code>/people/<str:person>/merge": FREE,
    "sessions/<str:code>/looks": FREE,
    "sessions/<str:code>/point": FREE,
    "sessions/<str:code>/presenting": FREE,
    "sessions/<str:code>/frozen": FREE,
    "sessions/<str:code>/wall": FREE,
    "sessions/<str:code>/check": FREE,
    "sessions/<str:code>/clock": FREE,
    "sessions/<str:code>/clock/step": FREE,
    "sessions/<str:code>/decisions": CUT,
    "sessions/<str:code>/decisions/<str:decision>": CUT,
    # Taken again with a small change, any decision could be that of the pod.
    "sessions/<str:code>/decisions/<str:decision>/whatif": LATER,
    "sessions/<str:code>/decisions/<str:decision>/fits": LATER,
    "sessions/<str:code>/decisions/<str:decision>/refusals": LATER,
    "sessions/<str:code>/decisions/<str:decision>/rules": LATER,
    "sessions/<str:code>/whatif": LATER,
    "sessions/<str:code>/whatif/weights": LATER,
    "sessions/<str:code>/compare": LATER,
    "sessions/<str:code>/model": LATER,
    "sessions/<str:code>/model/optimum": LATER,
    "sessions/<str:code>/expressions": LATER,
    "sessions/<str:code>/replicas": FREE,
    "sessions/<str:code>/proxies": FREE,
    "sessions/<str:code>/components": FREE,
    "sessions/<str:code>/watches": FREE,
    "sessions/<str:code>/replicas/<str:identity>": LATER,
    "sessions/<str:code>/replicas/<str:identity>/fault": FREE,
    "sessions/<str:code>/replicas/<str:identity>/metrics": LATER,
    "sessions/<str:code>/replicas/<str:identity>/<path:path>": LATER,
    "sessions/<str:code>/scheduler": FREE,
    "sessions/<str:code>/store": CUT,
    # Others than teachers see their own requests, and what those were answered they know.
    "sessions/<str:code>/requests": FREE,
    "sessions/<str:code>/requests/<str:number>": FREE,
    "sessions/<str:code>/reads": FREE,
    "sessions/<str:code>/controllers": LATER,
    "sessions/<str:code>/controllers/<str:name>": LATER,
    "sessions/<str:code>/clients": FREE,
    "sessions/<str:code>/clients/<str:name>": FREE,
    "sessions/<str:code>/flags": FREE,
    "sessions/<str:code>/waiting/<str:uid>": FREE,
    "sessions/<str:code>/probes/<str:namespace>/<str:name>": FREE,
    "sessions/<str:code>/import": FREE,
    "sessions/<str:code>/at/<str:revision>/<path:resource>": CUT,
    "sessions/<str:code>/changes/<str:there>/<str:here>": CUT,
    "sessions/<str:code>/before/<str:revision>": CUT,
    "sessions/<str:code>/timeline": CUT,
    "sessions/<str:code>/timeline/counts": CUT,
    "sessions/<str:code>/bookmarks": FREE,
    # Refused where forks are made, in words of its own.
    "sessions/<str:code>/fork": CUT,
    "sessions/<str:code>/export": LATER,
    "sessions/<str:code>/replays": FREE,
    "sessions/<str:code>/polls": FREE,
    "sessions/<str:code>/polls/<str:poll>": FREE,
    "sessions/<str:code>/polls/<str:poll>/votes": FREE,
    "sessions/<str:code>/polls/<str:poll>/hands": FREE,
    "sessions/<str:code>/polls/<str:poll>/close": FREE,
    "sessions/<str:code>/polls/<str:poll>/reopen": FREE,
    "sessions/<str:code>/polls/<str:poll>/reveal": FREE,
    "sessions/<str:code>/polls/<str:poll>/world": FREE,
    "sessions/<str:code>/polls/<str:poll>/rule": FREE,
    # What is right stands in them from the reveal on.
    "sessions/<str:code>/results": FREE,
    # A lesson says what is right from the reveal on, and leads its own polls.
    "sessions/<str:code>/lesson": FREE,
    "sessions/<str:code>/handout": FREE,
    # Handing copies out is the teacher's; a copy of what is sealed is refused where it is made.
    "sessions/<str:code>/copies": FREE,
    "sessions/<str:code>/copies/<str:copy>/wall": FREE,
    # What runs on in an earlier copy may be what is asked; on the wall hangs what the whole class looks at.
    "sessions/<str:code>/copies/<str:copy>/enter": CUT,
    "sessions/<str:code>/rules": FREE,
    # Searched for on clusters of its own making.
    "sessions/<str:code>/rules/<str:rule>/find": FREE,
    "sessions/<str:code>/rules/<str:rule>/play": FREE,
    "sessions/<str:code>/rules/<str:rule>/world": LATER,
    "sessions/<str:code>/homework": FREE,
    "sessions/<str:code>/homework/results": FREE,
    "sessions/<str:code>/homework/<str:homework>": FREE,
    "sessions/<str:code>/homework/<str:homework>/play": FREE,
    "sessions/<str:code>/homework/<str:homework>/answers": FREE,
    "sessions/<str:code>/byhand": FREE,
    "sessions/<str:code>/byhand/place": LATER,
    "sessions/<str:code>/byhand/result": LATER,
}


def way_of(pattern: str) -> str:
    """Return how a route keeps to a seal; a route that nobody has thought about is refused while there is one."""
    return ROUTES.get(pattern.removeprefix("api/"), LATER)
