# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import McpServersWithRawResponse
    from ..streaming import McpServersWithStreamingResponse


class McpServers:
    """MCP servers that the team's runs can name by `warp_id`."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> McpServersWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import McpServersWithRawResponse

        return McpServersWithRawResponse(self)

    @property
    def with_streaming_response(self) -> McpServersWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import McpServersWithStreamingResponse

        return McpServersWithStreamingResponse(self)

    def create(
        self,
        *,
        name: str,
        config: params.MCPServerConfig,
        description: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.McpServer:
        """Creates an MCP server. Its values are stored encrypted and never shown again.

        Args:
            name: Unique in the team.
            config: Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never
                shown. A value that is sent back as `[redacted]` stays as it is.
            description: What the server is for.
        """
        return self._client._request(
            models.McpServer,
            "POST",
            "/agent/mcp-servers",
            body={"name": name, "description": description, "config": config},
            options=options,
        )

    def retrieve(self, server_uid: str, **options: Unpack[RequestOptions]) -> models.McpServer:
        """Gets an MCP server, without its values."""
        return self._client._request(
            models.McpServer, "GET", path("/agent/mcp-servers/{}", server_uid), options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.McpServer, models.ListMcpServersResponse]:
        """Lists the MCP servers of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListMcpServersResponse,
            "mcp_servers",
            "/agent/mcp-servers",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def replace(
        self,
        server_uid: str,
        *,
        name: str,
        config: params.MCPServerConfig,
        description: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.McpServer:
        """Replaces an MCP server. Agents that are working keep the previous one until they end.

        Args:
            name: Unique in the team.
            config: Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never
                shown. A value that is sent back as `[redacted]` stays as it is.
            description: What the server is for.
        """
        return self._client._request(
            models.McpServer,
            "PUT",
            path("/agent/mcp-servers/{}", server_uid),
            body={"name": name, "description": description, "config": config},
            options=options,
        )

    def delete(self, server_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an MCP server. Runs that name it fail when their agent starts the next time."""
        self._client._request(None, "DELETE", path("/agent/mcp-servers/{}", server_uid), options=options)
