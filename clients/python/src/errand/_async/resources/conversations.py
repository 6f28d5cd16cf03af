from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncConversationsWithRawResponse
    from ..streaming import AsyncConversationsWithStreamingResponse


class AsyncConversations:
    """Conversations: a run and the runs that continue it."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncConversationsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncConversationsWithRawResponse

        return AsyncConversationsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncConversationsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncConversationsWithStreamingResponse

        return AsyncConversationsWithStreamingResponse(self)

    async def retrieve(
        self,
        conversation_id: str,
        *,
        limit: int | Omit = OMIT,
        before: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Conversation:
        """Gets what was said and done in the runs of a conversation that you can see, as steps with messages.

        Args:
            limit: The maximum number of steps: the last ones. Default: all steps.
            before: The id of a step: only the steps before it.
        """
        return await self._client._request(
            models.Conversation,
            "GET",
            path("/agent/conversations/{}", conversation_id),
            query={"limit": limit, "before": before},
            options=options,
        )

    async def session(self, conversation_id: str, **options: Unpack[RequestOptions]) -> models.ConversationRedirect:
        """Gets the session of the newest run of a conversation."""
        return await self._client._request(
            models.ConversationRedirect,
            "GET",
            path("/agent/conversations/{}/redirect", conversation_id),
            options=options,
        )

    async def of_session(self, session_id: str, **options: Unpack[RequestOptions]) -> models.SessionRedirect:
        """Gets the conversation of a session."""
        return await self._client._request(
            models.SessionRedirect, "GET", path("/agent/sessions/{}/redirect", session_id), options=options
        )
