"""YAML as Kubernetes reads it: a safe loader without aliases, dates left as text."""

from __future__ import annotations

from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Base  # type: ignore[assignment]


class SafeLoader(_Base):
    """Refuses aliases (a billion laughs is a few aliases) and leaves timestamps as strings."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one node.

        Raises:
            yaml.YAMLError: it is an alias.
        """
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.composer.ComposerError(None, None, "aliases are not read here; write it out", event.start_mark)
        return super().compose_node(parent, index)


SafeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
