from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING

import httpx
from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ...errors import APIConnectionError, InternalServerError, RateLimitError
from ..events import AsyncEventReader, StreamOptions
from ..run_stream import AsyncRunStream
from .events import STREAMED

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient

#: The longest that a server waits.
WAIT_SECONDS = 50
WAIT_TIMEOUT = 60.0
#: A server that answers earlier about a run that works has not waited.
WAITED = 1.0

ENDED = frozenset({"SUCCEEDED", "FAILED", "ERROR", "CANCELLED"})


class AsyncRunReader:
    """The part of `AsyncRuns` that reads one run: its state, its events, and what they say."""

    _client: AsyncApiClient

    async def retrieve(
        self,
        run_id: str,
        *,
        wait: int | Omit = OMIT,
        fields: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunItem:
        """Gets a run.

        Args:
            wait: The response comes when the run has ended or is BLOCKED, after this many seconds at the latest (at
                most 50). The request counts as an open stream meanwhile.
            fields: Only these members of a run, separated by commas. Without it, all that the run has.
        """
        return await self._client._request(
            models.RunItem,
            "GET",
            path("/agent/runs/{}", run_id),
            query={"wait": wait, "fields": fields},
            options=options,
        )

    async def stored_events(
        self,
        run_id: str,
        *,
        after: int | Omit = OMIT,
        before: int | Omit = OMIT,
        tail: int | Omit = OMIT,
        limit: int | Omit = OMIT,
        follow: bool | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunEventPage:
        """Gets a page of the stored events of a run. At most one of `after`, `before` and `tail` is allowed.

        Args:
            after: The sequence number of the last event that you received.
            before: The last events before the one with this sequence number. Only for pages.
            tail: The last events, at most this many. A stream begins with them.
            limit: The maximum number of events of a page. With `tail`, that number is the limit. A page is
                shorter if its events are long (1 MiB). A stream has no limit.
            follow: true: the stream continues after the end of the run.
        """
        return await self._client._request(
            models.RunEventPage,
            "GET",
            path("/agent/runs/{}/events", run_id),
            query={"after": after, "before": before, "tail": tail, "limit": limit, "follow": follow},
            options=options,
        )

    async def conversation(
        self,
        run_id: str,
        *,
        limit: int | Omit = OMIT,
        before: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Conversation:
        """Gets what was said and done in the run, as steps with messages.

        Args:
            limit: The maximum number of steps: the last ones. Default: all steps.
            before: The id of a step: only the steps before it.
        """
        return await self._client._request(
            models.Conversation,
            "GET",
            path("/agent/runs/{}/conversation", run_id),
            query={"limit": limit, "before": before},
            options=options,
        )

    async def timeline(self, run_id: str, **options: Unpack[RequestOptions]) -> models.RunTimeline:
        """Gets the main events of the run, in the format of other clients of this API."""
        return await self._client._request(
            models.RunTimeline, "GET", path("/agent/runs/{}/timeline", run_id), options=options
        )

    async def harness_usage(self, run_id: str, **options: Unpack[RequestOptions]) -> models.HarnessUsage:
        """Gets the tokens that Claude Code or Codex reported, in the format of other clients of this API."""
        return await self._client._request(
            models.HarnessUsage, "GET", path("/agent/runs/{}/harness-usage", run_id), options=options
        )

    async def changes(self, run_id: str, **options: Unpack[RequestOptions]) -> models.RunChanges:
        """Gets the repositories and files that the last turn changed."""
        return await self._client._request(
            models.RunChanges, "GET", path("/agent/runs/{}/changes", run_id), options=options
        )

    async def handoff_attachments(self, run_id: str, **options: Unpack[RequestOptions]) -> models.HandoffAttachments:
        """Lists the patch and the files that the last ended turn left for those who continue its work."""
        return await self._client._request(
            models.HandoffAttachments,
            "GET",
            path("/agent/runs/{}/handoff/attachments", run_id),
            options=options,
        )

    def events(
        self,
        run_id: str,
        *,
        after: int | Omit = OMIT,
        tail: int | Omit = OMIT,
        follow: bool = False,
        **options: Unpack[StreamOptions],
    ) -> AsyncIterator[models.RunEvent | models.StreamReset]:
        """Yields the events of a run live, from the first one to the end of the run. A broken connection is opened again,
        and no event is lost or repeated.

        Args:
            after: The `seq` of the last event that you have. If the server no longer knows the position, an event with
                the `kind` `reset` is yielded, and then all events from the first one.
            tail: Begins with the last events, at most this many (500). Not together with `after`.
            follow: Whether the stream continues after the end of the run, because a follow-up may continue it. Such a
                stream ends only when you leave the loop.

        Example:
            async for event in client.runs.events(run_id):
                if isinstance(event, models.AgentMessageEvent):
                    print(event.text)
        """

        async def ask_if_over() -> bool:
            return not follow and (await self.retrieve(run_id)).state in ENDED

        return AsyncEventReader(
            self._client,
            path("/agent/runs/{}/events", run_id),
            {"after": after, "tail": tail, "follow": follow},
            options,
            STREAMED.validate_json,
            (lambda event: False) if follow else _ends_run,
            ask_if_over,
        ).events()

    def stream(
        self, run_id: str, *, after: int | Omit = OMIT, tail: int | Omit = OMIT, **options: Unpack[StreamOptions]
    ) -> AsyncRunStream:
        """Reads the events of a run live and calls listeners for what the agent writes, its tool calls, its questions and
        the states of the run.

        Args:
            after: The `seq` of the last event that you have.
            tail: Begins with the last events, at most this many (500). Not together with `after`.
        """
        events = self.events(run_id, after=after, tail=tail, **options)
        return AsyncRunStream(events, lambda: self.retrieve(run_id))

    async def wait_for_completion(
        self, run_id: str, *, until_blocked: bool = False, **options: Unpack[StreamOptions]
    ) -> models.RunItem:
        """Waits until the run has ended, and returns it. The server answers as soon as it has. With a server that cannot
        wait, and while the run is BLOCKED, this follows the events of the run. With `max_wait`, it waits at most so many
        seconds, and then raises `APITimeoutError`.

        Args:
            until_blocked: Whether the wait also ends when the run is BLOCKED, because it waits for a person.
        """
        # Read first, so that no change between the two requests is missed.
        last = await self.stored_events(run_id, tail=1)
        ends = ENDED | {"BLOCKED"} if until_blocked else ENDED
        # A time of the caller may end before that of the server.
        run = await (self._waited(run_id, ends) if "max_wait" not in options else self.retrieve(run_id))
        if run is not None and run.state in ends:
            return run
        async for event in self.events(run_id, after=last.next_after, **options):
            if isinstance(event, models.RunStateEvent) and event.to in ends:
                break
        return await self.retrieve(run_id)

    async def _waited(self, run_id: str, ends: frozenset[str]) -> models.RunItem | None:
        """Asks the server to wait. None: it does not, or not for this, or it cannot be reached now."""
        while True:
            began = monotonic()
            try:
                run = await self.retrieve(
                    run_id, wait=WAIT_SECONDS, timeout=WAIT_TIMEOUT, total_timeout=None, max_retries=0
                )
            except (APIConnectionError, InternalServerError, RateLimitError):
                # The stream of events is opened again and again after such errors.
                return None
            if run.state in ends:
                return run
            if run.state == "BLOCKED" or monotonic() - began < WAITED:
                return None

    @asynccontextmanager
    async def transcript(self, run_id: str, **options: Unpack[RequestOptions]) -> AsyncIterator[httpx.Response]:
        """Downloads the event log of the run: one JSON object per line. The body of the response has not been read.

        Example:
            async with client.runs.transcript(run_id) as response:
                async for line in response.aiter_lines():
                    print(line)
        """
        async with self._client._open(path("/agent/runs/{}/transcript", run_id), options=options) as response:
            yield response

    async def artifacts(self, run_id: str, **options: Unpack[RequestOptions]) -> Sequence[models.ArtifactItem]:
        """Gets the artifacts of the run, the oldest first."""
        return (await self.retrieve(run_id, **options)).artifacts or []


def _ends_run(event: models.RunEvent | models.StreamReset) -> bool | None:
    """Returns None if the event says nothing about it."""
    return event.to in ENDED if isinstance(event, models.RunStateEvent) else None
