"""Taint eviction: pods leave nodes whose NoExecute taints they do not tolerate."""

from controllers.tainteviction.controller import TaintEvictionController as TaintEvictionController
