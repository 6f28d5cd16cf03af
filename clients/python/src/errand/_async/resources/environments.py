from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncEnvironmentsWithRawResponse
    from ..streaming import AsyncEnvironmentsWithStreamingResponse


class AsyncEnvironments:
    """Environments: the repositories, image, variables and setup commands that runs start with."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncEnvironmentsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncEnvironmentsWithRawResponse

        return AsyncEnvironmentsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncEnvironmentsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncEnvironmentsWithStreamingResponse

        return AsyncEnvironmentsWithStreamingResponse(self)

    async def create(
        self, *, config: params.EnvironmentConfig, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Environment:
        """Creates an environment.

        Args:
            config: What an agent works in: repositories, image and setup.
            team: false: only the creator and administrators can see and use it. Default: true.
        """
        return await self._client._request(
            models.Environment,
            "POST",
            "/agent/environments",
            body={"config": config, "team": team},
            options=options,
        )

    async def retrieve(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.Environment:
        """Gets an environment."""
        return await self._client._request(
            models.Environment, "GET", path("/agent/environments/{}", environment_uid), options=options
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        sort_by: Literal["last_updated", "name"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.Environment, models.ListEnvironmentsResponse]:
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

    async def replace(
        self, environment_uid: str, *, config: params.EnvironmentConfig, **options: Unpack[RequestOptions]
    ) -> models.Environment:
        """Replaces an environment. Members that are left out get their default. Runs that have started keep the
        previous one.

        Args:
            config: What an agent works in: repositories, image and setup.
        """
        return await self._client._request(
            models.Environment,
            "PUT",
            path("/agent/environments/{}", environment_uid),
            body={"config": config},
            options=options,
        )

    async def delete(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes an environment. Runs keep its uid, and new runs that name it are refused."""
        return await self._client._request(
            models.Success, "DELETE", path("/agent/environments/{}", environment_uid), options=options
        )

    async def test(self, environment_uid: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Prepares the environment once, without an agent. The result is a run; when it ends, `setup_failed` of
        the environment says whether it worked."""
        return await self._client._request(
            models.RunAgentResponse,
            "POST",
            path("/agent/environments/{}/test", environment_uid),
            options=options,
        )
