"""The Endpoints controller: the addresses behind a Service, in one object."""

from controllers.endpoint.controller import EndpointController as EndpointController
