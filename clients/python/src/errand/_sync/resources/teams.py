# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import TeamsWithRawResponse
    from ..streaming import TeamsWithStreamingResponse


class Teams:
    """Teams. What belongs to one is invisible to the others."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> TeamsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import TeamsWithRawResponse

        return TeamsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> TeamsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import TeamsWithStreamingResponse

        return TeamsWithStreamingResponse(self)

    def create(self, *, name: str, **options: Unpack[RequestOptions]) -> models.Team:
        """Creates a team. Only for operators.

        Args:
            name: Unique on this server.
        """
        return self._client._request(models.Team, "POST", "/agent/teams", body={"name": name}, options=options)

    def retrieve(self, team_uid: str, **options: Unpack[RequestOptions]) -> models.Team:
        """Gets a team."""
        return self._client._request(models.Team, "GET", path("/agent/teams/{}", team_uid), options=options)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.Team, models.ListTeamsResponse]:
        """Lists your team; operators get all teams.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListTeamsResponse, "teams", "/agent/teams", query={"limit": limit, "cursor": cursor}, options=options
        )

    def update(
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
        return self._client._request(
            models.Team,
            "PATCH",
            path("/agent/teams/{}", team_uid),
            body={"name": name, "sharing": sharing},
            options=options,
        )
