# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import NoticesWithRawResponse
    from ..streaming import NoticesWithStreamingResponse


class Notices:
    """Notices: the messages to threads and their delivery."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> NoticesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import NoticesWithRawResponse

        return NoticesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> NoticesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import NoticesWithStreamingResponse

        return NoticesWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        run_id: str | Omit = OMIT,
        thread_id: str | Omit = OMIT,
        state: Literal["pending", "delivered", "replaced", "dead"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> Paginator[models.Notice, models.ListNoticesResponse]:
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

    def retry(self, notice_id: str, **options: Unpack[RequestOptions]) -> models.Notice:
        """Delivers a notice again that was given up."""
        return self._client._request(models.Notice, "POST", path("/agent/notices/{}/retry", notice_id), options=options)
