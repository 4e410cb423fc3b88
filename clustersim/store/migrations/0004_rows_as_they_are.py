from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_rows_as_they_are(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Have PostgreSQL keep rows of up to 8 KB as they are.

    It compresses rows from 2 KB on, as those of pods and traces are: a third of the time in which the session's row is
    locked while a hundred of them are written. SQLite does not compress either.
    """
    if schema_editor.connection.vendor == "postgresql":
        for table in ("store_revision", "store_trace"):
            schema_editor.execute(f"ALTER TABLE {table} SET (toast_tuple_target = 8160)")


def compress_rows(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Have PostgreSQL do as it does by itself."""
    if schema_editor.connection.vendor == "postgresql":
        for table in ("store_revision", "store_trace"):
            schema_editor.execute(f"ALTER TABLE {table} RESET (toast_tuple_target)")


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0003_hue"),
    ]

    operations = [
        migrations.RunPython(keep_rows_as_they_are, compress_rows),
    ]
