"""Lets definitions go, once their instances have gone, and gives the names that they leave to others."""

from controllers.customresource.controller import DefinitionController as DefinitionController
