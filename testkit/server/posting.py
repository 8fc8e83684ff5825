"""Trainers that report over TLS with the data of their pods: the address, the CA, and a token for the pod."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp

from testkit.api import Api, Manifest
from testkit.api.resource import CONFIG_MAPS, PODS
from testkit.simulators.children import is_head, is_submitter
from testkit.simulators.shared_state import Posts
from trainwright_api.resource.environment import PROGRESS_URL
from trainwright_api.resource.messages import OutcomeMessage
from trainwright_operator.model import names

TOKEN_VOLUME = "trainwright-token"


class PostsOverTls(Posts):
    """`refused` holds every answer that is not a reply."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._client = api
        self.taken = 0
        self.refused: list[tuple[int, str]] = []

    async def outcome(self, pod: Manifest, outcome: OutcomeMessage) -> None:
        await self._report(pod, outcome=outcome.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def progress(self, pod: Manifest, **progress: Any) -> None:
        await self._report(pod, progress=progress)

    async def _report(self, pod: Manifest, **message: Any) -> None:
        sender = await self._head_of(pod) if is_submitter(pod) else pod
        labels = sender["metadata"]["labels"]
        report = {"uid": labels[names.JOB_UID], "attempt": int(labels[names.ATTEMPT]), **message}
        status, text = await self._sent(sender, report)
        if status == 200:
            self.taken += 1
        else:
            self.refused.append((status, text))

    async def _head_of(self, submitter: Manifest) -> Manifest:
        """Return the head, because the driver runs there."""
        labels = submitter["metadata"]["labels"]
        same = ",".join(f"{key}={labels[key]}" for key in (names.JOB_UID, names.ATTEMPT))
        found = (await self._client.list(PODS, submitter["metadata"]["namespace"], same)).items
        return next(pod for pod in found if is_head(pod))

    async def _sent(self, pod: Manifest, report: Mapping[str, Any]) -> tuple[int, str]:
        [url] = [one["value"] for one in pod["spec"]["containers"][0]["env"] if one["name"] == PROGRESS_URL]
        token, ca = await self._given(pod)
        trust = ssl.create_default_context(cadata=ca)
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust, force_close=True)) as session,
            session.post(url, json=report, headers=headers) as answer,
        ):
            return answer.status, await answer.text()

    async def _given(self, pod: Manifest) -> tuple[str, str]:
        """Return the data that a kubelet would mount: a token bound to the pod, and the CA from the job's ConfigMap."""
        [volume] = [one for one in pod["spec"]["volumes"] if one["name"] == TOKEN_VOLUME]
        token, ca = volume["projected"]["sources"]
        config = await self._client.get(CONFIG_MAPS, ca["configMap"]["name"], pod["metadata"]["namespace"])
        [item] = ca["configMap"]["items"]
        return await self._token(pod, token["serviceAccountToken"]["audience"]), config["data"][item["key"]]

    async def _token(self, pod: Manifest, audience: str) -> str:
        metadata, account = pod["metadata"], pod["spec"]["serviceAccountName"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}
        spec = {"audiences": [audience], "expirationSeconds": 600, "boundObjectRef": bound}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
        answer = await self._client.request("POST", path, request)
        return str(answer["status"]["token"])
