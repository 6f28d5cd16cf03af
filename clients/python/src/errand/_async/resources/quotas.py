from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models, params
from ..._request import RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncQuotasWithRawResponse
    from ..streaming import AsyncQuotasWithStreamingResponse


class AsyncQuotas:
    """Quotas: the most that a team may use."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncQuotasWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncQuotasWithRawResponse

        return AsyncQuotasWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncQuotasWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncQuotasWithStreamingResponse

        return AsyncQuotasWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> AsyncPaginator[models.Quota, models.ListQuotasResponse]:
        """Lists the quotas of your team with their use."""
        return self._client._list(models.ListQuotasResponse, "quotas", "/agent/quotas", options=options)

    async def set(
        self, team_uid: str, *, quotas: Sequence[params.QuotaRequest], **options: Unpack[RequestOptions]
    ) -> models.ListQuotasResponse:
        """Replaces all quotas of a team. Only for operators.

        Args:
            quotas: All quotas of the team. One that is left out is removed.
        """
        return await self._client._request(
            models.ListQuotasResponse,
            "PUT",
            path("/agent/teams/{}/quotas", team_uid),
            body={"quotas": quotas},
            options=options,
        )
