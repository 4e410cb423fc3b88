"""Routes of the Django part: health first, the session API, then the pages."""

from django.urls import include, path

from clustersim.runtime import health

handler404 = "clustersim.pages.views.unknown_page"
handler500 = "clustersim.pages.views.broken_page"

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("api/", include("clustersim.sessionapi.urls")),
    path("", include("clustersim.pages.urls")),
]
