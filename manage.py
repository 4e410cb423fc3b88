"""The one command: `manage.py up` starts everything; `manage.py help` lists the rest."""

import os
import sys

from clustersim.environment import BadEnvironment


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        sys.exit(f"Clustersim cannot start: {error}")


if __name__ == "__main__":
    main()
