# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions, path

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import ArtifactsWithRawResponse
    from ..streaming import ArtifactsWithStreamingResponse


class Artifacts:
    """Artifacts: files, screenshots and plans that runs have produced."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> ArtifactsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import ArtifactsWithRawResponse

        return ArtifactsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> ArtifactsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import ArtifactsWithStreamingResponse

        return ArtifactsWithStreamingResponse(self)

    def retrieve(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> models.ArtifactDetails:
        """Gets an artifact: a plan with its text, a file or a screenshot with an address for its download."""
        details: models.ArtifactDetails = self._client._request(
            models.ArtifactDetails, "GET", path("/agent/artifacts/{}", artifact_uid), options=options
        )
        return details

    @contextmanager
    def download(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> Iterator[httpx.Response]:
        """Downloads the file of an artifact. The body of the response has not been read.

        Example:
            with client.artifacts.download(uid) as response:
                content = response.read()
        """
        with self._client._open(path("/agent/artifacts/{}/download", artifact_uid), options=options) as response:
            yield response
