from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions, path

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncArtifactsWithRawResponse
    from ..streaming import AsyncArtifactsWithStreamingResponse


class AsyncArtifacts:
    """Artifacts: files, screenshots and plans that runs have produced."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncArtifactsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncArtifactsWithRawResponse

        return AsyncArtifactsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncArtifactsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncArtifactsWithStreamingResponse

        return AsyncArtifactsWithStreamingResponse(self)

    async def retrieve(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> models.ArtifactDetails:
        """Gets an artifact: a plan with its text, a file or a screenshot with an address for its download."""
        details: models.ArtifactDetails = await self._client._request(
            models.ArtifactDetails, "GET", path("/agent/artifacts/{}", artifact_uid), options=options
        )
        return details

    @asynccontextmanager
    async def download(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> AsyncIterator[httpx.Response]:
        """Downloads the file of an artifact. The body of the response has not been read.

        Example:
            async with client.artifacts.download(uid) as response:
                content = await response.aread()
        """
        async with self._client._open(path("/agent/artifacts/{}/download", artifact_uid), options=options) as response:
            yield response
