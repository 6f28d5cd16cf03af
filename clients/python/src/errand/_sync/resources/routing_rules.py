# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import RoutingRulesWithRawResponse
    from ..streaming import RoutingRulesWithStreamingResponse


class RoutingRules:
    """Routing rules: which environment, agent and model a message from Slack or GitHub gets."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> RoutingRulesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import RoutingRulesWithRawResponse

        return RoutingRulesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> RoutingRulesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import RoutingRulesWithStreamingResponse

        return RoutingRulesWithStreamingResponse(self)

    def create(
        self,
        *,
        name: str,
        priority: int | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        match: params.RoutingMatch | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        config: params.AmbientAgentConfig | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RoutingRule:
        """Creates a routing rule. It takes effect within moments.

        Args:
            name: Unique in the team.
            priority: The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default:
                100.
            enabled: Whether the rule is active. Default: true.
            match: All conditions must hold. A list holds if one of its values matches.
            environment_id: The environment that the request gets.
            config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
        """
        return self._client._request(
            models.RoutingRule,
            "POST",
            "/agent/routing-rules",
            body={
                "name": name,
                "priority": priority,
                "enabled": enabled,
                "match": match,
                "environment_id": environment_id,
                "config": config,
            },
            options=options,
        )

    def retrieve(self, rule_id: str, **options: Unpack[RequestOptions]) -> models.RoutingRule:
        """Gets a routing rule."""
        return self._client._request(
            models.RoutingRule, "GET", path("/agent/routing-rules/{}", rule_id), options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.RoutingRule, models.ListRoutingRulesResponse]:
        """Lists the routing rules of the team in their order.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListRoutingRulesResponse,
            "routing_rules",
            "/agent/routing-rules",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def replace(
        self,
        rule_id: str,
        *,
        name: str,
        priority: int | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        match: params.RoutingMatch | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        config: params.AmbientAgentConfig | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RoutingRule:
        """Replaces a routing rule. Members that are left out get their default.

        Args:
            name: Unique in the team.
            priority: The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default:
                100.
            enabled: Whether the rule is active. Default: true.
            match: All conditions must hold. A list holds if one of its values matches.
            environment_id: The environment that the request gets.
            config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
        """
        return self._client._request(
            models.RoutingRule,
            "PUT",
            path("/agent/routing-rules/{}", rule_id),
            body={
                "name": name,
                "priority": priority,
                "enabled": enabled,
                "match": match,
                "environment_id": environment_id,
                "config": config,
            },
            options=options,
        )

    def delete(self, rule_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a routing rule."""
        return self._client._request(
            models.Success, "DELETE", path("/agent/routing-rules/{}", rule_id), options=options
        )

    def evaluate(
        self,
        *,
        text: str | Omit = OMIT,
        source: Literal[
            "API",
            "SLACK",
            "LINEAR",
            "LOCAL",
            "SCHEDULED_AGENT",
            "WEB_APP",
            "GITHUB_ACTION",
            "CLOUD_MODE",
            "CLI",
            "JIRA",
            "GITHUB_WEBHOOK",
            "GITLAB_WEBHOOK",
        ]
        | Omit = OMIT,
        integration: str | Omit = OMIT,
        installation: str | Omit = OMIT,
        place: str | Omit = OMIT,
        config: params.AmbientAgentConfig | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RoutingResult:
        """Says what the rules choose for a request, without starting it.

        Args:
            text: The text of the request.
            source: Default: `API`.
            integration: The integration of the request.
            installation: The workspace, organisation or account.
            place: The channel or repository.
            config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
        """
        return self._client._request(
            models.RoutingResult,
            "POST",
            "/agent/routing-rules/evaluate",
            body={
                "text": text,
                "source": source,
                "integration": integration,
                "installation": installation,
                "place": place,
                "config": config,
            },
            options=options,
        )
