"""The tables: sessions, their log, what is current, traces, and the workers that own sessions.

The hot path writes them with bulk SQL (`sql.py`); the ORM is for everything else. An object's document lies once, in
the log row that last wrote it: `Object` points there, so compaction never drops a row that is current
(docs/adr/0002-log-holds-the-documents.md).
"""

from django.db import models


class Session(models.Model):
    """One classroom cluster: its clockwork's counters and who owns it."""

    code = models.CharField(max_length=6, unique=True)
    title = models.CharField(max_length=120)
    template = models.CharField(max_length=40)
    seed = models.BigIntegerField()
    epoch_ms = models.BigIntegerField(help_text="Unix milliseconds of simulated time 0")
    revision = models.BigIntegerField(default=0)
    compacted = models.BigIntegerField(default=0)
    horizon_ms = models.BigIntegerField(default=0, help_text="simulated time committed by the owner or in the log")
    last_ms = models.BigIntegerField(default=0, help_text="simulated time of the log's last row")
    epoch = models.BigIntegerField(default=0, help_text="fencing epoch: goes up with every change of owner")
    owner = models.CharField(max_length=80, default="", blank=True)
    touched_ms = models.BigIntegerField(default=0, help_text="Unix milliseconds of the last request or open page")
    hibernated = models.BooleanField(default=False)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="forks")
    forked_at = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:  # noqa: D106
        indexes = [models.Index(fields=["hibernated", "owner"])]

    def __str__(self) -> str:
        return f"{self.code[:3]}-{self.code[3:]} {self.title}"


class Revision(models.Model):
    """One row of a session's log."""

    pk = models.CompositePrimaryKey("session", "revision")
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    revision = models.BigIntegerField()
    verb = models.SmallIntegerField(help_text="1 ADDED, 2 MODIFIED, 3 DELETED")
    resource = models.CharField(max_length=120)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=36)
    previous_revision = models.BigIntegerField(help_text="the row that held the object's state before; 0: none")
    now_ms = models.BigIntegerField(help_text="simulated milliseconds")
    written_ms = models.BigIntegerField(help_text="Unix milliseconds, for retention alone")
    read_revision = models.BigIntegerField(
        help_text="what the owner had read of the log when it wrote this; 0: a person"
    )
    actor = models.CharField(max_length=320)
    data = models.BinaryField()


class Object(models.Model):
    """What is current: the log row that holds it."""

    pk = models.CompositePrimaryKey("session", "resource", "namespace", "name")
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    resource = models.CharField(max_length=120)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    revision = models.BigIntegerField()


class Trace(models.Model):
    """A scheduling trace: the envelope is small and always kept, the blob holds the matrices."""

    pk = models.CompositePrimaryKey("session", "uid", "attempt")
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    uid = models.CharField(max_length=36)
    attempt = models.IntegerField()
    revision = models.BigIntegerField()
    envelope = models.BinaryField()
    data = models.BinaryField()

    class Meta:  # noqa: D106
        indexes = [models.Index(fields=["session", "revision"])]


class Hue(models.Model):
    """The number of a hue: what an owner, a priority or a plugin is drawn in, for everybody and for good."""

    pk = models.CompositePrimaryKey("session", "scope", "name")
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    scope = models.CharField(max_length=12, help_text="owner, priority, or the plugins of an era")
    name = models.CharField(max_length=330)
    number = models.IntegerField(help_text="0 is the first hue; past the last they repeat")


class Worker(models.Model):
    """A worker process's lease: the elector's record, on real time."""

    identity = models.CharField(max_length=80, primary_key=True)
    record = models.JSONField(help_text="the elector's record")
    version = models.BigIntegerField(default=1)
