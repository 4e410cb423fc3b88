"""Routes below /api/."""

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path

from clustersim.classroom.clusters import CLUSTER_BYTES_MAX
from clustersim.sessionapi import (
    bookmarks,
    clients,
    clock,
    compare,
    controllers,
    engine,
    etcd,
    exports,
    expressions,
    flags,
    imports,
    inside,
    looks,
    model,
    opening,
    past,
    people,
    probes,
    refusing,
    requests,
    scheduler,
    timeline,
    waiting,
    whatif,
)
from clustersim.sessionapi.http import refusal, route
from clustersim.sessionapi.imports import IMPORT_BYTES_MAX, REPLAY_BYTES_MAX
from clustersim.sessionapi.opening import OPENING_BYTES_MAX
from scheduler_core.api.errors import ApiError


def _nowhere(request: HttpRequest) -> HttpResponse:
    return refusal(ApiError(404, "NotFound", f"there is no route {request.path[:200]!r}; see docs/session-api.md"))


urlpatterns = [
    path("sessions", route(POST=opening.create, body_bytes_max=OPENING_BYTES_MAX)),
    path("clusters", route(POST=opening.create_of_cluster, body_bytes_max=CLUSTER_BYTES_MAX)),
    path("sessions/<str:code>", route(GET=opening.info)),
    path("sessions/<str:code>/join", route(POST=opening.join)),
    path("sessions/<str:code>/door", route(GET=opening.door, PUT=opening.set_door)),
    path("sessions/<str:code>/enter", route(POST=opening.enter)),
    path("sessions/<str:code>/rotate", route(POST=opening.rotate)),
    path("sessions/<str:code>/leave", route(POST=opening.leave)),
    path("sessions/<str:code>/qr.svg", route(GET=opening.qr)),
    path("sessions/<str:code>/kubeconfig", route(GET=opening.kubeconfig)),
    path("sessions/<str:code>/people", route(GET=people.everybody, POST=people.add)),
    path("sessions/<str:code>/people/<str:person>", route(PATCH=people.rename, DELETE=people.remove)),
    path("sessions/<str:code>/looks", route(GET=looks.show, PUT=looks.switch)),
    path("sessions/<str:code>/point", route(POST=looks.point)),
    path("sessions/<str:code>/clock", route(GET=clock.show, PATCH=clock.change)),
    path("sessions/<str:code>/clock/step", route(POST=clock.step)),
    path("sessions/<str:code>/decisions", route(GET=engine.decisions)),
    path("sessions/<str:code>/decisions/<str:decision>", route(GET=engine.decision)),
    path("sessions/<str:code>/decisions/<str:decision>/whatif", route(POST=whatif.what_if)),
    path("sessions/<str:code>/decisions/<str:decision>/fits", route(GET=whatif.what_fits)),
    path("sessions/<str:code>/decisions/<str:decision>/refusals", route(GET=refusing.what_refuses)),
    path("sessions/<str:code>/whatif", route(POST=whatif.what_if_last)),
    path("sessions/<str:code>/compare", route(POST=compare.compare_two)),
    path("sessions/<str:code>/model", route(GET=model.show)),
    path("sessions/<str:code>/model/optimum", route(GET=model.optimum)),
    path("sessions/<str:code>/replicas", route(GET=engine.replicas)),
    path("sessions/<str:code>/proxies", route(GET=inside.proxies)),
    path("sessions/<str:code>/components", route(GET=inside.components)),
    path("sessions/<str:code>/watches", route(GET=inside.watches)),
    path("sessions/<str:code>/replicas/<str:identity>", route(GET=inside.replica)),
    path("sessions/<str:code>/replicas/<str:identity>/fault", route(POST=engine.fault)),
    path("sessions/<str:code>/replicas/<str:identity>/metrics", route(GET=engine.metrics)),
    path("sessions/<str:code>/replicas/<str:identity>/<path:path>", route(GET=inside.endpoint)),
    path("sessions/<str:code>/scheduler", route(GET=scheduler.show, PUT=scheduler.change)),
    path("sessions/<str:code>/store", route(GET=etcd.show)),
    path("sessions/<str:code>/requests", route(GET=requests.show)),
    path("sessions/<str:code>/requests/<str:number>", route(GET=requests.one)),
    path("sessions/<str:code>/controllers", route(GET=controllers.show)),
    path("sessions/<str:code>/controllers/<str:name>", route(GET=controllers.one)),
    path("sessions/<str:code>/clients", route(GET=clients.show, POST=clients.create)),
    path("sessions/<str:code>/clients/<str:name>", route(GET=clients.one, DELETE=clients.remove)),
    path("sessions/<str:code>/flags", route(GET=flags.show, PUT=flags.change)),
    path("sessions/<str:code>/waiting/<str:uid>", route(POST=waiting.judge)),
    path("sessions/<str:code>/probes/<str:namespace>/<str:name>", route(GET=probes.show, PUT=probes.change)),
    path("sessions/<str:code>/expressions", route(POST=expressions.try_it)),
    path("sessions/<str:code>/import", route(POST=imports.apply_file, body_bytes_max=IMPORT_BYTES_MAX)),
    path("sessions/<str:code>/at/<str:revision>/<path:resource>", route(GET=past.show)),
    path("sessions/<str:code>/changes/<str:there>/<str:here>", route(GET=timeline.changes)),
    path("sessions/<str:code>/timeline", route(GET=timeline.show)),
    path("sessions/<str:code>/timeline/counts", route(GET=timeline.counts)),
    path(
        "sessions/<str:code>/bookmarks",
        route(GET=bookmarks.show, POST=bookmarks.create, DELETE=bookmarks.remove),
    ),
    path("sessions/<str:code>/fork", route(POST=opening.fork)),
    path("sessions/<str:code>/export", route(GET=exports.export)),
    path("sessions/<str:code>/replays", route(POST=imports.replay, body_bytes_max=REPLAY_BYTES_MAX)),
    re_path(r"^.*$", _nowhere),
]
