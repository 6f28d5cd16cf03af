from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncInstallationsWithRawResponse
    from ..streaming import AsyncInstallationsWithStreamingResponse


class AsyncInstallations:
    """Installations: the Slack workspaces and GitHub organizations that the service is connected to."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncInstallationsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncInstallationsWithRawResponse

        return AsyncInstallationsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncInstallationsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncInstallationsWithStreamingResponse

        return AsyncInstallationsWithStreamingResponse(self)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.Installation, models.ListInstallationsResponse]:
        """Lists the installations of the team; operators get those of all teams.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListInstallationsResponse,
            "installations",
            "/agent/installations",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def guides(self, **options: Unpack[RequestOptions]) -> models.ListInstallationGuidesResponse:
        """Gets the steps that connect Slack, GitHub and the like with the server. Only for operators."""
        return await self._client._request(
            models.ListInstallationGuidesResponse, "GET", "/agent/installations/guides", options=options
        )

    async def apply_app(
        self,
        adapter: str,
        *,
        token: str | Omit = OMIT,
        refresh_token: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.PlatformApp:
        """Creates the app on a platform with a token, or updates it. Only for operators.

        Args:
            token: A token of the platform that may create and update apps. Default: the stored one.
            refresh_token: Replaces the token when it has expired. Needed with `token`.
        """
        return await self._client._request(
            models.PlatformApp,
            "PUT",
            path("/agent/installations/guides/{}/app", adapter),
            body={"token": token, "refresh_token": refresh_token},
            options=options,
        )

    async def remove_settings(self, adapter: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Removes what the server stored when it created the app of a platform, which is then off. Only for operators."""
        return await self._client._request(
            models.Success,
            "DELETE",
            path("/agent/installations/guides/{}/settings", adapter),
            options=options,
        )

    async def retrieve(self, installation_id: str, **options: Unpack[RequestOptions]) -> models.Installation:
        """Gets an installation."""
        return await self._client._request(
            models.Installation, "GET", path("/agent/installations/{}", installation_id), options=options
        )

    async def update(
        self,
        installation_id: str,
        *,
        name: str | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        team_uid: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Installation:
        """Renames an installation, enables or disables it, or assigns it to another team.

        Args:
            name: A name for the list of installations.
            enabled: false: events from the installation are refused. Operators cannot enable what belongs to
                another team with an administrator.
            team_uid: For operators: the uid of the team that will own the installation. A team with an
                administrator is offered it (`offered_team_uid`), and an administrator of that team accepts by
                sending the uid of the team here. The uid of the present team takes an offer back. Existing
                runs keep their team.
        """
        return await self._client._request(
            models.Installation,
            "PATCH",
            path("/agent/installations/{}", installation_id),
            body={"name": name, "enabled": enabled, "team_uid": team_uid},
            options=options,
        )
