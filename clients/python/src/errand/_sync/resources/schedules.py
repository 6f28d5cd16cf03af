# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models, params
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import SchedulesWithRawResponse
    from ..streaming import SchedulesWithStreamingResponse


class Schedules:
    """Schedules: runs that start at times given by a cron expression."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> SchedulesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import SchedulesWithRawResponse

        return SchedulesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> SchedulesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import SchedulesWithStreamingResponse

        return SchedulesWithStreamingResponse(self)

    def create(
        self,
        *,
        name: str,
        cron_schedule: str,
        prompt: str | Omit = OMIT,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        agent_uid: str | Omit = OMIT,
        agent_config: params.AmbientAgentConfig | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        team: bool | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.ScheduledAgentItem:
        """Creates a schedule. Its runs have your rights, except the administrator right.

        Args:
            name: The name of the schedule and the title of its runs.
            cron_schedule: Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists,
                ranges and steps are allowed.
            prompt: The prompt of the runs. Required unless a skill is named.
            mode: The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work.
                The agent's own mode of that name is used if it has one; otherwise the mode is described in
                the prompt. Default: `normal`.
            agent_uid: The uid of the named agent that executes the runs. Default: the creator.
            agent_config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
            metadata: The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have
                up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
            enabled: Whether the schedule is active. Default: true.
            team: false: only the creator and administrators can see the schedule and its runs. Default: true.
        """
        return self._client._request(
            models.ScheduledAgentItem,
            "POST",
            "/agent/schedules",
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "prompt": prompt,
                "mode": mode,
                "agent_uid": agent_uid,
                "agent_config": agent_config,
                "metadata": metadata,
                "enabled": enabled,
                "team": team,
            },
            options=options,
        )

    def retrieve(self, schedule_id: str, **options: Unpack[RequestOptions]) -> models.ScheduledAgentItem:
        """Gets a schedule."""
        return self._client._request(
            models.ScheduledAgentItem, "GET", path("/agent/schedules/{}", schedule_id), options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.ScheduledAgentItem, models.ListSchedulesResponse]:
        """Lists the schedules of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListSchedulesResponse,
            "schedules",
            "/agent/schedules",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def replace(
        self,
        schedule_id: str,
        *,
        name: str,
        cron_schedule: str,
        enabled: bool,
        prompt: str | Omit = OMIT,
        mode: Literal["normal", "plan", "orchestrate"] | Omit = OMIT,
        agent_uid: str | Omit = OMIT,
        agent_config: params.AmbientAgentConfig | Omit = OMIT,
        metadata: Mapping[str, str] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.ScheduledAgentItem:
        """Replaces a schedule.

        Args:
            name: The name of the schedule and the title of its runs.
            cron_schedule: Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists,
                ranges and steps are allowed.
            enabled: Whether the schedule is active.
            prompt: The prompt of the runs. Required unless a skill is named.
            mode: The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work.
                The agent's own mode of that name is used if it has one; otherwise the mode is described in
                the prompt. Default: `normal`.
            agent_uid: The uid of the named agent that executes the runs. Default: the creator.
            agent_config: The configuration of a run. Unknown members are stored and returned, and the response that
                accepts them names them as ignored.
            metadata: The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have
                up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
        """
        return self._client._request(
            models.ScheduledAgentItem,
            "PUT",
            path("/agent/schedules/{}", schedule_id),
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "prompt": prompt,
                "mode": mode,
                "agent_uid": agent_uid,
                "agent_config": agent_config,
                "metadata": metadata,
                "enabled": enabled,
            },
            options=options,
        )

    def delete(self, schedule_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a schedule. Its runs are kept."""
        return self._client._request(
            models.Success, "DELETE", path("/agent/schedules/{}", schedule_id), options=options
        )

    def pause(self, schedule_id: str, **options: Unpack[RequestOptions]) -> models.ScheduledAgentItem:
        """Pauses a schedule. Pausing a paused one is not an error."""
        return self._client._request(
            models.ScheduledAgentItem, "POST", path("/agent/schedules/{}/pause", schedule_id), options=options
        )

    def resume(self, schedule_id: str, **options: Unpack[RequestOptions]) -> models.ScheduledAgentItem:
        """Resumes a paused schedule. Due times during the pause are not made up."""
        return self._client._request(
            models.ScheduledAgentItem,
            "POST",
            path("/agent/schedules/{}/resume", schedule_id),
            options=options,
        )
