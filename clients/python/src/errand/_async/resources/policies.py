from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncPoliciesWithRawResponse
    from ..streaming import AsyncPoliciesWithStreamingResponse


class AsyncPolicies:
    """Policies: which actions are allowed, forbidden, or need an approval."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncPoliciesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncPoliciesWithRawResponse

        return AsyncPoliciesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncPoliciesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncPoliciesWithStreamingResponse

        return AsyncPoliciesWithStreamingResponse(self)

    async def create(
        self,
        *,
        name: str,
        effect: Literal["allow", "deny", "require_approval"],
        priority: int | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        match: params.PolicyMatch | Omit = OMIT,
        reason: str | Omit = OMIT,
        refusal: Literal["comment", "reaction", "silent"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Policy:
        """Creates a policy. It takes effect within moments.

        Args:
            name: Unique in the team.
            effect: `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new
                run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
            priority: The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default:
                100.
            enabled: Whether the rule is active. Default: true.
            match: All conditions must hold. A list holds if one of its values matches. A condition about an
                unknown value does not hold. Without conditions, everything matches.
            reason: Shown to callers that are refused or must wait.
            refusal: How a message that the policy refuses is answered in its thread: by a comment with the reason,
                by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the
                repository says, otherwise by a comment. Calls of the API always get the reason.
        """
        return await self._client._request(
            models.Policy,
            "POST",
            "/agent/policies",
            body={
                "name": name,
                "priority": priority,
                "enabled": enabled,
                "effect": effect,
                "match": match,
                "reason": reason,
                "refusal": refusal,
            },
            options=options,
        )

    async def retrieve(self, policy_id: str, **options: Unpack[RequestOptions]) -> models.Policy:
        """Gets a policy."""
        return await self._client._request(models.Policy, "GET", path("/agent/policies/{}", policy_id), options=options)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.Policy, models.ListPoliciesResponse]:
        """Lists the policies of the team in their order. The built-in ones come last.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListPoliciesResponse,
            "policies",
            "/agent/policies",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def replace(
        self,
        policy_id: str,
        *,
        name: str,
        effect: Literal["allow", "deny", "require_approval"],
        priority: int | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        match: params.PolicyMatch | Omit = OMIT,
        reason: str | Omit = OMIT,
        refusal: Literal["comment", "reaction", "silent"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Policy:
        """Replaces a policy. Members that are left out get their default. A built-in policy cannot be replaced.

        Args:
            name: Unique in the team.
            effect: `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new
                run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
            priority: The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default:
                100.
            enabled: Whether the rule is active. Default: true.
            match: All conditions must hold. A list holds if one of its values matches. A condition about an
                unknown value does not hold. Without conditions, everything matches.
            reason: Shown to callers that are refused or must wait.
            refusal: How a message that the policy refuses is answered in its thread: by a comment with the reason,
                by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the
                repository says, otherwise by a comment. Calls of the API always get the reason.
        """
        return await self._client._request(
            models.Policy,
            "PUT",
            path("/agent/policies/{}", policy_id),
            body={
                "name": name,
                "priority": priority,
                "enabled": enabled,
                "effect": effect,
                "match": match,
                "reason": reason,
                "refusal": refusal,
            },
            options=options,
        )

    async def delete(self, policy_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a policy. A built-in policy cannot be deleted."""
        return await self._client._request(
            models.Success, "DELETE", path("/agent/policies/{}", policy_id), options=options
        )

    async def evaluate(
        self,
        *,
        action: Literal["create", "follow_up", "steer", "cancel", "answer", "approve"],
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
        principal_uid: str | Omit = OMIT,
        integration: str | Omit = OMIT,
        installation: str | Omit = OMIT,
        place: str | Omit = OMIT,
        request_kind: Literal[
            "mention",
            "command",
            "description",
            "review",
            "review_requested",
            "label",
            "changes_requested",
            "failing_checks",
            "merge_conflict",
            "pull_request_opened",
            "new_commits",
        ]
        | Omit = OMIT,
        environment_id: str | Omit = OMIT,
        agent: str | Omit = OMIT,
        roles: Sequence[
            Literal["write", "read", "member", "guest", "external", "bot", "outside", "participant", "administrator"]
        ]
        | Omit = OMIT,
        bot: str | Omit = OMIT,
        groups: Sequence[str] | Omit = OMIT,
        model: str | Omit = OMIT,
        priority: Literal["high", "normal", "low"] | Omit = OMIT,
        repositories: Sequence[str] | Omit = OMIT,
        relation: Literal["own", "others"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.PolicyVerdict:
        """Says what the policies decide about an action, without doing it.

        Args:
            action: The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy
                for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is
                allowed to administrators, and to principals that a policy allows by name.
            source: Default: `API`.
            principal_uid: The uid of the principal that acts.
            integration: The integration of the request.
            installation: The workspace, organisation or account.
            place: The channel or repository.
            request_kind: How a message asks for work.
            environment_id: The environment of the run.
            agent: The agent of the run.
            roles: The roles of the caller.
            bot: The id of the bot that asks.
            groups: The groups of the caller.
            model: The model that the configuration of the run names.
            priority: The priority of the run. Unknown if absent.
            repositories: The repositories of the run, as `owner/name`.
            relation: Whether the run is the caller's own. Unknown if absent.
        """
        return await self._client._request(
            models.PolicyVerdict,
            "POST",
            "/agent/policies/evaluate",
            body={
                "action": action,
                "source": source,
                "principal_uid": principal_uid,
                "integration": integration,
                "installation": installation,
                "place": place,
                "request_kind": request_kind,
                "environment_id": environment_id,
                "agent": agent,
                "roles": roles,
                "bot": bot,
                "groups": groups,
                "model": model,
                "repositories": repositories,
                "priority": priority,
                "relation": relation,
            },
            options=options,
        )
