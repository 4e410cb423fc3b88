"""The EndpointSlice controller: the addresses behind a Service, in parts."""

from controllers.endpointslice.controller import EndpointSliceController as EndpointSliceController
