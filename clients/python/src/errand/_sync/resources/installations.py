# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import InstallationsWithRawResponse
    from ..streaming import InstallationsWithStreamingResponse


class Installations:
    """Installations: the Slack workspaces and GitHub organizations that the service is connected to."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> InstallationsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import InstallationsWithRawResponse

        return InstallationsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> InstallationsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import InstallationsWithStreamingResponse

        return InstallationsWithStreamingResponse(self)

    def list(
        self, **options: Unpack[RequestOptions]
    ) -> Paginator[models.Installation, models.ListInstallationsResponse]:
        """Lists the installations of the team; operators get those of all teams."""
        return self._client._list(
            models.ListInstallationsResponse, "installations", "/agent/installations", options=options
        )

    def guides(self, **options: Unpack[RequestOptions]) -> models.ListInstallationGuidesResponse:
        """Gets the steps that connect Slack, GitHub and the like with the server. Only for operators."""
        return self._client._request(
            models.ListInstallationGuidesResponse, "GET", "/agent/installations/guides", options=options
        )

    def update(
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
        return self._client._request(
            models.Installation,
            "PATCH",
            path("/agent/installations/{}", installation_id),
            body={"name": name, "enabled": enabled, "team_uid": team_uid},
            options=options,
        )
