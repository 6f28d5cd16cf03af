from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncCatalogueWithRawResponse
    from ..streaming import AsyncCatalogueWithStreamingResponse


class AsyncCatalogue:
    """The agent catalogue: the coding agents that can do runs, and what each needs."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncCatalogueWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncCatalogueWithRawResponse

        return AsyncCatalogueWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncCatalogueWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncCatalogueWithStreamingResponse

        return AsyncCatalogueWithStreamingResponse(self)

    def list(
        self, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.CatalogueAgent, models.ListCatalogueResponse]:
        """Lists the agents with their versions and requirements."""
        return self._client._list(models.ListCatalogueResponse, "agents", "/agent/catalogue", options=options)

    async def test(self, agent_name: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Starts a small run of an agent, which costs about one word of its model. Its end shows whether the
        agent works."""
        return await self._client._request(
            models.RunAgentResponse, "POST", path("/agent/catalogue/{}/test", agent_name), options=options
        )
