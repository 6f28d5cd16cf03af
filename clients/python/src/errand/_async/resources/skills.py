from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncSkillsWithRawResponse
    from ..streaming import AsyncSkillsWithStreamingResponse


class AsyncSkills:
    """Skills: the instructions that the repositories of the team offer to agents."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncSkillsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncSkillsWithRawResponse

        return AsyncSkillsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncSkillsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncSkillsWithStreamingResponse

        return AsyncSkillsWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        repo: str | Omit = OMIT,
        refresh: bool | Omit = OMIT,
        sort_by: Literal["name", "last_run"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.AgentSkill, models.ListAgentsResponse]:
        """Lists the skills of the team's repositories, or of the repository `repo`.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
            repo: `owner/repo`: only the skills of this repository. Default: the skills of all environments of
                the team.
            refresh: `true`: read the repositories now. Default: a copy that is at most one minute old.
            sort_by: `last_run`: the most recently used skill first, unused skills last.
        """
        return self._client._list(
            models.ListAgentsResponse,
            "agents",
            "/agent",
            query={"limit": limit, "cursor": cursor, "repo": repo, "refresh": refresh, "sort_by": sort_by},
            options=options,
        )
