from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncUsageWithRawResponse
    from ..streaming import AsyncUsageWithStreamingResponse


class AsyncUsage:
    """Usage: runs, tokens, costs and times."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncUsageWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncUsageWithRawResponse

        return AsyncUsageWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncUsageWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncUsageWithStreamingResponse

        return AsyncUsageWithStreamingResponse(self)

    async def retrieve(
        self,
        *,
        from_: str | Omit = OMIT,
        to: str | Omit = OMIT,
        group_by: Sequence[Literal["day", "source", "creator", "environment", "repository", "agent", "model"]]
        | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.UsageResponse:
        """Gets the totals of the runs that you can see, by day or by another grouping.

        Args:
            from_: The first day in UTC, such as `2026-03-01`. Default: 29 days ago, which gives 30 days with
                today.
            to: The last day in UTC. Default: today. At most 366 days.
            group_by: Can be repeated: one row per combination. Default: by day.
        """
        return await self._client._request(
            models.UsageResponse,
            "GET",
            "/agent/usage",
            query={"from": from_, "to": to, "group_by": group_by},
            options=options,
        )
