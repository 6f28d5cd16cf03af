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
from .responses import raw, raw_page

if TYPE_CHECKING:
    from .errand import Errand


class AgentsWithRawResponse:
    def __init__(self, agents: Agents) -> None:
        self.create = raw(agents.create)
        self.retrieve = raw(agents.retrieve)
        self.list = raw_page(agents.list)
        self.update = raw(agents.update)
        self.delete = raw(agents.delete)


class ArtifactsWithRawResponse:
    def __init__(self, artifacts: Artifacts) -> None:
        self.retrieve = raw(artifacts.retrieve)


class AuditWithRawResponse:
    def __init__(self, audit: Audit) -> None:
        self.list = raw_page(audit.list)


class CatalogueWithRawResponse:
    def __init__(self, catalogue: Catalogue) -> None:
        self.list = raw_page(catalogue.list)
        self.test = raw(catalogue.test)


class ConversationsWithRawResponse:
    def __init__(self, conversations: Conversations) -> None:
        self.retrieve = raw(conversations.retrieve)
        self.follow_up = raw(conversations.follow_up)
        self.interrupt = raw(conversations.interrupt)
        self.session = raw(conversations.session)
        self.of_session = raw(conversations.of_session)


class DeviceCodesWithRawResponse:
    def __init__(self, device_codes: DeviceCodes) -> None:
        self.create = raw(device_codes.create)
        self.token = raw(device_codes.token)


class DoctorWithRawResponse:
    def __init__(self, doctor: Doctor) -> None:
        self.retrieve = raw(doctor.retrieve)


class EnvironmentsWithRawResponse:
    def __init__(self, environments: Environments) -> None:
        self.create = raw(environments.create)
        self.retrieve = raw(environments.retrieve)
        self.list = raw_page(environments.list)
        self.replace = raw(environments.replace)
        self.delete = raw(environments.delete)
        self.test = raw(environments.test)


class EventsWithRawResponse:
    def __init__(self, events: Events) -> None:
        self.list = raw(events.list)


class IdentityLinksWithRawResponse:
    def __init__(self, identity_links: IdentityLinks) -> None:
        self.create = raw(identity_links.create)
        self.list = raw_page(identity_links.list)
        self.delete = raw(identity_links.delete)


class InboxWithRawResponse:
    def __init__(self, inbox: Inbox) -> None:
        self.list = raw_page(inbox.list)
        self.retry = raw(inbox.retry)


class InstallationsWithRawResponse:
    def __init__(self, installations: Installations) -> None:
        self.list = raw_page(installations.list)
        self.guides = raw(installations.guides)
        self.apply_app = raw(installations.apply_app)
        self.remove_settings = raw(installations.remove_settings)
        self.retrieve = raw(installations.retrieve)
        self.update = raw(installations.update)


class KeysWithRawResponse:
    def __init__(self, keys: Keys) -> None:
        self.create = raw(keys.create)
        self.exchange = raw(keys.exchange)
        self.retrieve = raw(keys.retrieve)
        self.list = raw_page(keys.list)
        self.update = raw(keys.update)
        self.revoke = raw(keys.revoke)
        self.revoke_all = raw(keys.revoke_all)
        self.rotate = raw(keys.rotate)


class McpServersWithRawResponse:
    def __init__(self, mcp_servers: McpServers) -> None:
        self.create = raw(mcp_servers.create)
        self.retrieve = raw(mcp_servers.retrieve)
        self.list = raw_page(mcp_servers.list)
        self.replace = raw(mcp_servers.replace)
        self.delete = raw(mcp_servers.delete)


class ModelsWithRawResponse:
    def __init__(self, models: Models) -> None:
        self.list = raw_page(models.list)


class NoticesWithRawResponse:
    def __init__(self, notices: Notices) -> None:
        self.list = raw_page(notices.list)
        self.retry = raw(notices.retry)


class PoliciesWithRawResponse:
    def __init__(self, policies: Policies) -> None:
        self.create = raw(policies.create)
        self.retrieve = raw(policies.retrieve)
        self.list = raw_page(policies.list)
        self.replace = raw(policies.replace)
        self.delete = raw(policies.delete)
        self.evaluate = raw(policies.evaluate)


class PrincipalsWithRawResponse:
    def __init__(self, principals: Principals) -> None:
        self.create = raw(principals.create)
        self.retrieve = raw(principals.retrieve)
        self.list = raw_page(principals.list)
        self.update = raw(principals.update)
        self.disable = raw(principals.disable)


class QuotasWithRawResponse:
    def __init__(self, quotas: Quotas) -> None:
        self.list = raw_page(quotas.list)
        self.set = raw(quotas.set)


class RoutingRulesWithRawResponse:
    def __init__(self, routing_rules: RoutingRules) -> None:
        self.create = raw(routing_rules.create)
        self.retrieve = raw(routing_rules.retrieve)
        self.list = raw_page(routing_rules.list)
        self.replace = raw(routing_rules.replace)
        self.delete = raw(routing_rules.delete)
        self.evaluate = raw(routing_rules.evaluate)


class RunsWithRawResponse:
    def __init__(self, runs: Runs) -> None:
        self.create = raw(runs.create)
        self.create_many = raw(runs.create_many)
        self.list = raw_page(runs.list)
        self.update = raw(runs.update)
        self.find_by_reference = raw(runs.find_by_reference)
        self.delete = raw(runs.delete)
        self.interrupt = raw(runs.interrupt)
        self.cancel = raw(runs.cancel)
        self.cancel_many = raw(runs.cancel_many)
        self.cancel_matching = raw(runs.cancel_matching)
        self.retry = raw(runs.retry)
        self.share = raw(runs.share)
        self.share_links = raw_page(runs.share_links)
        self.unshare = raw(runs.unshare)
        self.webhook_deliveries = raw_page(runs.webhook_deliveries)
        self.replay_webhook_delivery = raw(runs.replay_webhook_delivery)
        self.retrieve = raw(runs.retrieve)
        self.stored_events = raw(runs.stored_events)
        self.conversation = raw(runs.conversation)
        self.timeline = raw(runs.timeline)
        self.harness_usage = raw(runs.harness_usage)
        self.changes = raw(runs.changes)
        self.handoff_attachments = raw(runs.handoff_attachments)
        self.follow_up = raw(runs.follow_up)
        self.follow_ups = raw_page(runs.follow_ups)
        self.retrieve_follow_up = raw(runs.retrieve_follow_up)
        self.update_follow_up = raw(runs.update_follow_up)
        self.withdraw_follow_up = raw(runs.withdraw_follow_up)
        self.draft_comments = raw_page(runs.draft_comments)
        self.put_draft_comment = raw(runs.put_draft_comment)
        self.delete_draft_comment = raw(runs.delete_draft_comment)
        self.approve = raw(runs.approve)
        self.answer = raw(runs.answer)


class SchedulesWithRawResponse:
    def __init__(self, schedules: Schedules) -> None:
        self.create = raw(schedules.create)
        self.retrieve = raw(schedules.retrieve)
        self.list = raw_page(schedules.list)
        self.replace = raw(schedules.replace)
        self.delete = raw(schedules.delete)
        self.pause = raw(schedules.pause)
        self.resume = raw(schedules.resume)


class SecretsWithRawResponse:
    def __init__(self, secrets: Secrets) -> None:
        self.put = raw(secrets.put)
        self.retrieve = raw(secrets.retrieve)
        self.list = raw_page(secrets.list)
        self.delete = raw(secrets.delete)


class SignInsWithRawResponse:
    def __init__(self, sign_ins: SignIns) -> None:
        self.list = raw_page(sign_ins.list)
        self.end = raw(sign_ins.end)
        self.end_all = raw(sign_ins.end_all)


class SkillsWithRawResponse:
    def __init__(self, skills: Skills) -> None:
        self.list = raw_page(skills.list)


class TeamsWithRawResponse:
    def __init__(self, teams: Teams) -> None:
        self.create = raw(teams.create)
        self.retrieve = raw(teams.retrieve)
        self.list = raw_page(teams.list)
        self.update = raw(teams.update)


class ThreadsWithRawResponse:
    def __init__(self, threads: Threads) -> None:
        self.list = raw_page(threads.list)
        self.retrieve = raw(threads.retrieve)
        self.update = raw(threads.update)


class UsageWithRawResponse:
    def __init__(self, usage: Usage) -> None:
        self.retrieve = raw(usage.retrieve)


class WebhooksWithRawResponse:
    def __init__(self, webhooks: Webhooks) -> None:
        self.create = raw(webhooks.create)
        self.retrieve = raw(webhooks.retrieve)
        self.list = raw_page(webhooks.list)
        self.update = raw(webhooks.update)
        self.delete = raw(webhooks.delete)
        self.rotate_secret = raw(webhooks.rotate_secret)
        self.test = raw(webhooks.test)
        self.deliveries = raw_page(webhooks.deliveries)
        self.delivery = raw(webhooks.delivery)
        self.replay = raw(webhooks.replay)
        self.replay_many = raw(webhooks.replay_many)


class WorkersWithRawResponse:
    def __init__(self, workers: Workers) -> None:
        self.list = raw_page(workers.list)
        self.egress_ranges = raw(workers.egress_ranges)


class ErrandWithRawResponse:
    def __init__(self, client: Errand) -> None:
        self.whoami = raw(client.whoami)
        self.agents = client.agents.with_raw_response
        self.artifacts = client.artifacts.with_raw_response
        self.audit = client.audit.with_raw_response
        self.catalogue = client.catalogue.with_raw_response
        self.conversations = client.conversations.with_raw_response
        self.device_codes = client.device_codes.with_raw_response
        self.doctor = client.doctor.with_raw_response
        self.environments = client.environments.with_raw_response
        self.events = client.events.with_raw_response
        self.identity_links = client.identity_links.with_raw_response
        self.inbox = client.inbox.with_raw_response
        self.installations = client.installations.with_raw_response
        self.keys = client.keys.with_raw_response
        self.mcp_servers = client.mcp_servers.with_raw_response
        self.models = client.models.with_raw_response
        self.notices = client.notices.with_raw_response
        self.policies = client.policies.with_raw_response
        self.principals = client.principals.with_raw_response
        self.quotas = client.quotas.with_raw_response
        self.routing_rules = client.routing_rules.with_raw_response
        self.runs = client.runs.with_raw_response
        self.schedules = client.schedules.with_raw_response
        self.secrets = client.secrets.with_raw_response
        self.sign_ins = client.sign_ins.with_raw_response
        self.skills = client.skills.with_raw_response
        self.teams = client.teams.with_raw_response
        self.threads = client.threads.with_raw_response
        self.usage = client.usage.with_raw_response
        self.webhooks = client.webhooks.with_raw_response
        self.workers = client.workers.with_raw_response
