from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncModelsWithRawResponse
    from ..streaming import AsyncModelsWithStreamingResponse


class AsyncModels:
    """Models that runs can name."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncModelsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncModelsWithRawResponse

        return AsyncModelsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncModelsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncModelsWithStreamingResponse

        return AsyncModelsWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> AsyncPaginator[models.AgentModel, models.ListModelsResponse]:
        """Lists the models, and the one that is the default."""
        return self._client._list(models.ListModelsResponse, "models", "/agent/models", options=options)
