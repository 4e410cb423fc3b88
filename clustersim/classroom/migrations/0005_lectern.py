import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("classroom", "0004_polls")]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="muted",
            field=models.BooleanField(default=False, help_text="what they write is refused"),
        ),
        migrations.CreateModel(
            name="Lectern",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("view", models.JSONField(default=None, help_text="what is presented; null: nothing", null=True)),
                ("by", models.BigIntegerField(default=0, help_text="the presenter's seat")),
                ("at_ms", models.BigIntegerField(default=0, help_text="Unix milliseconds of the newest view")),
                ("frozen", models.BooleanField(default=False, help_text="what students write is refused")),
                ("names", models.BooleanField(default=False, help_text="viewers' screens tell names")),
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.session"
                    ),
                ),
            ],
        ),
    ]
