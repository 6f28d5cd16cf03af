import { ApiClient, type ClientOptions } from "./api-client.ts";
import type { Whoami } from "./generated/types.ts";
import type { ApiPromise } from "./http/api-promise.ts";
import type { RequestOptions } from "./http/request.ts";
import { Agents } from "./resources/agents.ts";
import { Artifacts } from "./resources/artifacts.ts";
import { Audit } from "./resources/audit.ts";
import { Catalogue } from "./resources/catalogue.ts";
import { Conversations } from "./resources/conversations.ts";
import { DeviceCodes } from "./resources/device-codes.ts";
import { Doctor } from "./resources/doctor.ts";
import { Environments } from "./resources/environments.ts";
import { Events } from "./resources/events.ts";
import { IdentityLinks } from "./resources/identity-links.ts";
import { Inbox } from "./resources/inbox.ts";
import { Installations } from "./resources/installations.ts";
import { Keys } from "./resources/keys.ts";
import { McpServers } from "./resources/mcp-servers.ts";
import { Models } from "./resources/models.ts";
import { Notices } from "./resources/notices.ts";
import { Policies } from "./resources/policies.ts";
import { Principals } from "./resources/principals.ts";
import { Quotas } from "./resources/quotas.ts";
import { RoutingRules } from "./resources/routing-rules.ts";
import { Runs } from "./resources/runs.ts";
import { Schedules } from "./resources/schedules.ts";
import { Secrets } from "./resources/secrets.ts";
import { SignIns } from "./resources/sign-ins.ts";
import { Skills } from "./resources/skills.ts";
import { Teams } from "./resources/teams.ts";
import { Threads } from "./resources/threads.ts";
import { Usage } from "./resources/usage.ts";
import { Webhooks } from "./resources/webhooks.ts";
import { Workers } from "./resources/workers.ts";

/**
 * The client of an Errand server.
 *
 * @example
 * const client = new Errand({ baseUrl: "https://errand.example.com", apiKey: "…" });
 * const { run_id } = await client.runs.create({ prompt: "Mend the build" });
 */
export class Errand extends ApiClient {
  readonly agents: Agents;
  readonly artifacts: Artifacts;
  readonly audit: Audit;
  readonly catalogue: Catalogue;
  readonly conversations: Conversations;
  readonly deviceCodes: DeviceCodes;
  readonly doctor: Doctor;
  readonly environments: Environments;
  readonly events: Events;
  readonly identityLinks: IdentityLinks;
  readonly inbox: Inbox;
  readonly installations: Installations;
  readonly keys: Keys;
  readonly mcpServers: McpServers;
  readonly models: Models;
  readonly notices: Notices;
  readonly policies: Policies;
  readonly principals: Principals;
  readonly quotas: Quotas;
  readonly routingRules: RoutingRules;
  readonly runs: Runs;
  readonly schedules: Schedules;
  readonly secrets: Secrets;
  readonly signIns: SignIns;
  readonly skills: Skills;
  readonly teams: Teams;
  readonly threads: Threads;
  readonly usage: Usage;
  readonly webhooks: Webhooks;
  readonly workers: Workers;

  constructor(options: ClientOptions = {}) {
    super(options);
    this.agents = new Agents(this);
    this.artifacts = new Artifacts(this);
    this.audit = new Audit(this);
    this.catalogue = new Catalogue(this);
    this.conversations = new Conversations(this);
    this.deviceCodes = new DeviceCodes(this);
    this.doctor = new Doctor(this);
    this.environments = new Environments(this);
    this.events = new Events(this);
    this.identityLinks = new IdentityLinks(this);
    this.inbox = new Inbox(this);
    this.installations = new Installations(this);
    this.keys = new Keys(this);
    this.mcpServers = new McpServers(this);
    this.models = new Models(this);
    this.notices = new Notices(this);
    this.policies = new Policies(this);
    this.principals = new Principals(this);
    this.quotas = new Quotas(this);
    this.routingRules = new RoutingRules(this);
    this.runs = new Runs(this);
    this.schedules = new Schedules(this);
    this.secrets = new Secrets(this);
    this.signIns = new SignIns(this);
    this.skills = new Skills(this);
    this.teams = new Teams(this);
    this.threads = new Threads(this);
    this.usage = new Usage(this);
    this.webhooks = new Webhooks(this);
    this.workers = new Workers(this);
  }

  /** Gets the principal of the key, its team and what it may do. */
  whoami(options?: RequestOptions): ApiPromise<Whoami> {
    return this.get("/agent/whoami", options);
  }
}
