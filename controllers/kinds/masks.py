"""What the page gets of structs that several kinds have."""

from __future__ import annotations

from typing import Final

from controllers.registry.kind import Mask

REVISION: Final = "deployment.kubernetes.io/revision"
"""The annotation that tells which template of a Deployment is the newest."""

CONDITIONS: Final[Mask] = {"type": True, "status": True, "reason": True, "message": True, "lastTransitionTime": True}
INIT_STATE: Final[Mask] = {
    "waiting": True,
    "running": {},
    "terminated": {"exitCode": True, "reason": True},
}
CONTAINERS: Final[Mask] = {"name": True, "image": True, "restartPolicy": True, "resources": {"requests": True}}
