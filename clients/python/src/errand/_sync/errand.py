# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from .._request import RequestOptions
from ..models import Whoami
from .api_client import ApiClient
from .raw import ErrandWithRawResponse
from .resources.agents import Agents
from .resources.artifacts import Artifacts
from .resources.audit import Audit
from .resources.catalogue import Catalogue
from .resources.conversations import Conversations
from .resources.device_codes import DeviceCodes
from .resources.doctor import Doctor
from .resources.environments import Environments
from .resources.events import Events
from .resources.identity_links import IdentityLinks
from .resources.inbox import Inbox
from .resources.installations import Installations
from .resources.keys import Keys
from .resources.mcp_servers import McpServers
from .resources.models import Models
from .resources.notices import Notices
from .resources.policies import Policies
from .resources.principals import Principals
from .resources.quotas import Quotas
from .resources.routing_rules import RoutingRules
from .resources.runs import Runs
from .resources.schedules import Schedules
from .resources.secrets import Secrets
from .resources.sign_ins import SignIns
from .resources.skills import Skills
from .resources.teams import Teams
from .resources.threads import Threads
from .resources.usage import Usage
from .resources.webhooks import Webhooks
from .resources.workers import Workers
from .streaming import ErrandWithStreamingResponse


class Errand(ApiClient):
    """The client of an Errand server.

    Example:
        with Errand(base_url="https://errand.example.com", api_key="…") as client:
            run = client.runs.create(prompt="Mend the build")
    """

    @cached_property
    def agents(self) -> Agents:
        return Agents(self)

    @cached_property
    def artifacts(self) -> Artifacts:
        return Artifacts(self)

    @cached_property
    def audit(self) -> Audit:
        return Audit(self)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self)

    @cached_property
    def device_codes(self) -> DeviceCodes:
        return DeviceCodes(self)

    @cached_property
    def doctor(self) -> Doctor:
        return Doctor(self)

    @cached_property
    def environments(self) -> Environments:
        return Environments(self)

    @cached_property
    def events(self) -> Events:
        return Events(self)

    @cached_property
    def identity_links(self) -> IdentityLinks:
        return IdentityLinks(self)

    @cached_property
    def inbox(self) -> Inbox:
        return Inbox(self)

    @cached_property
    def installations(self) -> Installations:
        return Installations(self)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self)

    @cached_property
    def mcp_servers(self) -> McpServers:
        return McpServers(self)

    @cached_property
    def models(self) -> Models:
        return Models(self)

    @cached_property
    def notices(self) -> Notices:
        return Notices(self)

    @cached_property
    def policies(self) -> Policies:
        return Policies(self)

    @cached_property
    def principals(self) -> Principals:
        return Principals(self)

    @cached_property
    def quotas(self) -> Quotas:
        return Quotas(self)

    @cached_property
    def routing_rules(self) -> RoutingRules:
        return RoutingRules(self)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self)

    @cached_property
    def schedules(self) -> Schedules:
        return Schedules(self)

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(self)

    @cached_property
    def sign_ins(self) -> SignIns:
        return SignIns(self)

    @cached_property
    def skills(self) -> Skills:
        return Skills(self)

    @cached_property
    def teams(self) -> Teams:
        return Teams(self)

    @cached_property
    def threads(self) -> Threads:
        return Threads(self)

    @cached_property
    def usage(self) -> Usage:
        return Usage(self)

    @cached_property
    def webhooks(self) -> Webhooks:
        return Webhooks(self)

    @cached_property
    def workers(self) -> Workers:
        return Workers(self)

    def whoami(self, **options: Unpack[RequestOptions]) -> Whoami:
        """Gets the principal of the key, its team and what it may do."""
        return self._request(Whoami, "GET", "/agent/whoami", options=options)

    @property
    def with_raw_response(self) -> ErrandWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        return ErrandWithRawResponse(self)

    @property
    def with_streaming_response(self) -> ErrandWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        return ErrandWithStreamingResponse(self)
