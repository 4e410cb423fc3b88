"""Fills Secrets of the type service-account-token, and removes those whose ServiceAccount is gone.

Source: k8s.io/kubernetes/pkg/controller/serviceaccount/tokens_controller.go, pkg/serviceaccount/legacy.go.
"""

from __future__ import annotations

from base64 import b64encode
from typing import ClassVar, Final

from controllers.kinds.core.secret import ACCOUNT_NAME, ACCOUNT_TOKEN
from controllers.kit.manager import Reconcile, Setup, Work
from controllers.log.operations import Delete, Update
from controllers.serviceaccount.controller import ACCOUNTS, CERTIFICATE
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

SECRETS: Final = "secrets"
ACCOUNT_UID: Final = "kubernetes.io/service-account.uid"
LEGACY_ISSUER: Final = "kubernetes/serviceaccount"
CLAIM: Final = "kubernetes.io/serviceaccount/"

_OF_ACCOUNT: Final = "account"
_SECRET: Final = "secret"
_REFERENCE: Final = "reference"


def legacy_claims(account: Document, secret: str) -> Document:
    """Return what the token in a Secret says: it names its account and that Secret, and never ends by itself."""
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    return {
        "iss": LEGACY_ISSUER,
        f"{CLAIM}namespace": namespace,
        f"{CLAIM}secret.name": secret,
        f"{CLAIM}service-account.name": name,
        f"{CLAIM}service-account.uid": metadata["uid"],
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }


def account_named(secret: Document) -> str:
    """Return the account that a token's Secret names; empty: it is no token's."""
    if secret.get("type") != ACCOUNT_TOKEN:
        return ""
    return str((secret["metadata"].get("annotations") or {}).get(ACCOUNT_NAME) or "")


class Tokens:
    """Reconciles `secret/NAMESPACE/NAME` and `reference/NAMESPACE/ACCOUNT/SECRET`."""

    NAME: ClassVar[str] = "serviceaccount-token"
    RESOURCES: ClassVar[tuple[str, ...]] = (ACCOUNTS, SECRETS)

    def __init__(self, setup: Setup) -> None:
        """Listen to accounts and Secrets."""
        self._accounts = setup.informers[ACCOUNTS]
        self._secrets = setup.informers[SECRETS]
        self._queue = setup.queue
        self._keys = setup.keys
        self._secrets.add_index(_OF_ACCOUNT, _by_account)
        self._accounts.add_handler(self._account_changed)
        self._secrets.add_handler(self._secret_changed)

    def _account_changed(self, old: Document | None, new: Document | None) -> None:
        metadata = (new or old or {})["metadata"]
        for secret in self._secrets.indexed(_OF_ACCOUNT, f"{metadata['namespace']}/{metadata['name']}"):
            self._queue.add(_key(_SECRET, secret))

    def _secret_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            if account_named(new):
                self._queue.add(_key(_SECRET, new))
        elif old is not None and account_named(old):
            metadata = old["metadata"]
            self._queue.add("/".join((_REFERENCE, metadata["namespace"], account_named(old), metadata["name"])))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Bring one Secret, or one account's list of Secrets, to what it should be."""
        what, namespace, name, *secret = key.split("/")
        if what == _REFERENCE:
            work.tell("the Secret has gone: its account names it no longer", desired={"secrets": 0}, actual={})
            yield from self._drop_reference(namespace, name, secret[0])
            return
        found = self._secrets.get(namespace, name)
        account = "" if found is None else account_named(found)
        known = bool(account) and self._accounts.get(namespace, account) is not None
        reason = "filled with a token" if known else "it is of no account that is there"
        told = {"data": sorted((found or {}).get("data") or ())}
        work.tell(reason, desired={"serviceaccounts": account}, actual={"account there": known, **told})
        if found is not None:
            yield from self._fill(found)

    def _fill(self, secret: Document) -> Reconcile:
        metadata = secret["metadata"]
        namespace, named = metadata["namespace"], account_named(secret)
        if not named or "deletionTimestamp" in metadata:
            return
        account = self._accounts.get(namespace, named)
        uid = (metadata.get("annotations") or {}).get(ACCOUNT_UID)
        if account is None or (uid and uid != account["metadata"]["uid"]):
            (result,) = yield [Delete(SECRETS, namespace, metadata["name"], uid=metadata["uid"])]
            _retry_unless_moved_on(result.error)
            return
        if self._keys is None:
            # Without a key nothing is signed, as upstream without --service-account-private-key-file.
            return
        token = self._keys.sign(legacy_claims(account, metadata["name"]))
        wanted = {
            "ca.crt": _encoded(CERTIFICATE),
            "namespace": (secret.get("data") or {}).get("namespace") or _encoded(namespace),
            # A copy of the session has another key: what was signed with the first one's is signed anew.
            "token": _encoded(token),
        }
        data = {**(secret.get("data") or {}), **wanted}
        if data == secret.get("data"):
            return
        annotations = {
            **(metadata.get("annotations") or {}),
            ACCOUNT_NAME: account["metadata"]["name"],
            ACCOUNT_UID: account["metadata"]["uid"],
        }
        filled = {**secret, "metadata": {**metadata, "annotations": annotations}, "data": data}
        (result,) = yield [Update(SECRETS, namespace, metadata["name"], filled)]
        _retry_unless_moved_on(result.error)

    def _drop_reference(self, namespace: str, name: str, secret: str) -> Reconcile:
        account = self._accounts.get(namespace, name)
        listed = (account or {}).get("secrets") or ()
        kept = [one for one in listed if one.get("name") != secret]
        if account is None or len(kept) == len(listed) or self._secrets.get(namespace, secret) is not None:
            return
        (result,) = yield [Update(ACCOUNTS, namespace, name, {**account, "secrets": kept})]
        if result.error is not None and result.error.reason != "NotFound":
            raise result.error


def _by_account(secret: Document) -> tuple[str, ...]:
    named = account_named(secret)
    return (f"{secret['metadata']['namespace']}/{named}",) if named else ()


def _key(what: str, of: Document) -> str:
    return "/".join((what, of["metadata"]["namespace"], of["metadata"]["name"]))


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def _retry_unless_moved_on(error: ApiError | None) -> None:
    """Retry, but not where the Secret is gone or another: its next event is worked on anyway."""
    if error is not None and error.reason not in ("NotFound", "Conflict"):
        raise error
