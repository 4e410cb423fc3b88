from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("classroom", "0007_homework")]

    operations = [
        migrations.AddField(
            model_name="copy",
            name="until",
            field=models.CharField(blank=True, default="", help_text="predicate by which it is done", max_length=400),
        ),
        migrations.AddField(
            model_name="copy",
            name="done_ms",
            field=models.BigIntegerField(default=0, help_text="Unix milliseconds at which that was seen to hold first"),
        ),
        migrations.AddField(
            model_name="copy",
            name="wall",
            field=models.BooleanField(default=False, help_text="of nobody by name: the whole class goes in"),
        ),
    ]
