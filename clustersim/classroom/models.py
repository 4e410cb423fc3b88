"""The tables of people: seats, the tokens that open them, and the links that hand tokens out. Secrets are hashes."""

from django.db import models

from clustersim.classroom.homework.models import Homework as Homework
from clustersim.classroom.homework.models import HomeworkAnswer as HomeworkAnswer
from clustersim.classroom.homework.models import HomeworkSight as HomeworkSight
from clustersim.classroom.polls.models import Poll as Poll
from clustersim.classroom.polls.models import Vote as Vote


class Participant(models.Model):
    """A seat in a session. It outlives sockets and browsers; `left` seats stay for the authorship of what they did."""

    session = models.ForeignKey("store.Session", on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)
    slug = models.CharField(max_length=30)
    role = models.CharField(max_length=12)
    namespace = models.CharField(max_length=63)
    color = models.SmallIntegerField(help_text="number of the seat, from 1: its owner hue, then again with a ring")
    left = models.BooleanField(default=False)
    online_until_ms = models.BigIntegerField(default=0, help_text="Unix milliseconds; renewed while a page is open")
    looks_at = models.CharField(max_length=460, default="", blank=True, help_text="resource and key")
    muted = models.BooleanField(default=False, help_text="what they write is refused")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:  # noqa: D106
        constraints = [models.UniqueConstraint(fields=["session", "slug"], name="one_slug_a_session")]

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"


class Door(models.Model):
    """Whether newcomers may take a seat; a session without a row is open."""

    session = models.OneToOneField("store.Session", on_delete=models.CASCADE, related_name="+")
    closed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"door of {self.session_id}"


class Together(models.Model):
    """What people of a session have in common beside the cluster; a session without a row tells looks."""

    session = models.OneToOneField("store.Session", on_delete=models.CASCADE, related_name="+")
    hidden = models.BooleanField(default=False, help_text="nobody is told at what others look")
    pointed = models.JSONField(null=True, default=None, help_text="what was pointed at last")

    def __str__(self) -> str:
        return f"togetherness of {self.session_id}"


class Lectern(models.Model):
    """What the teacher does to the class; a session without a row is free, and its walls tell no names."""

    session = models.OneToOneField("store.Session", on_delete=models.CASCADE, related_name="+")
    view = models.JSONField(null=True, default=None, help_text="what is presented; null: nothing")
    by = models.BigIntegerField(default=0, help_text="the presenter's seat")
    at_ms = models.BigIntegerField(default=0, help_text="Unix milliseconds of the newest view")
    frozen = models.BooleanField(default=False, help_text="what students write is refused")
    names = models.BooleanField(default=False, help_text="viewers' screens tell names")

    def __str__(self) -> str:
        return f"lectern of {self.session_id}"


class Copy(models.Model):
    """A fork that somebody's seat was handed, or took; of one that could not be made there is why."""

    session = models.ForeignKey("store.Session", on_delete=models.CASCADE, related_name="+")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="+")
    fork = models.OneToOneField("store.Session", null=True, on_delete=models.CASCADE, related_name="+")
    revision = models.BigIntegerField(help_text="of the moment that it goes on from")
    made_ms = models.BigIntegerField(help_text="Unix milliseconds")
    earlier = models.BooleanField(default=False, help_text="the seat has a newer one")
    problem = models.CharField(max_length=300, default="", blank=True)
    until = models.CharField(max_length=400, default="", blank=True, help_text="predicate by which it is done")
    done_ms = models.BigIntegerField(default=0, help_text="Unix milliseconds at which that was seen to hold first")
    wall = models.BooleanField(default=False, help_text="of nobody by name: the whole class goes in")
    handed = models.BooleanField(default=False, help_text="its seat did not take it: it is told of it")

    def __str__(self) -> str:
        return f"copy of {self.session_id} for {self.participant_id}"


class Token(models.Model):
    """What a request shows; one seat may have several, one a browser."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256, hex")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="tokens")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"token of {self.participant_id}"


class Link(models.Model):
    """The secret in the fragment of a link that signs its opener in to a seat, until it is rotated."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256, hex")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="links")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"link of {self.participant_id}"
