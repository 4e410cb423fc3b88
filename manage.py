"""The one command: `manage.py up` starts everything; `manage.py help` lists the rest."""

import os
import sys

from clustersim.environment import BadEnvironment


def main() -> None:
    # What this installation writes (sessions, tokens' digests, keys) is its owner's alone.
    os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        sys.exit(f"Clustersim cannot start: {error}")


if __name__ == "__main__":
    main()
