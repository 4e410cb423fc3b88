"""The quota controller: how much of each quota is used."""

from controllers.resourcequota.controller import ResourceQuotaController as ResourceQuotaController
