# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

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
from .responses import streaming, streaming_page

if TYPE_CHECKING:
    from .errand import AsyncErrand


class AsyncAgentsWithStreamingResponse:
    def __init__(self, agents: AsyncAgents) -> None:
        self.create = streaming(agents.create)
        self.retrieve = streaming(agents.retrieve)
        self.list = streaming_page(agents.list)
        self.update = streaming(agents.update)
        self.delete = streaming(agents.delete)


class AsyncArtifactsWithStreamingResponse:
    def __init__(self, artifacts: AsyncArtifacts) -> None:
        self.retrieve = streaming(artifacts.retrieve)


class AsyncAuditWithStreamingResponse:
    def __init__(self, audit: AsyncAudit) -> None:
        self.list = streaming_page(audit.list)


class AsyncCatalogueWithStreamingResponse:
    def __init__(self, catalogue: AsyncCatalogue) -> None:
        self.list = streaming_page(catalogue.list)
        self.test = streaming(catalogue.test)


class AsyncConversationsWithStreamingResponse:
    def __init__(self, conversations: AsyncConversations) -> None:
        self.retrieve = streaming(conversations.retrieve)
        self.follow_up = streaming(conversations.follow_up)
        self.interrupt = streaming(conversations.interrupt)
        self.session = streaming(conversations.session)
        self.of_session = streaming(conversations.of_session)


class AsyncDeviceCodesWithStreamingResponse:
    def __init__(self, device_codes: AsyncDeviceCodes) -> None:
        self.create = streaming(device_codes.create)
        self.token = streaming(device_codes.token)


class AsyncDoctorWithStreamingResponse:
    def __init__(self, doctor: AsyncDoctor) -> None:
        self.retrieve = streaming(doctor.retrieve)


class AsyncEnvironmentsWithStreamingResponse:
    def __init__(self, environments: AsyncEnvironments) -> None:
        self.create = streaming(environments.create)
        self.retrieve = streaming(environments.retrieve)
        self.list = streaming_page(environments.list)
        self.replace = streaming(environments.replace)
        self.delete = streaming(environments.delete)
        self.test = streaming(environments.test)


class AsyncEventsWithStreamingResponse:
    def __init__(self, events: AsyncEvents) -> None:
        self.list = streaming(events.list)


class AsyncIdentityLinksWithStreamingResponse:
    def __init__(self, identity_links: AsyncIdentityLinks) -> None:
        self.create = streaming(identity_links.create)
        self.list = streaming_page(identity_links.list)
        self.delete = streaming(identity_links.delete)


class AsyncInboxWithStreamingResponse:
    def __init__(self, inbox: AsyncInbox) -> None:
        self.list = streaming_page(inbox.list)
        self.retry = streaming(inbox.retry)


class AsyncInstallationsWithStreamingResponse:
    def __init__(self, installations: AsyncInstallations) -> None:
        self.list = streaming_page(installations.list)
        self.guides = streaming(installations.guides)
        self.apply_app = streaming(installations.apply_app)
        self.remove_settings = streaming(installations.remove_settings)
        self.retrieve = streaming(installations.retrieve)
        self.update = streaming(installations.update)


class AsyncKeysWithStreamingResponse:
    def __init__(self, keys: AsyncKeys) -> None:
        self.create = streaming(keys.create)
        self.exchange = streaming(keys.exchange)
        self.retrieve = streaming(keys.retrieve)
        self.list = streaming_page(keys.list)
        self.update = streaming(keys.update)
        self.revoke = streaming(keys.revoke)
        self.revoke_all = streaming(keys.revoke_all)
        self.rotate = streaming(keys.rotate)


class AsyncMcpServersWithStreamingResponse:
    def __init__(self, mcp_servers: AsyncMcpServers) -> None:
        self.create = streaming(mcp_servers.create)
        self.retrieve = streaming(mcp_servers.retrieve)
        self.list = streaming_page(mcp_servers.list)
        self.replace = streaming(mcp_servers.replace)
        self.delete = streaming(mcp_servers.delete)


class AsyncModelsWithStreamingResponse:
    def __init__(self, models: AsyncModels) -> None:
        self.list = streaming_page(models.list)


class AsyncNoticesWithStreamingResponse:
    def __init__(self, notices: AsyncNotices) -> None:
        self.list = streaming_page(notices.list)
        self.retry = streaming(notices.retry)


class AsyncPoliciesWithStreamingResponse:
    def __init__(self, policies: AsyncPolicies) -> None:
        self.create = streaming(policies.create)
        self.retrieve = streaming(policies.retrieve)
        self.list = streaming_page(policies.list)
        self.replace = streaming(policies.replace)
        self.delete = streaming(policies.delete)
        self.evaluate = streaming(policies.evaluate)


class AsyncPrincipalsWithStreamingResponse:
    def __init__(self, principals: AsyncPrincipals) -> None:
        self.create = streaming(principals.create)
        self.retrieve = streaming(principals.retrieve)
        self.list = streaming_page(principals.list)
        self.update = streaming(principals.update)
        self.disable = streaming(principals.disable)


class AsyncQuotasWithStreamingResponse:
    def __init__(self, quotas: AsyncQuotas) -> None:
        self.list = streaming_page(quotas.list)
        self.set = streaming(quotas.set)


class AsyncRoutingRulesWithStreamingResponse:
    def __init__(self, routing_rules: AsyncRoutingRules) -> None:
        self.create = streaming(routing_rules.create)
        self.retrieve = streaming(routing_rules.retrieve)
        self.list = streaming_page(routing_rules.list)
        self.replace = streaming(routing_rules.replace)
        self.delete = streaming(routing_rules.delete)
        self.evaluate = streaming(routing_rules.evaluate)


class AsyncRunsWithStreamingResponse:
    def __init__(self, runs: AsyncRuns) -> None:
        self.create = streaming(runs.create)
        self.create_many = streaming(runs.create_many)
        self.list = streaming_page(runs.list)
        self.update = streaming(runs.update)
        self.find_by_reference = streaming(runs.find_by_reference)
        self.delete = streaming(runs.delete)
        self.interrupt = streaming(runs.interrupt)
        self.cancel = streaming(runs.cancel)
        self.cancel_many = streaming(runs.cancel_many)
        self.cancel_matching = streaming(runs.cancel_matching)
        self.retry = streaming(runs.retry)
        self.share = streaming(runs.share)
        self.share_links = streaming_page(runs.share_links)
        self.unshare = streaming(runs.unshare)
        self.webhook_deliveries = streaming_page(runs.webhook_deliveries)
        self.replay_webhook_delivery = streaming(runs.replay_webhook_delivery)
        self.retrieve = streaming(runs.retrieve)
        self.stored_events = streaming(runs.stored_events)
        self.conversation = streaming(runs.conversation)
        self.timeline = streaming(runs.timeline)
        self.harness_usage = streaming(runs.harness_usage)
        self.changes = streaming(runs.changes)
        self.handoff_attachments = streaming(runs.handoff_attachments)
        self.follow_up = streaming(runs.follow_up)
        self.follow_ups = streaming_page(runs.follow_ups)
        self.retrieve_follow_up = streaming(runs.retrieve_follow_up)
        self.update_follow_up = streaming(runs.update_follow_up)
        self.withdraw_follow_up = streaming(runs.withdraw_follow_up)
        self.draft_comments = streaming_page(runs.draft_comments)
        self.put_draft_comment = streaming(runs.put_draft_comment)
        self.delete_draft_comment = streaming(runs.delete_draft_comment)
        self.approve = streaming(runs.approve)
        self.answer = streaming(runs.answer)


class AsyncSchedulesWithStreamingResponse:
    def __init__(self, schedules: AsyncSchedules) -> None:
        self.create = streaming(schedules.create)
        self.retrieve = streaming(schedules.retrieve)
        self.list = streaming_page(schedules.list)
        self.replace = streaming(schedules.replace)
        self.delete = streaming(schedules.delete)
        self.pause = streaming(schedules.pause)
        self.resume = streaming(schedules.resume)


class AsyncSecretsWithStreamingResponse:
    def __init__(self, secrets: AsyncSecrets) -> None:
        self.put = streaming(secrets.put)
        self.retrieve = streaming(secrets.retrieve)
        self.list = streaming_page(secrets.list)
        self.delete = streaming(secrets.delete)


class AsyncSignInsWithStreamingResponse:
    def __init__(self, sign_ins: AsyncSignIns) -> None:
        self.list = streaming_page(sign_ins.list)
        self.end = streaming(sign_ins.end)
        self.end_all = streaming(sign_ins.end_all)


class AsyncSkillsWithStreamingResponse:
    def __init__(self, skills: AsyncSkills) -> None:
        self.list = streaming_page(skills.list)


class AsyncTeamsWithStreamingResponse:
    def __init__(self, teams: AsyncTeams) -> None:
        self.create = streaming(teams.create)
        self.retrieve = streaming(teams.retrieve)
        self.list = streaming_page(teams.list)
        self.update = streaming(teams.update)


class AsyncThreadsWithStreamingResponse:
    def __init__(self, threads: AsyncThreads) -> None:
        self.list = streaming_page(threads.list)
        self.retrieve = streaming(threads.retrieve)
        self.update = streaming(threads.update)


class AsyncUsageWithStreamingResponse:
    def __init__(self, usage: AsyncUsage) -> None:
        self.retrieve = streaming(usage.retrieve)


class AsyncWebhooksWithStreamingResponse:
    def __init__(self, webhooks: AsyncWebhooks) -> None:
        self.create = streaming(webhooks.create)
        self.retrieve = streaming(webhooks.retrieve)
        self.list = streaming_page(webhooks.list)
        self.update = streaming(webhooks.update)
        self.delete = streaming(webhooks.delete)
        self.rotate_secret = streaming(webhooks.rotate_secret)
        self.test = streaming(webhooks.test)
        self.deliveries = streaming_page(webhooks.deliveries)
        self.delivery = streaming(webhooks.delivery)
        self.replay = streaming(webhooks.replay)
        self.replay_many = streaming(webhooks.replay_many)


class AsyncWorkersWithStreamingResponse:
    def __init__(self, workers: AsyncWorkers) -> None:
        self.list = streaming_page(workers.list)
        self.egress_ranges = streaming(workers.egress_ranges)


class AsyncErrandWithStreamingResponse:
    def __init__(self, client: AsyncErrand) -> None:
        self.whoami = streaming(client.whoami)
        self.agents = client.agents.with_streaming_response
        self.artifacts = client.artifacts.with_streaming_response
        self.audit = client.audit.with_streaming_response
        self.catalogue = client.catalogue.with_streaming_response
        self.conversations = client.conversations.with_streaming_response
        self.device_codes = client.device_codes.with_streaming_response
        self.doctor = client.doctor.with_streaming_response
        self.environments = client.environments.with_streaming_response
        self.events = client.events.with_streaming_response
        self.identity_links = client.identity_links.with_streaming_response
        self.inbox = client.inbox.with_streaming_response
        self.installations = client.installations.with_streaming_response
        self.keys = client.keys.with_streaming_response
        self.mcp_servers = client.mcp_servers.with_streaming_response
        self.models = client.models.with_streaming_response
        self.notices = client.notices.with_streaming_response
        self.policies = client.policies.with_streaming_response
        self.principals = client.principals.with_streaming_response
        self.quotas = client.quotas.with_streaming_response
        self.routing_rules = client.routing_rules.with_streaming_response
        self.runs = client.runs.with_streaming_response
        self.schedules = client.schedules.with_streaming_response
        self.secrets = client.secrets.with_streaming_response
        self.sign_ins = client.sign_ins.with_streaming_response
        self.skills = client.skills.with_streaming_response
        self.teams = client.teams.with_streaming_response
        self.threads = client.threads.with_streaming_response
        self.usage = client.usage.with_streaming_response
        self.webhooks = client.webhooks.with_streaming_response
        self.workers = client.workers.with_streaming_response
