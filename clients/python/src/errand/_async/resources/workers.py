from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncWorkersWithRawResponse
    from ..streaming import AsyncWorkersWithStreamingResponse


class AsyncWorkers:
    """Workers: the processes that do runs."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncWorkersWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncWorkersWithRawResponse

        return AsyncWorkersWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncWorkersWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncWorkersWithStreamingResponse

        return AsyncWorkersWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> AsyncPaginator[models.WorkerHost, models.ListWorkersResponse]:
        """Lists the names of the workers that are connected."""
        return self._client._list(
            models.ListWorkersResponse, "workers", "/agent/connected-self-hosted-workers", options=options
        )

    async def egress_ranges(self, **options: Unpack[RequestOptions]) -> models.EgressRanges:
        """Gets the networks from which agents connect to other servers, as the operator states them."""
        return await self._client._request(models.EgressRanges, "GET", "/networking/egress-ranges", options=options)
