import { pullRequestsWithToken, type RunningAdapter } from "../adapters/registry.ts";
import type { ApiDeps } from "../api/api-deps.ts";
import { newToken } from "../api/auth/api-keys.ts";
import { PrincipalCache } from "../api/auth/principal-cache.ts";
import type { Config } from "../config/config.ts";
import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";
import type { PullRequests } from "../core/ports/pull-requests.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { SkillLibrary } from "../core/ports/skill-library.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import type { ThreadAdapter } from "../core/ports/thread-adapter.ts";
import type { WebhookClient } from "../core/ports/webhook-client.ts";
import { PullRequestReader } from "../core/requests/pull-request-reader.ts";
import { RequestDefaultsService } from "../core/requests/routing/request-defaults-service.ts";
import { RunService } from "../core/requests/run-service.ts";
import { SkillCatalogue } from "../core/requests/skills/skill-catalogue.ts";
import { SkillFinder } from "../core/requests/skills/skill-finder.ts";
import { StandingOnPlatforms } from "../core/requests/standing-on-platforms.ts";
import { NoticeWriter } from "../core/runs/notice-writer.ts";
import { InstallationHealth } from "../core/team/people/installation-health.ts";
import { PrincipalJoins } from "../core/team/people/principal-joins.ts";
import { runRules } from "../core/team/policies/run-rules.ts";
import { EnvironmentService } from "../core/team/records/environment-service.ts";
import { createGitTokens } from "../core/team/records/secret-service.ts";
import { searchChoices } from "../core/threads/inbox/environment-choice.ts";
import { InboxProcessor } from "../core/threads/inbox/inbox-processor.ts";
import { PersonViews } from "../core/threads/inbox/person-views.ts";
import { PrivateCommands } from "../core/threads/inbox/private-commands.ts";
import { OutboxDispatcher } from "../core/threads/outbox/outbox-dispatcher.ts";
import { Capacity } from "../core/upkeep/capacity.ts";
import type { Doctor } from "../core/upkeep/doctor.ts";
import { StoredBytesMeter } from "../core/upkeep/stored-bytes.ts";
import { RepositoryMirrors } from "../git/repository-mirrors.ts";
import { createGitSkillLibrary } from "../git/skills/git-skill-library.ts";
import {
  createTeamAuthorizer,
  createTeamCommitter,
  type TeamAuthorizer,
  type TeamCommitter,
} from "../git/team-authorizer.ts";
import { createTeamPullRequests } from "../git/team-pull-requests.ts";
import { Destinations } from "../outgoing/destinations.ts";
import { createWebhookClient } from "../outgoing/http-webhook-client.ts";
import { oidcProvider } from "../outgoing/sign-in/oidc.ts";
import type { KnownSecrets } from "../secrets/redaction.ts";
import { deriveKey } from "../secrets/secret-files.ts";
import type { ServerProof } from "../secrets/server-proof.ts";
import { readBacklog } from "../storage/backlog.ts";
import { measureStoredBytes } from "../storage/stored-bytes.ts";
import { AdapterConnection } from "./adapter-connection.ts";
import { appCreatorsOf, appManagersOf, createAdapters, guidesOf } from "./compose-adapters.ts";
import { type AgentDeps, composeAgents } from "./compose-agents.ts";
import { composeDoctor } from "./compose-doctor.ts";
import { composeStores, type Stores } from "./compose-stores.ts";
import { nextDue } from "./cron.ts";
import { type Logger, plainLog } from "./logger.ts";
import { sha256, systemClock } from "./system.ts";

/** What must be known before the application can be composed. `start.ts` provides it. */
export interface Bootstrap {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly knownSecrets: KnownSecrets;
  readonly logger: Logger;
  readonly tls: ApiDeps["tls"];
  readonly publicUrl: () => string;
  readonly serverProof: ServerProof;
  readonly draining?: AbortSignal;
}

/** The long-lived objects of the application, and the services that use them. */
export interface AppDeps extends Stores {
  readonly webhookClient: WebhookClient;
  readonly adapters: ReadonlyMap<string, RunningAdapter>;
  readonly threadAdapters: ReadonlyMap<string, ThreadAdapter>;
  readonly signInProviders: readonly SignInProvider[];
  readonly storedBytes: ApiDeps["storedBytes"];
  readonly doctor: Doctor;
  readonly agents: AgentDeps;
  /** Provides the key with which a team's repository is read or written. */
  readonly authorize: TeamAuthorizer;
  readonly committerOf: TeamCommitter;
  readonly pullRequests: PullRequests;
  readonly pullRequestReader: PullRequestReader;
  readonly writer: NoticeWriter;
  readonly runs: RunService;
  readonly joins: PrincipalJoins;
  readonly inboxProcessor: InboxProcessor;
  readonly outboxDispatcher: OutboxDispatcher;
  readonly repositories: RepositoryMirrors;
  readonly skillLibrary: SkillLibrary;
  readonly skills: SkillCatalogue;
}

/** Creates all objects of the application, together with the `compose-*.ts` files. Nothing is started here. */
export async function compose(bootstrap: Bootstrap): Promise<AppDeps> {
  const stores = await composeStores(bootstrap);
  const connection = new AdapterConnection();
  const adapters = await createAdapters(bootstrap, stores, connection);
  const requests = composeRequests(bootstrap, { ...stores, adapters });
  const threads = composeThreads(bootstrap, { ...stores, ...requests, adapters });
  connection.connect({
    commands: threads.privateCommands,
    search: (search) => searchChoices(search, { adapters: threads.threadAdapters, storage: stores.storage }),
    views: threads.personViews,
  });
  return { ...stores, ...requests, ...threads, adapters };
}

/** What turns a request into a run: agents, repositories, skills, rules. */
function composeRequests(bootstrap: Bootstrap, deps: Stores & Pick<AppDeps, "adapters">) {
  const { config, logger, publicUrl } = bootstrap;
  const { adapters, blobs, pubsub, secrets, storage } = deps;
  const [clock, log] = [systemClock, plainLog(logger)];
  const traits = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter.traits]));
  const writer = new NoticeWriter(publicUrl, traits);
  const agents = composeAgents(config);
  const rules = runRules({ storage, pubsub, clock });
  const teams = composeRepositories(config, { adapters, secrets, storage, log });
  const { catalogue, finder, library, repositories } = composeSkills(config, storage, teams.authorize, log);
  const runs = new RunService({
    storage,
    clock,
    writer,
    agents: agents.choice,
    skills: finder,
    secretBox: secrets,
    pullRequests: teams.pullRequests,
    blobs,
    digest: sha256,
    log,
    ...rules,
  });
  return {
    ...teams,
    agents,
    writer,
    runs,
    joins: new PrincipalJoins({ storage, box: secrets, digest: sha256, log }),
    policies: rules.policies,
    pullRequestReader: new PullRequestReader({ pullRequests: teams.pullRequests, runs, clock, log }),
    repositories,
    skillLibrary: library,
    skills: catalogue,
    signInProviders: signInProviders(config, adapters),
    webhookClient: createWebhookClient({ destinations: new Destinations(config.webhookAllow) }),
  };
}

/** The conversation with outside threads, and the doctor, whom people ask there too. */
function composeThreads(
  bootstrap: Bootstrap,
  deps: Stores & ReturnType<typeof composeRequests> & Pick<AppDeps, "adapters">,
) {
  const { logger, publicUrl } = bootstrap;
  const { adapters, agents, blobs, hashKey, joins, policies, runs, storage } = deps;
  const [clock, log] = [systemClock, plainLog(logger)];
  const threadAdapters = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter]));
  const installationHealth = new InstallationHealth({ installations: storage.installations, clock, log });
  const requestDefaults = new RequestDefaultsService({ storage, digest: sha256, clock });
  const common = { adapters: threadAdapters, installationHealth, runs, log };
  const storedBytes = new StoredBytesMeter(() => measureStoredBytes(bootstrap.databaseUrl), clock);
  const doctor = composeDoctor({ ...bootstrap, ...deps, agents, storedBytes }, log);
  const makeToken = () => {
    const token = newToken();
    return { token, hash: hashKey(token) };
  };
  const { gitUrl } = bootstrap.config;
  const commands = { gitUrl, storage, runs, policies, requestDefaults, doctor, clock, makeToken, publicUrl };
  return {
    threadAdapters,
    storedBytes,
    doctor,
    inboxProcessor: new InboxProcessor({
      ...common,
      requestDefaults,
      changesDefault: bootstrap.config.work.pullRequests,
      gitUrl,
      storage,
      joins,
      policies,
      pullRequests: deps.pullRequestReader,
      blobs,
      clock,
    }),
    outboxDispatcher: new OutboxDispatcher({ ...common, outbox: storage.outbox }),
    privateCommands: new PrivateCommands({ ...commands, joins, digest: sha256 }),
    personViews: new PersonViews({ agents: agents.view, joins, policies, runs, storage }),
  };
}

export function apiDeps(bootstrap: Bootstrap, deps: AppDeps): ApiDeps {
  const { database, formerHashers, hashKey, pubsub, runs, storage } = deps;
  return {
    runs,
    skills: deps.skills,
    catalogue: deps.agents.view,
    doctor: deps.doctor,
    adapterSettings: deps.adapterSettings,
    installationGuides: () => guidesOf(bootstrap),
    storage,
    backlog: () => readBacklog(database),
    storedBytes: deps.storedBytes,
    capacity: new Capacity({ ...storage, clock: systemClock }),
    principals: new PrincipalCache({ people: storage.people, pubsub, clock: systemClock }),
    pullRequests: deps.pullRequestReader,
    standing: new StandingOnPlatforms({ adapters: deps.threadAdapters, storage, clock: systemClock }),
    blobs: deps.blobs,
    secrets: deps.secrets,
    egressRanges: bootstrap.config.egressRanges,
    imageRegistries: bootstrap.config.sandbox.docker.images.registries,
    webhookClient: deps.webhookClient,
    // Its HTTP client is large, and most servers see no token of a workflow.
    loadWorkflowTokens: async () =>
      (await import("../outgoing/sign-in/workflow-tokens.ts")).createWorkflowTokens({
        destinations: new Destinations(bootstrap.config.webhookAllow),
      }),
    pubsub,
    clock: systemClock,
    nextDue,
    log: bootstrap.logger,
    hashKey,
    formerHashers,
    sessionSecret: deriveKey(bootstrap.secretKey, "cookies"),
    publicUrl: bootstrap.publicUrl,
    proveServer: (nonce) => bootstrap.serverProof.prove(nonce),
    signInProviders: deps.signInProviders,
    signInHelp: bootstrap.config.signIn.help,
    serves: bootstrap.config.role === "worker" ? "health" : "everything",
    trustProxy: bootstrap.config.trustProxy,
    allowedOrigins: bootstrap.config.allowedOrigins,
    limits: bootstrap.config.limits,
    tls: bootstrap.tls,
    ready: async () => (bootstrap.draining?.aborted ? "The process stops." : database.unusable()),
    ...defined({ draining: bootstrap.draining }),
    appCreators: appCreatorsOf(bootstrap, deps),
    appManagers: appManagersOf(bootstrap),
    installers: Array.from(deps.adapters.values(), ({ installer }) => installer ?? []).flat(),
    adapterRoutes: Array.from(deps.adapters.values(), ({ routes }) => routes ?? []).flat(),
  };
}

function signInProviders(
  { signIn: { oidc } }: Config,
  adapters: AppDeps["adapters"],
): readonly SignInProvider[] {
  const ofAdapters = Array.from(adapters.values(), ({ signIn }) => signIn ?? []).flat();
  return [...ofAdapters, ...(oidc === undefined ? [] : [oidcProvider(oidc)])];
}

/** The host name under which this process takes jobs. A process of role `api` takes none. */
export function hostOf({ role, workerHost }: Config): { readonly host?: string } {
  return workerHost === undefined || role === "api" ? {} : { host: workerHost };
}

/** A process of role `api` has no files of runs. */
/** The given function of each adapter that has it, by the adapter's name. */
function openersOf<Kind extends "openRepository" | "openPullRequests">(
  adapters: ReadonlyMap<string, RunningAdapter>,
  kind: Kind,
): ReadonlyMap<string, NonNullable<RunningAdapter[Kind]>> {
  const offers = Array.from(adapters, ([name, adapter]) => [name, adapter[kind]] as const);
  return new Map(offers.flatMap(([name, open]) => (open === undefined ? [] : [[name, open] as const])));
}

/** How the repositories of teams are reached: with the key of an installation, or with the team's own token. */
function composeRepositories(
  { pullRequestApiUrl }: Config,
  deps: Pick<AppDeps, "adapters" | "secrets" | "storage"> & { readonly log: Log },
): Pick<AppDeps, "authorize" | "committerOf" | "pullRequests"> {
  const { adapters, log, secrets, storage } = deps;
  const { installations } = storage;
  const findToken = createGitTokens(storage.secrets, secrets);
  const openers = openersOf(adapters, "openRepository");
  return {
    authorize: createTeamAuthorizer({ openers, installations, findToken }),
    committerOf: createTeamCommitter({ openers, installations }),
    pullRequests: createTeamPullRequests({
      openers: openersOf(adapters, "openPullRequests"),
      openWithToken: pullRequestsWithToken(pullRequestApiUrl, log),
      installations,
      findToken,
    }),
  };
}

function composeSkills(
  { dataDir, gitUrl: baseUrl, sandbox }: Config,
  storage: Storage,
  authorize: TeamAuthorizer,
  log: Log,
) {
  const clock = systemClock;
  const imageRegistries = sandbox.docker.images.registries;
  const repositories = new RepositoryMirrors({ dataDir, baseUrl, authorize, clock, log });
  const library = createGitSkillLibrary(repositories);
  const environments = new EnvironmentService({ storage, clock, imageRegistries });
  const history = storage.skillHistory;
  return {
    repositories,
    library,
    finder: new SkillFinder({ library, environments }),
    catalogue: new SkillCatalogue({ library, environments, history, log }),
  };
}
