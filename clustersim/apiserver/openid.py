"""Where an API server tells who signs the tokens of ServiceAccounts, and with which keys.

Source: pkg/serviceaccount/openidmetadata.go and pkg/routes/openidmetadata.go, v1.34. A session signs with a secret,
which nobody is told: its set of keys is empty, and nobody else can check a token.
"""

from __future__ import annotations

from typing import Final

from clustersim.apiserver.messages import JSON, Request, Response, json_response, plain_response
from clustersim.apiserver.negotiation import check_acceptable
from clustersim.classroom.accounttokens import ALGORITHM, ISSUER
from scheduler_core.api.errors import method_not_allowed

CONFIGURATION: Final = "/.well-known/openid-configuration"
KEYS: Final = "/openid/v1/jwks"
KEY_SET: Final = "application/jwk-set+json"

PATHS: Final = (CONFIGURATION, KEYS)


def answer(request: Request, path: str) -> Response:
    """Answer one of `PATHS`.

    Raises:
        ApiError: 405, 406.
    """
    if request.method != "GET":
        raise method_not_allowed()
    media = KEY_SET if path == KEYS else JSON
    check_acceptable(request, produced=(media,))
    if path == KEYS:
        response = json_response({"keys": []})
        response.content_type = KEY_SET
        return response
    return plain_response(
        {
            "issuer": ISSUER,
            "jwks_uri": f"https://{request.headers.get('host', '')}/clusters/{request.code}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        }
    )
