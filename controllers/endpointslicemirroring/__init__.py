"""The mirroring controller: Endpoints that people keep by hand, shown as slices too."""

from controllers.endpointslicemirroring.controller import MirroringController as MirroringController
