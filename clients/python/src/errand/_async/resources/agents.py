from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncAgentsWithRawResponse
    from ..streaming import AsyncAgentsWithStreamingResponse


class AsyncAgents:
    """Named agents: service accounts with a prompt and a configuration of their own."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncAgentsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncAgentsWithRawResponse

        return AsyncAgentsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncAgentsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncAgentsWithStreamingResponse

        return AsyncAgentsWithStreamingResponse(self)

    async def create(
        self,
        *,
        name: str,
        description: str | Omit = OMIT,
        prompt: str | Omit = OMIT,
        base_model: str | Omit = OMIT,
        harness: params.CreateNamedAgentRequestHarness | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        mcp_servers: Mapping[str, params.MCPServerConfig] | Omit = OMIT,
        skills: Sequence[str] | Omit = OMIT,
        secrets: Sequence[params.SecretRef] | Omit = OMIT,
        worker_host: str | Omit = OMIT,
        on_behalf_of_enabled: bool | Omit = OMIT,
        harness_auth_secrets: object | Omit = OMIT,
        base_harness: object | Omit = OMIT,
        credential_strategy: object | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.NamedAgent:
        """Creates a named agent. `keys.create` with its uid makes keys for it.

        Args:
            name: The name of the agent.
            description: What the agent is for.
            prompt: The base prompt of its runs: instructions for the whole session.
            base_model: The model of its runs.
            harness: The agent program that does the work of its runs.
            environment_id: The environment of its runs: one of the team.
            mcp_servers: The MCP servers of its runs.
            skills: The skills of its runs.
            secrets: The only secrets of the team that its runs get. Empty: all of them.
            worker_host: The workers that execute its runs, by their name.
            on_behalf_of_enabled: Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
            harness_auth_secrets: Stored and returned, but without effect: the response that accepts it names it as ignored.
            base_harness: Stored and returned, but without effect: the response that accepts it names it as ignored.
            credential_strategy: Stored and returned, but without effect: the response that accepts it names it as ignored.
        """
        return await self._client._request(
            models.NamedAgent,
            "POST",
            "/agent/identities",
            body={
                "name": name,
                "description": description,
                "prompt": prompt,
                "base_model": base_model,
                "harness": harness,
                "environment_id": environment_id,
                "mcp_servers": mcp_servers,
                "skills": skills,
                "secrets": secrets,
                "worker_host": worker_host,
                "on_behalf_of_enabled": on_behalf_of_enabled,
                "harness_auth_secrets": harness_auth_secrets,
                "base_harness": base_harness,
                "credential_strategy": credential_strategy,
            },
            options=options,
        )

    async def retrieve(self, agent_uid: str, **options: Unpack[RequestOptions]) -> models.NamedAgent:
        """Gets a named agent."""
        return await self._client._request(
            models.NamedAgent, "GET", path("/agent/identities/{}", agent_uid), options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.NamedAgent, models.ListNamedAgentsResponse]:
        """Lists the named agents of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListNamedAgentsResponse,
            "agents",
            "/agent/identities",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def update(
        self,
        agent_uid: str,
        *,
        name: str | Omit = OMIT,
        description: str | Omit = OMIT,
        prompt: str | Omit = OMIT,
        base_model: str | Omit = OMIT,
        harness: params.UpdateNamedAgentRequestHarness | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        mcp_servers: Mapping[str, params.MCPServerConfig] | Omit = OMIT,
        skills: Sequence[str] | Omit = OMIT,
        secrets: Sequence[params.SecretRef] | Omit = OMIT,
        worker_host: str | Omit = OMIT,
        on_behalf_of_enabled: bool | Omit = OMIT,
        harness_auth_secrets: object | Omit = OMIT,
        base_harness: object | Omit = OMIT,
        credential_strategy: object | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.NamedAgent:
        """Changes a named agent. Runs that exist keep their configuration.

        Args:
            name: The name of the agent.
            description: What the agent is for.
            prompt: The base prompt of its runs: instructions for the whole session.
            base_model: The model of its runs.
            harness: The agent program that does the work of its runs.
            environment_id: The environment of its runs: one of the team.
            mcp_servers: The MCP servers of its runs.
            skills: The skills of its runs.
            secrets: The only secrets of the team that its runs get. Empty: all of them.
            worker_host: The workers that execute its runs, by their name.
            on_behalf_of_enabled: Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
            harness_auth_secrets: Stored and returned, but without effect: the response that accepts it names it as ignored.
            base_harness: Stored and returned, but without effect: the response that accepts it names it as ignored.
            credential_strategy: Stored and returned, but without effect: the response that accepts it names it as ignored.
        """
        return await self._client._request(
            models.NamedAgent,
            "PUT",
            path("/agent/identities/{}", agent_uid),
            body={
                "name": name,
                "description": description,
                "prompt": prompt,
                "base_model": base_model,
                "harness": harness,
                "environment_id": environment_id,
                "mcp_servers": mcp_servers,
                "skills": skills,
                "secrets": secrets,
                "worker_host": worker_host,
                "on_behalf_of_enabled": on_behalf_of_enabled,
                "harness_auth_secrets": harness_auth_secrets,
                "base_harness": base_harness,
                "credential_strategy": credential_strategy,
            },
            options=options,
        )

    async def delete(self, agent_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a named agent and revokes its keys. Its runs are kept."""
        await self._client._request(None, "DELETE", path("/agent/identities/{}", agent_uid), options=options)
