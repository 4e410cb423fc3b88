import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("classroom", "0005_lectern")]

    operations = [
        migrations.CreateModel(
            name="Copy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.BigIntegerField(help_text="of the moment that it goes on from")),
                ("made_ms", models.BigIntegerField(help_text="Unix milliseconds")),
                ("earlier", models.BooleanField(default=False, help_text="the seat has a newer one")),
                ("problem", models.CharField(blank=True, default="", max_length=300)),
                (
                    "fork",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="store.session",
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="classroom.participant"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.session"
                    ),
                ),
            ],
        ),
    ]
