"""The cloud's part of a node's life: a Node whose machine is gone goes too."""

from controllers.cloudnode.controller import CloudNodeController as CloudNodeController
