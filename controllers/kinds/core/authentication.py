"""What the API server tells of how it authenticates, in ConfigMaps: whose word on users servers beside it may take, and
since when it notes the last use of old accounts' tokens.

Source: pkg/controlplane/controller/clusterauthenticationtrust and legacytokentracking, v1.34. Nobody holds the keys of
the certificates in it, so nobody is trusted: requests in a session come with tokens. Both are there, since such a
server asks again and again for one that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.computed import Facts
from controllers.registry.standing import standing

NAMESPACE: Final = "kube-system"
TRUST: Final = "extension-apiserver-authentication"
TRACKING: Final = "kube-apiserver-legacy-service-account-token-tracking"
"""A controller manager looks for it before it cleans such tokens up."""
FIXED: Final = "the ConfigMap {name} is what this server tells of itself and cannot be written"

_FRONT_PROXY: Final = """\
-----BEGIN CERTIFICATE-----
MIIBNTCB3KADAgECAgEBMAoGCCqGSM49BAMCMBkxFzAVBgNVBAMMDmZyb250LXBy
b3h5LWNhMCAXDTI0MDEwMTAwMDAwMFoYDzIxMjQwMTAxMDAwMDAwWjAZMRcwFQYD
VQQDDA5mcm9udC1wcm94eS1jYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDXP
R4lKnoYFpKA8Se4SkbgZyuTg9nKZ1+TnIDrGvPnWEL2X5TAOj/1a1rGz2TxGB4Sl
bWcmHuiG68xCsvWfmDCjEzARMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
SAAwRQIhAJHVgZzuL+qrhME32E/APF8zpRTiu//6hfQ3TMU/0vFtAiBdP6iLQyI2
5pciYQ5cgAvOAT4e5+9fZ5GOcuaF7hUs2A==
-----END CERTIFICATE-----
"""
_CLIENTS: Final = """\
-----BEGIN CERTIFICATE-----
MIIBLDCB1KADAgECAgEBMAoGCCqGSM49BAMCMBUxEzARBgNVBAMMCmt1YmVybmV0
ZXMwIBcNMjQwMTAxMDAwMDAwWhgPMjEyNDAxMDEwMDAwMDBaMBUxEzARBgNVBAMM
Cmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATyNiTy4lRGl8Cc
GXokiFZdWC8wTQ2De0i0ZtFuYjZlYXAPSJzhmSwvK4xT+DvXYkQntCbjCNmRuKmX
vsAyOF5OoxMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIAxZ
lURIKweQZEmJgzkFGRiDAoD5Yx1KchVDLw7O2w2fAiA8fCr9ESjHkMS5Qv9llKMK
U9wv7XB0+atVvC0GGc/GmA==
-----END CERTIFICATE-----
"""
_DATA: Final = {
    "client-ca-file": _CLIENTS,
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-client-ca-file": _FRONT_PROXY,
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
}


def objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield those of the ConfigMaps that are asked for."""
    if namespace not in (None, NAMESPACE):
        return
    began = wire_time(facts.epoch_ms)
    for own, data in ((TRUST, _DATA), (TRACKING, {"since": began[:10]})):
        if name not in ("", own):
            continue
        metadata = {"name": own, "namespace": NAMESPACE}
        yield standing(
            facts, "configmaps", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data}
        )
