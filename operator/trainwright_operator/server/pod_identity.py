"""The identity of a reporting pod: the API server reviews the token, and returns the pod that it is bound to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.environment import AUDIENCE
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.resources import TOKEN_REVIEWS
from trainwright_operator.server.expiring_cache import ExpiringCache

REMEMBERED_SECONDS = 60.0
REFUSED_SECONDS = 10.0
"""A refused token may become valid, for example when a clock is corrected."""

_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"
_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True)
class PodIdentity:
    """The pod that a token is bound to."""

    namespace: str
    pod: str
    pod_uid: str


class Reviews:
    """Reviews tokens, and caches the answers by the hashes of the tokens.

    Valid and refused tokens have a cache each: many wrong tokens cannot displace the valid ones.
    """

    def __init__(self, api: Client, clock: Callable[[], float]) -> None:
        self._api = api
        self._known: ExpiringCache[bytes, PodIdentity] = ExpiringCache(clock, REMEMBERED_SECONDS)
        self._refused: ExpiringCache[bytes, bool] = ExpiringCache(clock, REFUSED_SECONDS)

    async def identity(self, token: str) -> PodIdentity | None:
        """Return the pod of a token, or None if the token is invalid, for another audience or not bound to a pod.

        Raises ApiError.
        """
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None or self._refused.get(digest):
            return known
        found = _identity_in(await self._review(token))
        if found is None:
            self._refused.put(digest, True)
        else:
            self._known.put(digest, found)
        return found

    async def _review(self, token: str) -> dict[str, Any]:
        review = {"apiVersion": TOKEN_REVIEWS.api_version, "kind": TOKEN_REVIEWS.kind}
        spec = {"token": token, "audiences": [AUDIENCE]}
        answer = await self._api.create(TOKEN_REVIEWS, None, {**review, "spec": spec})
        status = answer.get("status")
        return status if isinstance(status, dict) else {}


def _identity_in(status: Mapping[str, Any]) -> PodIdentity | None:
    # If the response lacks the audience, the authenticator has not checked it.
    if not status.get("authenticated") or AUDIENCE not in (status.get("audiences") or ()):
        return None
    user = status.get("user") or {}
    extra = user.get("extra") or {}
    pod, uid = (extra.get(_POD_NAME) or [""])[0], (extra.get(_POD_UID) or [""])[0]
    kind, _, account = str(user.get("username", "")).partition(_ACCOUNT)
    namespace = account.partition(":")[0]
    return PodIdentity(namespace, pod, uid) if not kind and namespace and pod and uid else None
