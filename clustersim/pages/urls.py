"""Routes of the pages."""

from django.urls import path

from clustersim.pages import views

app_name = "pages"

urlpatterns = [
    path("", views.home, name="home"),
    path("join/", views.to_home),
    path("join/<str:code>", views.join, name="join"),
    path("j/<str:code>", views.join),
    path("s/<str:code>", views.session, name="session"),
    path("lessons/write", views.write, name="write"),
    path("language", views.language, name="language"),
]
