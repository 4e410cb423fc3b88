import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("classroom", "0002_door")]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="looks_at",
            field=models.CharField(blank=True, default="", help_text="resource and key", max_length=460),
        ),
        migrations.AlterField(
            model_name="participant",
            name="color",
            field=models.SmallIntegerField(
                help_text="number of the seat, from 1: its owner hue, then again with a ring"
            ),
        ),
        migrations.CreateModel(
            name="Together",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hidden", models.BooleanField(default=False, help_text="nobody is told at what others look")),
                ("pointed", models.JSONField(default=None, help_text="what was pointed at last", null=True)),
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.session"
                    ),
                ),
            ],
        ),
    ]
