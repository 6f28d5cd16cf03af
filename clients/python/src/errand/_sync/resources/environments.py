# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import EnvironmentsWithRawResponse
    from ..streaming import EnvironmentsWithStreamingResponse


class Environments:
    """Environments: the repositories, image, variables and setup commands that runs start with."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> EnvironmentsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import EnvironmentsWithRawResponse

        return EnvironmentsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> EnvironmentsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import EnvironmentsWithStreamingResponse

        return EnvironmentsWithStreamingResponse(self)

    def create(
        self, *, config: params.EnvironmentConfig, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Environment:
        """Creates an environment.

        Args:
            config: What an agent works in: repositories, image and setup.
            team: false: only the creator and administrators can see and use it. Default: true.
        """
        return self._client._request(
            models.Environment,
            "POST",
            "/agent/environments",
            body={"config": config, "team": team},
            options=options,
        )

    def retrieve(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.Environment:
        """Gets an environment."""
        return self._client._request(
            models.Environment, "GET", path("/agent/environments/{}", environment_uid), options=options
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        sort_by: Literal["last_updated", "name"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> Paginator[models.Environment, models.ListEnvironmentsResponse]:
        """Lists the environments of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
            sort_by: `last_updated`: the most recently changed first. `name`: in alphabetical order.
        """
        return self._client._list(
            models.ListEnvironmentsResponse,
            "environments",
            "/agent/environments",
            query={"limit": limit, "cursor": cursor, "sort_by": sort_by},
            options=options,
        )

    def replace(
        self, environment_uid: str, *, config: params.EnvironmentConfig, **options: Unpack[RequestOptions]
    ) -> models.Environment:
        """Replaces an environment. Members that are left out get their default. Runs that have started keep the
        previous one.

        Args:
            config: What an agent works in: repositories, image and setup.
        """
        return self._client._request(
            models.Environment,
            "PUT",
            path("/agent/environments/{}", environment_uid),
            body={"config": config},
            options=options,
        )

    def delete(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes an environment. Runs keep its uid, and new runs that name it are refused."""
        return self._client._request(
            models.Success, "DELETE", path("/agent/environments/{}", environment_uid), options=options
        )

    def test(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Prepares the environment once, without an agent. The result is a run; when it ends, `setup_failed` of
        the environment says whether it worked."""
        return self._client._request(
            models.RunAgentResponse,
            "POST",
            path("/agent/environments/{}/test", environment_uid),
            options=options,
        )
