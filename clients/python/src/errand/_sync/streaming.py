# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

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
from .responses import streaming, streaming_page

if TYPE_CHECKING:
    from .errand import Errand


class AgentsWithStreamingResponse:
    def __init__(self, agents: Agents) -> None:
        self.create = streaming(agents.create)
        self.retrieve = streaming(agents.retrieve)
        self.list = streaming_page(agents.list)
        self.update = streaming(agents.update)
        self.delete = streaming(agents.delete)


class ArtifactsWithStreamingResponse:
    def __init__(self, artifacts: Artifacts) -> None:
        self.retrieve = streaming(artifacts.retrieve)


class AuditWithStreamingResponse:
    def __init__(self, audit: Audit) -> None:
        self.list = streaming_page(audit.list)


class CatalogueWithStreamingResponse:
    def __init__(self, catalogue: Catalogue) -> None:
        self.list = streaming_page(catalogue.list)
        self.test = streaming(catalogue.test)


class ConversationsWithStreamingResponse:
    def __init__(self, conversations: Conversations) -> None:
        self.retrieve = streaming(conversations.retrieve)
        self.follow_up = streaming(conversations.follow_up)
        self.interrupt = streaming(conversations.interrupt)
        self.session = streaming(conversations.session)
        self.of_session = streaming(conversations.of_session)


class DeviceCodesWithStreamingResponse:
    def __init__(self, device_codes: DeviceCodes) -> None:
        self.create = streaming(device_codes.create)
        self.token = streaming(device_codes.token)


class DoctorWithStreamingResponse:
    def __init__(self, doctor: Doctor) -> None:
        self.retrieve = streaming(doctor.retrieve)


class EnvironmentsWithStreamingResponse:
    def __init__(self, environments: Environments) -> None:
        self.create = streaming(environments.create)
        self.retrieve = streaming(environments.retrieve)
        self.list = streaming_page(environments.list)
        self.replace = streaming(environments.replace)
        self.delete = streaming(environments.delete)
        self.test = streaming(environments.test)


class EventsWithStreamingResponse:
    def __init__(self, events: Events) -> None:
        self.list = streaming(events.list)


class IdentityLinksWithStreamingResponse:
    def __init__(self, identity_links: IdentityLinks) -> None:
        self.create = streaming(identity_links.create)
        self.list = streaming_page(identity_links.list)
        self.delete = streaming(identity_links.delete)


class InboxWithStreamingResponse:
    def __init__(self, inbox: Inbox) -> None:
        self.list = streaming_page(inbox.list)
        self.retry = streaming(inbox.retry)


class InstallationsWithStreamingResponse:
    def __init__(self, installations: Installations) -> None:
        self.list = streaming_page(installations.list)
        self.guides = streaming(installations.guides)
        self.apply_app = streaming(installations.apply_app)
        self.remove_settings = streaming(installations.remove_settings)
        self.retrieve = streaming(installations.retrieve)
        self.update = streaming(installations.update)


class KeysWithStreamingResponse:
    def __init__(self, keys: Keys) -> None:
        self.create = streaming(keys.create)
        self.exchange = streaming(keys.exchange)
        self.retrieve = streaming(keys.retrieve)
        self.list = streaming_page(keys.list)
        self.update = streaming(keys.update)
        self.revoke = streaming(keys.revoke)
        self.revoke_all = streaming(keys.revoke_all)
        self.rotate = streaming(keys.rotate)


class McpServersWithStreamingResponse:
    def __init__(self, mcp_servers: McpServers) -> None:
        self.create = streaming(mcp_servers.create)
        self.retrieve = streaming(mcp_servers.retrieve)
        self.list = streaming_page(mcp_servers.list)
        self.replace = streaming(mcp_servers.replace)
        self.delete = streaming(mcp_servers.delete)


class ModelsWithStreamingResponse:
    def __init__(self, models: Models) -> None:
        self.list = streaming_page(models.list)


class NoticesWithStreamingResponse:
    def __init__(self, notices: Notices) -> None:
        self.list = streaming_page(notices.list)
        self.retry = streaming(notices.retry)


class PoliciesWithStreamingResponse:
    def __init__(self, policies: Policies) -> None:
        self.create = streaming(policies.create)
        self.retrieve = streaming(policies.retrieve)
        self.list = streaming_page(policies.list)
        self.replace = streaming(policies.replace)
        self.delete = streaming(policies.delete)
        self.evaluate = streaming(policies.evaluate)


class PrincipalsWithStreamingResponse:
    def __init__(self, principals: Principals) -> None:
        self.create = streaming(principals.create)
        self.retrieve = streaming(principals.retrieve)
        self.list = streaming_page(principals.list)
        self.update = streaming(principals.update)
        self.disable = streaming(principals.disable)


class QuotasWithStreamingResponse:
    def __init__(self, quotas: Quotas) -> None:
        self.list = streaming_page(quotas.list)
        self.set = streaming(quotas.set)


class RoutingRulesWithStreamingResponse:
    def __init__(self, routing_rules: RoutingRules) -> None:
        self.create = streaming(routing_rules.create)
        self.retrieve = streaming(routing_rules.retrieve)
        self.list = streaming_page(routing_rules.list)
        self.replace = streaming(routing_rules.replace)
        self.delete = streaming(routing_rules.delete)
        self.evaluate = streaming(routing_rules.evaluate)


class RunsWithStreamingResponse:
    def __init__(self, runs: Runs) -> None:
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


class SchedulesWithStreamingResponse:
    def __init__(self, schedules: Schedules) -> None:
        self.create = streaming(schedules.create)
        self.retrieve = streaming(schedules.retrieve)
        self.list = streaming_page(schedules.list)
        self.replace = streaming(schedules.replace)
        self.delete = streaming(schedules.delete)
        self.pause = streaming(schedules.pause)
        self.resume = streaming(schedules.resume)


class SecretsWithStreamingResponse:
    def __init__(self, secrets: Secrets) -> None:
        self.put = streaming(secrets.put)
        self.retrieve = streaming(secrets.retrieve)
        self.list = streaming_page(secrets.list)
        self.delete = streaming(secrets.delete)


class SignInsWithStreamingResponse:
    def __init__(self, sign_ins: SignIns) -> None:
        self.list = streaming_page(sign_ins.list)
        self.end = streaming(sign_ins.end)
        self.end_all = streaming(sign_ins.end_all)


class SkillsWithStreamingResponse:
    def __init__(self, skills: Skills) -> None:
        self.list = streaming_page(skills.list)


class TeamsWithStreamingResponse:
    def __init__(self, teams: Teams) -> None:
        self.create = streaming(teams.create)
        self.retrieve = streaming(teams.retrieve)
        self.list = streaming_page(teams.list)
        self.update = streaming(teams.update)


class ThreadsWithStreamingResponse:
    def __init__(self, threads: Threads) -> None:
        self.list = streaming_page(threads.list)
        self.retrieve = streaming(threads.retrieve)
        self.update = streaming(threads.update)


class UsageWithStreamingResponse:
    def __init__(self, usage: Usage) -> None:
        self.retrieve = streaming(usage.retrieve)


class WebhooksWithStreamingResponse:
    def __init__(self, webhooks: Webhooks) -> None:
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


class WorkersWithStreamingResponse:
    def __init__(self, workers: Workers) -> None:
        self.list = streaming_page(workers.list)
        self.egress_ranges = streaming(workers.egress_ranges)


class ErrandWithStreamingResponse:
    def __init__(self, client: Errand) -> None:
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
