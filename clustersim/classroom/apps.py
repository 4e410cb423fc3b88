"""The app that holds the tables of people."""

from django.apps import AppConfig


class ClassroomConfig(AppConfig):
    """Participants, their tokens and links."""

    name = "clustersim.classroom"
    label = "classroom"
