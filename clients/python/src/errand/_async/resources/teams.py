from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncTeamsWithRawResponse
    from ..streaming import AsyncTeamsWithStreamingResponse


class AsyncTeams:
    """Teams. What belongs to one is invisible to the others."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncTeamsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncTeamsWithRawResponse

        return AsyncTeamsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncTeamsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncTeamsWithStreamingResponse

        return AsyncTeamsWithStreamingResponse(self)

    async def create(self, *, name: str, **options: Unpack[RequestOptions]) -> models.Team:
        """Creates a team. Only for operators.

        Args:
            name: Unique on this server.
        """
        return await self._client._request(models.Team, "POST", "/agent/teams", body={"name": name}, options=options)

    async def retrieve(self, team_uid: str, **options: Unpack[RequestOptions]) -> models.Team:
        """Gets a team."""
        return await self._client._request(models.Team, "GET", path("/agent/teams/{}", team_uid), options=options)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.Team, models.ListTeamsResponse]:
        """Lists your team; operators get all teams.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListTeamsResponse, "teams", "/agent/teams", query={"limit": limit, "cursor": cursor}, options=options
        )

    async def update(
        self,
        team_uid: str,
        *,
        name: str | Omit = OMIT,
        sharing: Literal["off", "viewer", "editor"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Team:
        """Changes the name of a team, or what its runs may share with guests.

        Args:
            name: Unique on this server.
            sharing: What runs of the team may share with guests because their `config.session_sharing` says so:
                nothing, a link for viewing, or also a link for editing. Share links for editing exist only
                with `editor`.
        """
        return await self._client._request(
            models.Team,
            "PATCH",
            path("/agent/teams/{}", team_uid),
            body={"name": name, "sharing": sharing},
            options=options,
        )
