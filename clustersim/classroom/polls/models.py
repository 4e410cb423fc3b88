"""The tables of polls: what is secret of them until they are revealed, and the votes, one a seat and round."""

from django.db import models


class Poll(models.Model):
    """What no log holds of a poll: its state as votes meet it, what is right by whom, and what was judged."""

    session = models.ForeignKey("store.Session", on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=63, help_text="of the object in the log")
    state = models.CharField(max_length=10, default="open")
    round = models.SmallIntegerField(default=1)
    opened_ms = models.BigIntegerField(help_text="Unix milliseconds at which the round began")
    ends_ms = models.BigIntegerField(null=True, help_text="Unix milliseconds at which it ends by itself")
    secret = models.JSONField(default=dict, help_text="what is right, and by which rule")
    hands = models.JSONField(default=dict, help_text="round → option → hands that were counted")
    answer = models.JSONField(null=True, help_text="what the engine said, once it is revealed")

    class Meta:  # noqa: D106
        app_label = "classroom"
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="one_row_a_poll")]

    def __str__(self) -> str:
        return f"{self.name} of {self.session_id}"


class Vote(models.Model):
    """One seat's vote in one round: the last one counts."""

    poll = models.ForeignKey(Poll, on_delete=models.CASCADE, related_name="votes")
    round = models.SmallIntegerField()
    participant = models.ForeignKey("classroom.Participant", on_delete=models.CASCADE, related_name="+")
    choice = models.JSONField(help_text="ids of options; of victims there may be several")
    because = models.CharField(max_length=40, default="", blank=True)
    seconds = models.FloatField(help_text="since the round began")

    class Meta:  # noqa: D106
        app_label = "classroom"
        constraints = [
            models.UniqueConstraint(fields=["poll", "round", "participant"], name="one_vote_a_seat_and_round")
        ]

    def __str__(self) -> str:
        return f"vote of {self.participant_id} in {self.poll_id}"
