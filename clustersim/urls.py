"""Routes of the Django part: health first, the session API, then the pages."""

from pathlib import Path

from django.urls import include, path

from clustersim.runtime import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
]
for prefix, module in (("api/", "clustersim.sessionapi.urls"), ("", "clustersim.pages.urls")):
    if (Path(__file__).parent.parent / (module.replace(".", "/") + ".py")).exists():
        urlpatterns.append(path(prefix, include(module)))
