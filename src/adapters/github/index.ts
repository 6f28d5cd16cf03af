import type { FastifyPluginAsync } from "fastify";
import { defined } from "../../core/basics/defined.ts";
import type { Log } from "../../core/basics/log.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import type { Check } from "../../core/ports/check.ts";
import type { OpenPullRequests } from "../../core/ports/pull-requests.ts";
import type { OpenRepository } from "../../core/ports/repository-access.ts";
import type { SignInProvider } from "../../core/ports/sign-in-provider.ts";
import type { AdapterTraits, ReceivedEvent, ThreadAdapter } from "../../core/ports/thread-adapter.ts";
import type { LostEvents } from "../../core/threads/inbox/event-recovery.ts";
import { WebhookArrivals } from "../webhook-route.ts";
import { parseReceipt, reviewThreadOf } from "./addresses.ts";
import { authorize, mayWrite, standingOf } from "./authorize.ts";
import { REQUESTED_ACTION, requestedAction } from "./check-actions.ts";
import { mayWriteChecks } from "./check-runs.ts";
import { githubChecks } from "./checks.ts";
import { GithubClient } from "./client.ts";
import { GitWrites } from "./commits/git-writes.ts";
import { type GithubConfig, webUrlOf } from "./config.ts";
import { deliver } from "./deliver.ts";
import { ErrandFiles, withErrandFile } from "./errand-file/reader.ts";
import { removeBranch } from "./errand-file/remove-branch.ts";
import { withErrandFileSchema } from "./errand-file/route.ts";
import { gather } from "./gather.ts";
import { BotIdentity } from "./identity.ts";
import { inspect } from "./inspect-report.ts";
import { INSTALLATION_EVENTS, takeInstallationEvent } from "./installation-events.ts";
import { LostDeliveries } from "./lost-deliveries.ts";
import { PACE, writesOf } from "./pace.ts";
import { Posts } from "./posts.ts";
import { coAuthorOf, isPullRequest, parseProvenance } from "./provenance.ts";
import { openPullRequests } from "./pull-requests.ts";
import { RefusedPlaces } from "./refused-places.ts";
import { REPORT_EVENT, type ReportDeps, reportsIn } from "./reports.ts";
import { GithubRepositories, RepositoryNames } from "./repositories.ts";
import { readReviewReport } from "./review/report.ts";
import { githubSignIn } from "./sign-in.ts";
import { StoredEvents } from "./stored-events.ts";
import { translate } from "./translate.ts";
import { REPORT_EVENTS, SPOKEN_EVENTS, webhookRoutes } from "./webhook.ts";

export { type GithubConfig, readGithubConfig } from "./config.ts";

export interface GithubDeps {
  /** Stores an event in the inbox; false if this delivery is already stored. */
  accept(event: ReceivedEvent): Promise<boolean>;
  /** The end of the text at a public address. */
  readTail(url: string): Promise<string>;
  readonly log: Log;
  /** Used for every call to GitHub instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

export interface GithubAdapter {
  readonly adapter: ThreadAdapter;
  /** Serves `POST /webhooks/github`, and the schema of the file of a repository. */
  readonly routes: FastifyPluginAsync;
  readonly checks: (facts: AdapterFacts) => readonly Check[];
  readonly openRepository: OpenRepository;
  readonly openPullRequests: OpenPullRequests;
  readonly lostEvents: LostEvents;
  readonly signIn?: SignInProvider;
}

export function createGithubAdapter(config: GithubConfig, deps: GithubDeps): GithubAdapter {
  const client = new GithubClient(config, deps);
  const identity = new BotIdentity(config, client);
  const posts = new Posts(client, identity);
  const now = deps.now ?? Date.now;
  const names = new RepositoryNames(client, now);
  const refused = new RefusedPlaces(now);
  const files = new ErrandFiles(now);
  const writes = new GitWrites(now);
  const reads = { client, files, identity, names };
  const events = eventsOf(reads);
  const adapter: ThreadAdapter = {
    name: "github",
    traits: traitsOf(reads, webUrlOf(config.apiUrl)),
    translate: async (event) => {
      files.learn(event);
      const translation = await events.translate(event);
      if (translation.kind === "message") {
        refused.forget(translation.message);
      }
      return translation;
    },
    authorize: (message) => authorize(message, reads),
    settingsOf: ({ installation, provenance }) => {
      const { id } = parseProvenance(provenance).repository;
      return withErrandFile({ id, installation }, reads, async (settings) => settings);
    },
    inspect: (report, run) => inspect(report, run, reads),
    removeBranch: (report, run, pushed) => removeBranch(report, { pushed, run }, reads),
    standingOf: (thread, subject) => standingOf(thread, subject, reads),
    mayWrite: (message, repository) => mayWrite(message, repository, { client }),
    gather: async (message, about) =>
      about.isEdit === true ? {} : gather(message, { ...about, client, names, readTail: deps.readTail }),
    deliver: async (delivery) => {
      const trigger = `@${await identity.name()}`;
      return refused.watch(delivery, () => deliver(delivery, { ...reads, posts, trigger }));
    },
    refuses: (delivery) => refused.refuses(delivery),
    permalinkOf: async (_thread, receipt) => parseReceipt(receipt).url,
  };
  const { accept, log } = deps;
  const arrivals = new WebhookArrivals();
  const { apiUrl, oauth } = config;
  const repositories = new GithubRepositories(config, { client, identity, log, names });
  return {
    adapter,
    routes: withErrandFileSchema(webhookRoutes({ arrivals, secrets: config.webhookSecrets, log, accept })),
    checks: (facts) => githubChecks(config, { arrivals, facts, fetch: deps.fetch ?? globalThis.fetch, log }),
    lostEvents: new LostDeliveries({ client, log, now }),
    openRepository: (url) => repositories.open(url),
    openPullRequests: (repository) => openPullRequests(repository, { ...reads, repositories, writes }),
    ...defined({ signIn: oauth ? githubSignIn({ apiUrl, oauth }, deps) : undefined }),
  };
}

function traitsOf({ client, identity }: ReportDeps, webUrl: URL): AdapterTraits {
  return {
    source: "GITHUB_WEBHOOK",
    // The first event asks GitHub for the App's slug. Until then this is a default name.
    trigger: () => identity.trigger,
    placeOf: reviewThreadOf,
    pace: PACE,
    writesOf: (notice, installation) => writesOf(notice, mayWriteChecks(client, installation)),
    showsCheckIn: isPullRequest,
    reviewIn: readReviewReport,
    coAuthorOf: (actor) => coAuthorOf(actor, webUrl),
    // Everyone who may read a repository reads its threads, and outside collaborators may.
    isPublic: () => true,
  };
}

function eventsOf(deps: ReportDeps): Pick<StoredEvents, "translate"> {
  const { identity, names } = deps;
  const events = new StoredEvents([
    [INSTALLATION_EVENTS, async (event) => takeInstallationEvent(event, deps)],
    [REPORT_EVENTS, (event) => reportsIn(event, deps)],
    [[REQUESTED_ACTION], async (event) => requestedAction(event, identity.appId)],
    [
      SPOKEN_EVENTS,
      async (event) => {
        const [name, login] = [await identity.name(), await identity.login()];
        const { appId, label } = identity;
        return translate(event, { name, login, appId, label, names });
      },
    ],
  ]);
  return {
    translate: async (event) => {
      // An event that this adapter made itself has no name of GitHub's.
      const report = event.name === REPORT_EVENT ? await reportsIn(event, deps) : undefined;
      return report ?? events.translate(event);
    },
  };
}
