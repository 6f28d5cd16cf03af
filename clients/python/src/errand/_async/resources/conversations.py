from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import httpx
from typing_extensions import Unpack

from ... import models, params
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

    async def follow_up(
        self,
        conversation_id: str,
        *,
        message: str | Omit = OMIT,
        comments: Sequence[params.SentLineComment] | Omit = OMIT,
        attachments: Sequence[params.FollowupAttachment] | Omit = OMIT,
        images: Sequence[params.RunFollowupRequestImage] | Omit = OMIT,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        delivery: Literal["queue", "interrupt", "steer"] | Omit = OMIT,
        visibility: Literal["thread", "private"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.ConversationFollowupResponse:
        """Sends a message to the newest run of a conversation.

        Args:
            message: The text of the follow-up. It may be empty if there are files or comments.
            comments: Comments on lines of the run's changes, at most 50. The agent reads them below the message,
                each with the lines that it is about. A follow-up with comments never answers a question.
            attachments: Files that belong to the message, at most 25.
            images: Images that belong to the message, for agents that accept images.
            mode: The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work.
                The agent's own mode of that name is used if it has one; otherwise the mode is described in
                the prompt. Default: `normal`.
            delivery: queue (default): the next turn processes it. interrupt: it stops the current turn. steer: it
                is added to the current turn if the agent supports that, otherwise it is queued; no agent of
                this version supports it.
            visibility: thread (default): it is posted to the threads of the run. private: neither it nor the answer
                of a turn with only private follow-ups is posted. The run's state and the agent's questions
                are still posted.
        """
        return await self._client._request(
            models.ConversationFollowupResponse,
            "POST",
            path("/agent/conversations/{}/followups", conversation_id),
            body={
                "message": message,
                "comments": comments,
                "attachments": attachments,
                "images": images,
                "mode": mode,
                "delivery": delivery,
                "visibility": visibility,
            },
            options=options,
        )

    async def interrupt(
        self, conversation_id: str, **options: Unpack[RequestOptions]
    ) -> models.ConversationInterrupted:
        """Ends the current turn of the newest run of a conversation, but not the run."""
        return await self._client._request(
            models.ConversationInterrupted,
            "POST",
            path("/agent/conversations/{}/interrupt", conversation_id),
            options=options,
        )

    @asynccontextmanager
    async def transcript(
        self, conversation_id: str, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[httpx.Response]:
        """Downloads the event log of the newest run: one JSON object per line. The body has not been read."""
        address = path("/agent/conversations/{}/transcript", conversation_id)
        async with self._client._open(address, options=options) as response:
            yield response

    @asynccontextmanager
    async def screenshot(
        self, conversation_id: str, artifact_uid: str, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[httpx.Response]:
        """Downloads a picture of a conversation. The body has not been read."""
        address = path("/agent/conversations/{}/screenshots/{}/download", conversation_id, artifact_uid)
        async with self._client._open(address, options=options) as response:
            yield response

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
