from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient


#: For methods with a parameter `path`.
address = path


class AsyncRunInput:
    """The part of `AsyncRuns` for what people send to a run: follow-ups, approvals and answers."""

    _client: AsyncApiClient

    async def follow_up(
        self,
        run_id: str,
        *,
        message: str | Omit = OMIT,
        comments: Sequence[params.SentLineComment] | Omit = OMIT,
        attachments: Sequence[params.FollowupAttachment] | Omit = OMIT,
        images: Sequence[params.RunFollowupRequestImage] | Omit = OMIT,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        delivery: Literal["queue", "interrupt", "steer"] | Omit = OMIT,
        visibility: Literal["thread", "private"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RunFollowupResponse:
        """Sends a message to the agent. An ended run continues with it. An open question may be answered by it.

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
            models.RunFollowupResponse,
            "POST",
            path("/agent/runs/{}/followups", run_id),
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

    async def retrieve_follow_up(
        self, run_id: str, follow_up_id: str, **options: Unpack[RequestOptions]
    ) -> models.RunFollowup:
        """Gets a follow-up."""
        return await self._client._request(
            models.RunFollowup,
            "GET",
            path("/agent/runs/{}/followups/{}", run_id, follow_up_id),
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

    def draft_comments(
        self, run_id: str, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.DraftComment, models.ListDraftCommentsResponse]:
        """Lists your comments on the changes of the run that are not sent. A follow-up sends them.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListDraftCommentsResponse,
            "draft_comments",
            path("/agent/runs/{}/draft-comments", run_id),
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def put_draft_comment(
        self,
        run_id: str,
        draft_id: str,
        *,
        path: str,
        side: Literal["left", "right"],
        line: int,
        hunk: str,
        body: str,
        repository: str | Omit = OMIT,
        start_line: int | Omit = OMIT,
        commit_id: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.DraftComment:
        """Keeps a comment under an id of your choice, a UUID, or replaces the one with this id.

        Args:
            path: The path of the file, at most 4096 characters.
            side: `left`: the file before the changes. `right`: the file after them.
            line: The line, counted from 1 on its side. Of several lines, the last one.
            hunk: The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
            body: The comment, at most 10000 characters.
            repository: `owner/name`, as the changes of the run name it. It may be left out if there is only one.
            start_line: The first of several lines.
            commit_id: The commit whose version was commented on, if it is pushed.
        """
        return await self._client._request(
            models.DraftComment,
            "PUT",
            address("/agent/runs/{}/draft-comments/{}", run_id, draft_id),
            body={
                "path": path,
                "side": side,
                "line": line,
                "hunk": hunk,
                "body": body,
                "repository": repository,
                "start_line": start_line,
                "commit_id": commit_id,
            },
            options=options,
        )

    async def delete_draft_comment(self, run_id: str, draft_id: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a comment that is not sent."""
        await self._client._request(
            None, "DELETE", path("/agent/runs/{}/draft-comments/{}", run_id, draft_id), options=options
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
