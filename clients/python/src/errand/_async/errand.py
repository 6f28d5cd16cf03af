from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from .._request import RequestOptions
from ..models import Whoami
from .api_client import AsyncApiClient
from .raw import AsyncErrandWithRawResponse
from .resources.agents import AsyncAgents
from .resources.artifacts import AsyncArtifacts
from .resources.audit import AsyncAudit
from .resources.catalogue import AsyncCatalogue
from .resources.conversations import AsyncConversations
from .resources.device_codes import AsyncDeviceCodes
from .resources.doctor import AsyncDoctor
from .resources.environments import AsyncEnvironments
from .resources.events import AsyncEvents
from .resources.identity_links import AsyncIdentityLinks
from .resources.inbox import AsyncInbox
from .resources.installations import AsyncInstallations
from .resources.keys import AsyncKeys
from .resources.mcp_servers import AsyncMcpServers
from .resources.models import AsyncModels
from .resources.notices import AsyncNotices
from .resources.policies import AsyncPolicies
from .resources.principals import AsyncPrincipals
from .resources.quotas import AsyncQuotas
from .resources.routing_rules import AsyncRoutingRules
from .resources.runs import AsyncRuns
from .resources.schedules import AsyncSchedules
from .resources.secrets import AsyncSecrets
from .resources.sign_ins import AsyncSignIns
from .resources.skills import AsyncSkills
from .resources.teams import AsyncTeams
from .resources.threads import AsyncThreads
from .resources.usage import AsyncUsage
from .resources.webhooks import AsyncWebhooks
from .resources.workers import AsyncWorkers
from .streaming import AsyncErrandWithStreamingResponse


class AsyncErrand(AsyncApiClient):
    """The client of an Errand server.

    Example:
        async with AsyncErrand(base_url="https://errand.example.com", api_key="…") as client:
            run = await client.runs.create(prompt="Mend the build")
    """

    @cached_property
    def agents(self) -> AsyncAgents:
        return AsyncAgents(self)

    @cached_property
    def artifacts(self) -> AsyncArtifacts:
        return AsyncArtifacts(self)

    @cached_property
    def audit(self) -> AsyncAudit:
        return AsyncAudit(self)

    @cached_property
    def catalogue(self) -> AsyncCatalogue:
        return AsyncCatalogue(self)

    @cached_property
    def conversations(self) -> AsyncConversations:
        return AsyncConversations(self)

    @cached_property
    def device_codes(self) -> AsyncDeviceCodes:
        return AsyncDeviceCodes(self)

    @cached_property
    def doctor(self) -> AsyncDoctor:
        return AsyncDoctor(self)

    @cached_property
    def environments(self) -> AsyncEnvironments:
        return AsyncEnvironments(self)

    @cached_property
    def events(self) -> AsyncEvents:
        return AsyncEvents(self)

    @cached_property
    def identity_links(self) -> AsyncIdentityLinks:
        return AsyncIdentityLinks(self)

    @cached_property
    def inbox(self) -> AsyncInbox:
        return AsyncInbox(self)

    @cached_property
    def installations(self) -> AsyncInstallations:
        return AsyncInstallations(self)

    @cached_property
    def keys(self) -> AsyncKeys:
        return AsyncKeys(self)

    @cached_property
    def mcp_servers(self) -> AsyncMcpServers:
        return AsyncMcpServers(self)

    @cached_property
    def models(self) -> AsyncModels:
        return AsyncModels(self)

    @cached_property
    def notices(self) -> AsyncNotices:
        return AsyncNotices(self)

    @cached_property
    def policies(self) -> AsyncPolicies:
        return AsyncPolicies(self)

    @cached_property
    def principals(self) -> AsyncPrincipals:
        return AsyncPrincipals(self)

    @cached_property
    def quotas(self) -> AsyncQuotas:
        return AsyncQuotas(self)

    @cached_property
    def routing_rules(self) -> AsyncRoutingRules:
        return AsyncRoutingRules(self)

    @cached_property
    def runs(self) -> AsyncRuns:
        return AsyncRuns(self)

    @cached_property
    def schedules(self) -> AsyncSchedules:
        return AsyncSchedules(self)

    @cached_property
    def secrets(self) -> AsyncSecrets:
        return AsyncSecrets(self)

    @cached_property
    def sign_ins(self) -> AsyncSignIns:
        return AsyncSignIns(self)

    @cached_property
    def skills(self) -> AsyncSkills:
        return AsyncSkills(self)

    @cached_property
    def teams(self) -> AsyncTeams:
        return AsyncTeams(self)

    @cached_property
    def threads(self) -> AsyncThreads:
        return AsyncThreads(self)

    @cached_property
    def usage(self) -> AsyncUsage:
        return AsyncUsage(self)

    @cached_property
    def webhooks(self) -> AsyncWebhooks:
        return AsyncWebhooks(self)

    @cached_property
    def workers(self) -> AsyncWorkers:
        return AsyncWorkers(self)

    async def whoami(self, **options: Unpack[RequestOptions]) -> Whoami:
        """Gets the principal of the key, its team and what it may do."""
        return await self._request(Whoami, "GET", "/agent/whoami", options=options)

    @property
    def with_raw_response(self) -> AsyncErrandWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        return AsyncErrandWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncErrandWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        return AsyncErrandWithStreamingResponse(self)
