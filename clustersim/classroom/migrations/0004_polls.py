import django.db.models.deletion
from django.db import migrations, models

KEY = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("classroom", "0003_together")]

    operations = [
        migrations.CreateModel(
            name="Poll",
            fields=[
                ("id", KEY),
                ("name", models.CharField(help_text="of the object in the log", max_length=63)),
                ("state", models.CharField(default="open", max_length=10)),
                ("round", models.SmallIntegerField(default=1)),
                ("opened_ms", models.BigIntegerField(help_text="Unix milliseconds at which the round began")),
                (
                    "ends_ms",
                    models.BigIntegerField(help_text="Unix milliseconds at which it ends by itself", null=True),
                ),
                ("secret", models.JSONField(default=dict, help_text="what is right, and by which rule")),
                ("hands", models.JSONField(default=dict, help_text="round → option → hands that were counted")),
                ("answer", models.JSONField(help_text="what the engine said, once it is revealed", null=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.session"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "name"), name="one_row_a_poll")],
            },
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                ("id", KEY.clone()),
                ("round", models.SmallIntegerField()),
                ("choice", models.JSONField(help_text="ids of options; of victims there may be several")),
                ("because", models.CharField(blank=True, default="", max_length=40)),
                ("seconds", models.FloatField(help_text="since the round began")),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="classroom.participant"
                    ),
                ),
                (
                    "poll",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="classroom.poll"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("poll", "round", "participant"), name="one_vote_a_seat_and_round")
                ],
            },
        ),
    ]
