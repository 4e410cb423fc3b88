"""The one command: `manage.py up` starts everything; `manage.py help` lists the rest."""

import os
import sys

from clustersim.environment import BadEnvironment
from scheduler_core.kernels.collecting import collect_rarely


def main() -> None:
    # What this installation writes (sessions, tokens' digests, keys) is its owner's alone.
    os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    # Modules are half a million objects that stay: looking through them again and again was a tenth of a start.
    collect_rarely()
    from django.core.management import execute_from_command_line

    try:
        # Commands are modules, whose names have no dashes; people write `check-store`.
        name = [word.replace("-", "_") if word[:1] != "-" else word for word in sys.argv[1:2]]
        execute_from_command_line([*sys.argv[:1], *name, *sys.argv[2:]])
    except BadEnvironment as error:
        sys.exit(f"Clustersim cannot start: {error}")


if __name__ == "__main__":
    main()
