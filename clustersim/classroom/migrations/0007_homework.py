import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("classroom", "0006_copy"),
        ("store", "0003_hue"),
    ]

    operations = [
        migrations.CreateModel(
            name="Homework",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.SmallIntegerField(help_text="from 1, in a session")),
                ("title", models.CharField(max_length=120)),
                ("rules", models.JSONField(help_text="ids of the rules that the tasks lead astray, a task each")),
                ("seed", models.BigIntegerField()),
                ("nodes", models.SmallIntegerField()),
                ("pods", models.SmallIntegerField()),
                ("people", models.JSONField(help_text="ids of the seats it is for; null: all students", null=True)),
                ("set_ms", models.BigIntegerField(help_text="Unix milliseconds")),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.session"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HomeworkAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task", models.SmallIntegerField(help_text="from 0")),
                ("round", models.SmallIntegerField(help_text="1 or 2")),
                ("choice", models.JSONField(help_text="names of nodes, keys of pods, or none")),
                ("right", models.BooleanField()),
                (
                    "believed",
                    models.CharField(blank=True, default="", help_text="the rule that it follows", max_length=40),
                ),
                ("seconds", models.FloatField(help_text="since the person first saw the task")),
                (
                    "homework",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="classroom.homework"
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="classroom.participant"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HomeworkSight",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task", models.SmallIntegerField()),
                ("seen_ms", models.BigIntegerField(help_text="Unix milliseconds")),
                (
                    "homework",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="classroom.homework"
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="classroom.participant"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="homework",
            constraint=models.UniqueConstraint(fields=("session", "number"), name="one_homework_a_number"),
        ),
        migrations.AddConstraint(
            model_name="homeworkanswer",
            constraint=models.UniqueConstraint(
                fields=("homework", "participant", "task", "round"), name="one_answer_a_round"
            ),
        ),
        migrations.AddConstraint(
            model_name="homeworksight",
            constraint=models.UniqueConstraint(fields=("homework", "participant", "task"), name="one_sight_a_task"),
        ),
    ]
