"""Priority and fairness: which FlowSchema a request falls under is told in its answer; nothing waits for it.

Sources: k8s.io/apiserver's `util/flowcontrol` (rule.go, apf_controller.go) and its filter, v1.34.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from clustersim.apiserver import processtelling
from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import PageNotFound, Target
from clustersim.apiserver.virtual import ReadView
from clustersim.store import open_store
from controllers.admission.namespacelifecycle import NAMESPACES
from controllers.kinds.flowcontrol.bootstrap import LAST, LEVELS, SCHEMAS
from controllers.kinds.flowcontrol.matching import Asked, level_of, place_of, schema_of, seats_of
from controllers.kinds.table import kind_of
from scheduler_core.api.document import at

REMEMBER_SECONDS: Final = 1.0
"""How long a session's schemas are believed without asking the database: every request is told its own."""

REMEMBERED_MAX: Final = 1_000
"""Sessions whose schemas are remembered at once."""

Flow = tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]
"""The schemas in the order in which they are looked at; each level's uid."""

_lock: Final = threading.Lock()
_known: Final[dict[int, tuple[float, Flow]]] = {}


def forget(session_id: int) -> None:
    """Ask the database again for a session's schemas."""
    with _lock:
        _known.pop(session_id, None)


def headers(
    session_id: int, user: Mapping[str, Any], path: str, verb: str, target: Target | None
) -> list[tuple[str, str]]:
    """Return what an answer tells of the schema and the level of its request."""
    schemas, levels = _flow(session_id)
    asked = Asked(verb, path)
    if target is not None:
        resource = f"{target.kind.plural}/{target.subresource}" if target.subresource else target.kind.plural
        asked = Asked(verb, path, target.kind.group, resource, target.namespace or "")
    found = schema_of(schemas, user, asked)
    level = levels.get(level_of(found), levels[LAST])
    return [("x-kubernetes-pf-flowschema-uid", found["metadata"]["uid"]), ("x-kubernetes-pf-prioritylevel-uid", level)]


def metrics(session_id: int, *, forget: bool = False) -> Response:
    """Answer `/metrics`: how many of the server's seats each level has (apf_controller.go, updateLocked).

    `forget`: what counts is to begin anew; none of this does.
    """
    if forget:
        return Response(200, b"metrics reset\n", processtelling.TEXT)
    seats = seats_of(one.object for one in _view(session_id).list(LEVELS)[0])
    name = "apiserver_flowcontrol_nominal_limit_seats"
    lines = [
        f"# HELP {name} [BETA] Nominal number of execution seats configured for each priority level",
        f"# TYPE {name} gauge",
        *(f'{name}{{priority_level="{level}"}} {count}' for level, count in seats.items()),
    ]
    return Response(200, "".join(f"{line}\n" for line in lines).encode(), processtelling.METRICS)


DUMPS: Final = "/debug/api_priority_and_fairness/"

_LEVEL_COLUMNS: Final = (
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    *(f"{what}Requests" for what in ("Waiting", "Executing", "Dispatched", "Rejected", "Timedout", "Cancelled")),
)
_QUEUE_COLUMNS: Final = (
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
_REQUEST_COLUMNS: Final = (
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
)
_DETAIL_COLUMNS: Final = (
    "UserName",
    "Verb",
    "APIPath",
    kind_of(NAMESPACES).kind,
    "Name",
    "APIVersion",
    "Resource",
    "SubResource",
)

_NO_SEATS: Final = "0.00000000ss"
_WIDTH_MIN: Final = 8
"""Letters of the narrowest column, its comma and a space included."""


def dump(session_id: int, request: Request) -> Response:
    """Answer what levels and queues hold, which is nothing: no request waits (apf_controller_debug.go).

    Raises:
        ApiError: 404.
    """
    levels = {one.name: one.object for one in _view(session_id).list(LEVELS)[0]}
    match request.path.removeprefix(DUMPS):
        case "dump_priority_levels":
            rows = [[level, "0", "true", "false", *["0"] * 6] for level in sorted(levels)]
            return _tabbed([_LEVEL_COLUMNS, *rows])
        case "dump_queues":
            queues = {level: at(one, "spec", "limited", "limitResponse", "queuing") for level, one in levels.items()}
            rows = [
                [level, str(index), "0", "0", "0", _NO_SEATS, "0", "0", _NO_SEATS]
                for level, queuing in sorted(queues.items())
                for index in range((queuing or {}).get("queues") or 0)
            ]
            return _tabbed([_QUEUE_COLUMNS, *rows])
        case "dump_requests":
            more = _DETAIL_COLUMNS if request.query.get("includeRequestDetails") else ()
            return _tabbed([[*_REQUEST_COLUMNS, *more]])
        case _:
            raise PageNotFound


def _tabbed(rows: Sequence[Sequence[str]]) -> Response:
    """Return rows as Go's text/tabwriter sets them: all cells but the last padded to their column."""
    cells = [[f"{cell}," for cell in row[:-1]] for row in rows]
    widths = [max(_WIDTH_MIN, *(len(cell) + 1 for cell in column)) for column in zip(*cells, strict=True)]
    lines = (
        "".join(cell.ljust(width) for cell, width in zip(one, widths, strict=True)) + row[-1] + "\n"
        for one, row in zip(cells, rows, strict=True)
    )
    return Response(200, "".join(lines).encode(), processtelling.TEXT)


def _flow(session_id: int) -> Flow:
    now = time.monotonic()
    with _lock:
        known = _known.get(session_id)
    if known is not None and known[0] > now:
        return known[1]
    view = _view(session_id)
    levels = {one.name: one.uid for one in view.list(LEVELS)[0]}
    schemas = (one.object for one in view.list(SCHEMAS)[0])
    # One whose level is missing counts for nothing; the last one, whatever somebody made of it, takes what is left.
    counted = (one for one in schemas if level_of(one) in levels or one["metadata"]["name"] == LAST)
    flow: Flow = (sorted(counted, key=place_of), levels)
    with _lock:
        if len(_known) >= REMEMBERED_MAX:
            _known.clear()
        _known[session_id] = (now + REMEMBER_SECONDS, flow)
    return flow


def _view(session_id: int) -> ReadView:
    return ReadView(open_store(session_id))
