"""The TTL controller: how long kubelets may keep what they read of Secrets and ConfigMaps."""

from controllers.ttl.controller import TTLController as TTLController
