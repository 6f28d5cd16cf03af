from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator
from ._run_input import AsyncRunInput
from ._run_reader import AsyncRunReader

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncRunsWithRawResponse
    from ..streaming import AsyncRunsWithStreamingResponse


class AsyncRuns(AsyncRunReader, AsyncRunInput):
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
        from ..streaming import AsyncRunsWithStreamingResponse

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

    async def create_many(
        self, *, runs: Sequence[params.RunOfBatch], **options: Unpack[RequestOptions]
    ) -> models.CreateRunsResponse:
        """Starts up to 50 runs. The results are in the order of the runs, and each has the new run or its own `error`.

        Args:
            runs: The runs to start, at most 50.
        """
        return await self._client._request(
            models.CreateRunsResponse, "POST", "/agent/runs/batch", body={"runs": runs}, options=options
        )

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
        source: str | Sequence[str] | Omit = OMIT,
        task_status: Sequence[Literal["running", "failed", "blocked", "cancelled", "complete"]] | Omit = OMIT,
        created_after: str | datetime | Omit = OMIT,
        created_before: str | datetime | Omit = OMIT,
        updated_after: str | datetime | Omit = OMIT,
        updated_before: str | datetime | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        skill: str | Omit = OMIT,
        skill_spec: str | Omit = OMIT,
        repository: str | Omit = OMIT,
        schedule_id: str | Omit = OMIT,
        conversation_id: str | Omit = OMIT,
        parent_run_id: str | Omit = OMIT,
        fields: str | Omit = OMIT,
        ancestor_run_id: str | Omit = OMIT,
        artifact_type: str | Omit = OMIT,
        execution_location: Literal["LOCAL", "REMOTE"] | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        q: str | Omit = OMIT,
        automation_id: str | Omit = OMIT,
        factory_uid: Sequence[str] | Omit = OMIT,
        factory_only: Literal["true", "false"] | Omit = OMIT,
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
            source: One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be
                repeated.
            task_status: One of these states of the run together with the runs below it. `running`: one of them is
                neither ended nor blocked. The others are states of the run at the top. Can be repeated.
            created_after: Only runs created after this time (RFC 3339).
            created_before: Only runs created before this time (RFC 3339).
            updated_after: Only runs changed after this time (RFC 3339).
            updated_before: Only runs changed before this time (RFC 3339).
            environment_id: The environment of the run. `empty-environment`: runs without an environment.
            skill: The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in
                `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its
                owner, matches nothing.
            skill_spec: An alias of `skill`.
            repository: A repository in which the run works: its own or one of its environment. `owner/name` or an
                address, in any case.
            schedule_id: The schedule that started the run.
            conversation_id: Only the runs of this conversation.
            parent_run_id: Only runs directly below this run.
            fields: Only these members of a run, separated by commas. Without it, all that the run has.
            ancestor_run_id: Only runs below this run, at any depth.
            artifact_type: Only runs that produced an artifact of this type.
            execution_location: Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL`
                matches none.
            metadata: `metadata[key]=value`: all of these pairs, at most 5.
            q: Words that must all occur in the title, the prompt or the skill. Parts of words match, and
                case is ignored. Or the id of a run, or the address of its page.
            automation_id: The same as `metadata[automation_id]`.
            factory_uid: For clients of another server. No run of this one belongs to a factory, so any value
                matches nothing.
            factory_only: `true` matches nothing, see `factory_uid`.
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
                "task_status": task_status,
                "created_after": created_after,
                "created_before": created_before,
                "updated_after": updated_after,
                "updated_before": updated_before,
                "environment_id": environment_id,
                "skill": skill,
                "skill_spec": skill_spec,
                "repository": repository,
                "schedule_id": schedule_id,
                "conversation_id": conversation_id,
                "parent_run_id": parent_run_id,
                "fields": fields,
                "ancestor_run_id": ancestor_run_id,
                "artifact_type": artifact_type,
                "execution_location": execution_location,
                "metadata": metadata,
                "q": q,
                "automation_id": automation_id,
                "factory_uid": factory_uid,
                "factory_only": factory_only,
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

    async def find_by_reference(self, *, url: str, **options: Unpack[RequestOptions]) -> models.RunReference:
        """Finds the newest run that a message, an issue or a pull request started, or that made it.

        Args:
            url: The address as the platform shows it, without a `/` at its end.
        """
        return await self._client._request(
            models.RunReference, "GET", "/agent/run-by-external-reference", query={"url": url}, options=options
        )

    async def delete(self, run_id: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an ended run with everything that it left: events, files, deliveries."""
        await self._client._request(None, "DELETE", path("/agent/runs/{}", run_id), options=options)

    async def interrupt(self, run_id: str, **options: Unpack[RequestOptions]) -> None:
        """Ends the current turn, but not the run: it waits for the next follow-up."""
        await self._client._request(None, "POST", path("/agent/runs/{}/interrupt", run_id), options=options)

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

    async def cancel_matching(
        self, *, filter: params.RunFilter, expected: int, **options: Unpack[RequestOptions]
    ) -> models.CancelRunsResponse:
        """Cancels the runs that a filter matches and that have not ended.

        Args:
            filter: Filters as in `list`. All must match. An unknown or empty one is refused.
            expected: How many runs that have not ended the filter matches. If the number differs by more than a tenth,
                nothing is cancelled, and `matching_runs` of the `ConflictError` is the number.
        """
        return await self._client._request(
            models.CancelRunsResponse,
            "POST",
            "/agent/runs/cancel",
            body={"filter": filter, "expected": expected},
            options=options,
        )

    async def retry(self, run_id: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Starts a new run with the prompt and the resolved configuration of this one."""
        return await self._client._request(
            models.RunAgentResponse, "POST", path("/agent/runs/{}/retry", run_id), options=options
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
        self, run_id: str, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.ShareLink, models.ListShareLinksResponse]:
        """Lists the links that show the run.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListShareLinksResponse,
            "share_links",
            path("/agent/runs/{}/share-links", run_id),
            query={"limit": limit, "cursor": cursor},
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
