from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("classroom", "0008_wall")]

    operations = [
        migrations.AddField(
            model_name="copy",
            name="handed",
            field=models.BooleanField(default=False, help_text="its seat did not take it: it is told of it"),
        ),
    ]
