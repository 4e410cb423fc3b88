"""The tables of homework: what was set, and each person's answers."""

from django.db import models


class Homework(models.Model):
    """Tasks that a teacher has set. The seed is secret: from it follows everybody's cluster."""

    session = models.ForeignKey("store.Session", on_delete=models.CASCADE, related_name="+")
    number = models.SmallIntegerField(help_text="from 1, in a session")
    title = models.CharField(max_length=120)
    rules = models.JSONField(help_text="ids of the rules that the tasks lead astray, a task each")
    seed = models.BigIntegerField()
    nodes = models.SmallIntegerField()
    pods = models.SmallIntegerField()
    people = models.JSONField(null=True, help_text="ids of the seats it is for; null: all students")
    set_ms = models.BigIntegerField(help_text="Unix milliseconds")

    class Meta:  # noqa: D106
        app_label = "classroom"
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="one_homework_a_number")]

    def __str__(self) -> str:
        return f"homework {self.number} of {self.session_id}"


class HomeworkAnswer(models.Model):
    """One person's answer to one task: the first, or the second after a wrong one."""

    homework = models.ForeignKey(Homework, on_delete=models.CASCADE, related_name="answers")
    participant = models.ForeignKey("classroom.Participant", on_delete=models.CASCADE, related_name="+")
    task = models.SmallIntegerField(help_text="from 0")
    round = models.SmallIntegerField(help_text="1 or 2")
    choice = models.JSONField(help_text="names of nodes, keys of pods, or none")
    right = models.BooleanField()
    believed = models.CharField(max_length=40, default="", blank=True, help_text="the rule that it follows")
    seconds = models.FloatField(help_text="since the person first saw the task")

    class Meta:  # noqa: D106
        app_label = "classroom"
        constraints = [
            models.UniqueConstraint(fields=["homework", "participant", "task", "round"], name="one_answer_a_round")
        ]

    def __str__(self) -> str:
        return f"answer of {self.participant_id} in {self.homework_id}"


class HomeworkSight(models.Model):
    """When a person first saw a task: time is counted from there."""

    homework = models.ForeignKey(Homework, on_delete=models.CASCADE, related_name="+")
    participant = models.ForeignKey("classroom.Participant", on_delete=models.CASCADE, related_name="+")
    task = models.SmallIntegerField()
    seen_ms = models.BigIntegerField(help_text="Unix milliseconds")

    class Meta:  # noqa: D106
        app_label = "classroom"
        constraints = [models.UniqueConstraint(fields=["homework", "participant", "task"], name="one_sight_a_task")]

    def __str__(self) -> str:
        return f"sight of {self.participant_id} in {self.homework_id}"
