from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncNoticesWithRawResponse
    from ..streaming import AsyncNoticesWithStreamingResponse


class AsyncNotices:
    """Notices: the messages to threads and their delivery."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncNoticesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncNoticesWithRawResponse

        return AsyncNoticesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncNoticesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncNoticesWithStreamingResponse

        return AsyncNoticesWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        run_id: str | Omit = OMIT,
        thread_id: str | Omit = OMIT,
        state: Literal["pending", "delivered", "replaced", "dead"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.Notice, models.ListNoticesResponse]:
        """Lists notices, the newest first.

        Args:
            limit: The number of notices per page.
            cursor: `next_cursor` of the previous page. Requires the same filters.
            run_id: Only notices of this run.
            thread_id: Only notices to this thread.
            state: Only notices in this state.
        """
        return self._client._list(
            models.ListNoticesResponse,
            "notices",
            "/agent/notices",
            query={
                "limit": limit,
                "cursor": cursor,
                "run_id": run_id,
                "thread_id": thread_id,
                "state": state,
            },
            options=options,
        )

    async def retry(self, notice_id: str, **options: Unpack[RequestOptions]) -> models.Notice:
        """Delivers a notice again that was given up."""
        return await self._client._request(
            models.Notice, "POST", path("/agent/notices/{}/retry", notice_id), options=options
        )
