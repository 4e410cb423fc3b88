"""Where websockets live."""

from django.urls import re_path

from clustersim.live.socket import session_socket

websocket_urlpatterns = [re_path(r"^ws/sessions/(?P<code>[^/]+)$", session_socket)]  # type: ignore[arg-type]
