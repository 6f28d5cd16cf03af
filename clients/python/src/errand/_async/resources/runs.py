from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import httpx
from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..events import AsyncEventReader, StreamOptions
from ..pages import AsyncPaginator
from ..run_stream import AsyncRunStream
from .events import STREAMED

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncRunsWithRawResponse, AsyncRunsWithStreamingResponse

ENDED = frozenset({"SUCCEEDED", "FAILED", "ERROR", "CANCELLED"})


class AsyncRuns:
    """Runs: what agents are asked to do."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncRunsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncRunsWithRawResponse

        return AsyncRunsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncRunsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..raw import AsyncRunsWithStreamingResponse

        return AsyncRunsWithStreamingResponse(self)

    async def create(
        self,
        *,
        prompt: str | Omit = OMIT,
        config: params.AmbientAgentConfig | Omit = OMIT,
        title: str | Omit = OMIT,
        skill: str | Omit = OMIT,
        conversation_id: str | Omit = OMIT,
        parent_run_id: str | Omit = OMIT,
        team: bool | Omit = OMIT,
        images: Sequence[params.RunAgentRequestImage] | Omit = OMIT,
        attachments: Sequence[params.RunAgentRequestAttachment] | Omit = OMIT,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        interactive: bool | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        agent_identity_uid: str | Omit = OMIT,
        on_behalf_of: str | Omit = OMIT,
        webhook: params.RunWebhook | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunAgentResponse:
        """Starts a run.

        Args:
            prompt: The task, in words.
            config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
            title: The title of the run. Default: the beginning of the prompt.
            skill: `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
            conversation_id: A conversation to continue, with its files and, if the agent is the same, its memory. Values
                that `config` and `team` leave out are taken from the newest run of the conversation, except
                `name` and `skill_spec`.
            parent_run_id: The parent of the run.
            team: false: only the creator and administrators can see the run. Default: true.
            images: Images that belong to the prompt, for agents that accept images.
            attachments: Files that belong to the prompt.
            mode: The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work.
                The agent's own mode of that name is used if it has one; otherwise the mode is described in
                the prompt. Default: `normal`.
            interactive: true: `config.permission_policy` defaults to `ask`.
            metadata: The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have
                up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
            agent_identity_uid: The uid of the named agent that executes the run. Values that `config` leaves out are taken
                from it. Default: the caller, if its key belongs to a named agent.
            on_behalf_of: The uid or the email address of an active member, who becomes the creator of the run. The run
                gets no personal secrets, and the member cannot approve it. For administrators, and for named
                agents with `on_behalf_of_enabled`.
            webhook: Receives all messages that begin with `run.` about this run alone. A retry does not copy it.
        """
        return await self._client._request(
            models.RunAgentResponse,
            "POST",
            "/agent/runs",
            body={
                "prompt": prompt,
                "config": config,
                "title": title,
                "skill": skill,
                "conversation_id": conversation_id,
                "parent_run_id": parent_run_id,
                "team": team,
                "images": images,
                "attachments": attachments,
                "mode": mode,
                "interactive": interactive,
                "metadata": metadata,
                "agent_identity_uid": agent_identity_uid,
                "on_behalf_of": on_behalf_of,
                "webhook": webhook,
            },
            options=options,
        )

    async def retrieve(self, run_id: str, **options: Unpack[RequestOptions]) -> models.RunItem:
        """Gets a run."""
        return await self._client._request(models.RunItem, "GET", path("/agent/runs/{}", run_id), options=options)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        sort_by: Literal["updated_at", "created_at", "title", "agent"] | Omit = OMIT,
        sort_order: Literal["desc", "asc"] | Omit = OMIT,
        state: Sequence[
            Literal[
                "QUEUED",
                "PENDING",
                "CLAIMED",
                "INPROGRESS",
                "BLOCKED",
                "SUCCEEDED",
                "FAILED",
                "ERROR",
                "CANCELLED",
            ]
        ]
        | Omit = OMIT,
        name: str | Omit = OMIT,
        config_name: str | Omit = OMIT,
        model_id: str | Omit = OMIT,
        creator: str | Omit = OMIT,
        executor: str | Omit = OMIT,
        source: str | Omit = OMIT,
        created_after: str | datetime | Omit = OMIT,
        created_before: str | datetime | Omit = OMIT,
        updated_after: str | datetime | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        skill: str | Omit = OMIT,
        skill_spec: str | Omit = OMIT,
        schedule_id: str | Omit = OMIT,
        ancestor_run_id: str | Omit = OMIT,
        artifact_type: str | Omit = OMIT,
        execution_location: Literal["LOCAL", "REMOTE"] | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        q: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.RunItem, models.ListRunsResponse]:
        """Lists runs, the last changed first.

        Args:
            limit: The number of runs per page.
            cursor: `next_cursor` of the previous page. Requires the same sort and the same filters.
            sort_by: The member by which the runs are sorted.
            sort_order: Descending (the newest first) or ascending order.
            state: One of these states. Can be repeated.
            name: The name of the run's configuration.
            config_name: An alias of `name`.
            model_id: The model of the run's configuration.
            creator: The uid of the principal that started the run.
            executor: The uid of the principal that executes the run: its creator, unless the run names another one.
            source: The source of the run, a value of `RunSourceType`. Any other value matches nothing.
            created_after: Only runs created after this time (RFC 3339).
            created_before: Only runs created before this time (RFC 3339).
            updated_after: Only runs changed after this time (RFC 3339).
            environment_id: The environment of the run. `empty-environment`: runs without an environment.
            skill: The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in
                `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its
                owner, matches nothing.
            skill_spec: An alias of `skill`.
            schedule_id: The schedule that started the run.
            ancestor_run_id: Only runs below this run, at any depth.
            artifact_type: Only runs that produced an artifact of this type.
            execution_location: Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL`
                matches none.
            metadata: `metadata[key]=value`: all of these pairs, at most 5.
            q: Words that must all occur in the title, the prompt or the skill. Parts of words match, and
                case is ignored.
        """
        return self._client._list(
            models.ListRunsResponse,
            "runs",
            "/agent/runs",
            query={
                "limit": limit,
                "cursor": cursor,
                "sort_by": sort_by,
                "sort_order": sort_order,
                "state": state,
                "name": name,
                "config_name": config_name,
                "model_id": model_id,
                "creator": creator,
                "executor": executor,
                "source": source,
                "created_after": created_after,
                "created_before": created_before,
                "updated_after": updated_after,
                "environment_id": environment_id,
                "skill": skill,
                "skill_spec": skill_spec,
                "schedule_id": schedule_id,
                "ancestor_run_id": ancestor_run_id,
                "artifact_type": artifact_type,
                "execution_location": execution_location,
                "metadata": metadata,
                "q": q,
            },
            options=options,
        )

    async def update(
        self,
        run_id: str,
        *,
        title: str | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunItem:
        """Changes the title or the metadata of a run. The metadata is replaced as a whole.

        Args:
            title: The new title.
            metadata: Replaces all pairs.
        """
        return await self._client._request(
            models.RunItem,
            "PATCH",
            path("/agent/runs/{}", run_id),
            body={"title": title, "metadata": metadata},
            options=options,
        )

    async def delete(self, run_id: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an ended run with everything that it left: events, files, deliveries."""
        await self._client._request(None, "DELETE", path("/agent/runs/{}", run_id), options=options)

    async def follow_up(
        self,
        run_id: str,
        *,
        message: str,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        delivery: Literal["queue", "interrupt", "steer"] | Omit = OMIT,
        visibility: Literal["thread", "private"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunFollowupResponse:
        """Sends a message to the agent. An ended run continues with it. An open question may be answered by it.

        Args:
            message: The text of the follow-up.
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
            models.RunFollowupResponse,
            "POST",
            path("/agent/runs/{}/followups", run_id),
            body={"message": message, "mode": mode, "delivery": delivery, "visibility": visibility},
            options=options,
        )

    def follow_ups(
        self,
        run_id: str,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.RunFollowup, models.ListRunFollowupsResponse]:
        """Lists the follow-ups of a run, the oldest first.

        Args:
            limit: The number of follow-ups per page.
            cursor: `next_cursor` of the previous page of the same run.
        """
        return self._client._list(
            models.ListRunFollowupsResponse,
            "followups",
            path("/agent/runs/{}/followups", run_id),
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def update_follow_up(
        self, run_id: str, follow_up_id: str, *, message: str, **options: Unpack[RequestOptions]
    ) -> models.RunFollowup:
        """Changes the text of a follow-up that the agent has not received yet.

        Args:
            message: The text of the follow-up.
        """
        return await self._client._request(
            models.RunFollowup,
            "PATCH",
            path("/agent/runs/{}/followups/{}", run_id, follow_up_id),
            body={"message": message},
            options=options,
        )

    async def withdraw_follow_up(self, run_id: str, follow_up_id: str, **options: Unpack[RequestOptions]) -> None:
        """Withdraws a follow-up that the agent has not received yet."""
        await self._client._request(
            None, "DELETE", path("/agent/runs/{}/followups/{}", run_id, follow_up_id), options=options
        )

    async def cancel(self, run_id: str, **options: Unpack[RequestOptions]) -> str:
        """Cancels a run that has not ended. The result is its id."""
        return await self._client._request(str, "POST", path("/agent/runs/{}/cancel", run_id), options=options)

    async def cancel_many(
        self, *, run_ids: Sequence[str], **options: Unpack[RequestOptions]
    ) -> models.CancelRunsResponse:
        """Cancels up to 100 runs. The result says for each what happened.

        Args:
            run_ids: The ids of the runs, at most 100.
        """
        return await self._client._request(
            models.CancelRunsResponse,
            "POST",
            "/agent/runs/cancel",
            body={"run_ids": run_ids},
            options=options,
        )

    async def retry(self, run_id: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Starts a new run with the prompt and the resolved configuration of this one."""
        return await self._client._request(
            models.RunAgentResponse, "POST", path("/agent/runs/{}/retry", run_id), options=options
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

    async def approve(
        self,
        run_id: str,
        *,
        approve: bool,
        inputs_hash: str,
        comment: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunStateResponse:
        """Approves or refuses what waits for an approval. `inputs_hash` is that of the approval which you have
        read: if the inputs have changed since then, a `ConflictError` is raised.

        Args:
            approve: false: the run is refused and cancelled, or the follow-up is withdrawn and the run continues.
            inputs_hash: `approval.inputs_hash` of the run, or of one follow-up. It says what the decision is about.
            comment: Published together with the decision.
        """
        return await self._client._request(
            models.RunStateResponse,
            "POST",
            path("/agent/runs/{}/approval", run_id),
            body={"approve": approve, "inputs_hash": inputs_hash, "comment": comment},
            options=options,
        )

    async def answer(
        self, run_id: str, permission_id: str, *, option_id: str, **options: Unpack[RequestOptions]
    ) -> models.RunStateResponse:
        """Answers a question of the agent by choosing one of its options.

        Args:
            option_id: One of the agent's options: `permission.options` of the run.
        """
        return await self._client._request(
            models.RunStateResponse,
            "POST",
            path("/agent/runs/{}/permissions/{}", run_id, permission_id),
            body={"option_id": option_id},
            options=options,
        )

    async def share(
        self,
        run_id: str,
        *,
        access: Literal["VIEWER", "EDITOR"] | Omit = OMIT,
        expires_at: str | datetime | Omit = OMIT,
        expires_in_seconds: int | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.IssuedShareLink:
        """Creates a link that shows the run to everyone who has it. Only this response contains its address.

        Args:
            access: Default: `VIEWER`. `EDITOR` requires that the team's `sharing` is `editor`.
            expires_at: When the link expires: in the future, and within a year.
            expires_in_seconds: The lifetime of the link, instead of `expires_at`. Default: 7 days; maximum: one year.
        """
        return await self._client._request(
            models.IssuedShareLink,
            "POST",
            path("/agent/runs/{}/share-links", run_id),
            body={"access": access, "expires_at": expires_at, "expires_in_seconds": expires_in_seconds},
            options=options,
        )

    def share_links(
        self, run_id: str, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.ShareLink, models.ListShareLinksResponse]:
        """Lists the links that show the run."""
        return self._client._list(
            models.ListShareLinksResponse,
            "share_links",
            path("/agent/runs/{}/share-links", run_id),
            options=options,
        )

    async def unshare(self, run_id: str, link_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a link. It no longer shows the run."""
        return await self._client._request(
            models.Success, "DELETE", path("/agent/runs/{}/share-links/{}", run_id, link_id), options=options
        )

    def webhook_deliveries(
        self,
        run_id: str,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        state: Literal["waiting", "delivered", "dead"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.WebhookDelivery, models.ListWebhookDeliveriesResponse]:
        """Lists the messages to the webhook that the run was created with, the newest first.

        Args:
            limit: The maximum number of deliveries.
            cursor: `next_cursor` of the previous page. Requires the same filters.
            state: Only deliveries in this state.
        """
        return self._client._list(
            models.ListWebhookDeliveriesResponse,
            "deliveries",
            path("/agent/runs/{}/webhook-deliveries", run_id),
            query={"limit": limit, "cursor": cursor, "state": state},
            options=options,
        )

    async def replay_webhook_delivery(
        self, run_id: str, delivery_id: str, **options: Unpack[RequestOptions]
    ) -> models.WebhookDelivery:
        """Sends a message to the webhook of the run again."""
        return await self._client._request(
            models.WebhookDelivery,
            "POST",
            path("/agent/runs/{}/webhook-deliveries/{}/replay", run_id, delivery_id),
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
        """Waits until the run has ended, and returns it. It follows the events of the run, so the result comes at once.
        With `max_wait`, it waits at most so many seconds, and then raises `APITimeoutError`.

        Args:
            until_blocked: Whether the wait also ends when the run is BLOCKED, because it waits for a person.
        """
        # Read first, so that no change between the two requests is missed.
        last = await self.stored_events(run_id, tail=1)
        ends = ENDED | {"BLOCKED"} if until_blocked else ENDED
        run = await self.retrieve(run_id)
        if run.state in ends:
            return run
        async for event in self.events(run_id, after=last.next_after, **options):
            if isinstance(event, models.RunStateEvent) and event.to in ends:
                break
        return await self.retrieve(run_id)

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
