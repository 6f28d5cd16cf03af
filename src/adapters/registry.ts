import type { FastifyPluginAsync } from "fastify";
import type { Clock } from "../core/basics/clock.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";
import type { InstallationGuide } from "../core/model/people/installation.ts";
import type { AdapterFacts } from "../core/ports/adapter-facts.ts";
import type { AppCreator } from "../core/ports/app-creator.ts";
import type { AppInstaller } from "../core/ports/app-installer.ts";
import type { AppManager } from "../core/ports/app-manager.ts";
import type { Check } from "../core/ports/check.ts";
import type { OpenPullRequests, OpenPullRequestsWithToken } from "../core/ports/pull-requests.ts";
import type { OpenRepository } from "../core/ports/repository-access.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { AdapterSettings } from "../core/ports/stores/adapter-settings.ts";
import type { AppInstallations } from "../core/ports/stores/app-installations.ts";
import type { ReceivedEvent, ThreadAdapter } from "../core/ports/thread-adapter.ts";
import type { ChoiceOption, ChoiceSearch } from "../core/threads/inbox/environment-choice.ts";
import type { LostEvents } from "../core/threads/inbox/event-recovery.ts";
import type { PersonViews } from "../core/threads/inbox/person-views.ts";
import type { PrivateCommand } from "../core/threads/inbox/private-commands.ts";
import { githubApiUrlOf, githubVariableDocs, readGithubConfig, webUrlOf } from "./github/config.ts";
import {
  APP_ID,
  readSlackConfig,
  type SlackConfig,
  slackApiUrlOf,
  slackVariableDocs,
} from "./slack/config.ts";

/** What the wiring passes to each adapter. */
export interface AdapterDeps {
  /** Stores an event in the inbox; false if this delivery is already stored. */
  accept(event: ReceivedEvent): Promise<boolean>;
  /** The bytes of a file that a notice names. */
  readBlob(id: string): Promise<Uint8Array>;
  /** Answers a command to its author alone. */
  answerCommand(command: PrivateCommand): Promise<string>;
  /** The end of the text at a public address. */
  readTail(url: string): Promise<string>;
  /** The environments that a person may choose for a request. */
  searchChoices(search: ChoiceSearch): Promise<readonly ChoiceOption[]>;
  /** What one person sees outside of threads. */
  readonly views: Pick<PersonViews, "form" | "home" | "preview">;
  /** Where installations are kept that administrators make. */
  readonly installations: AppInstallations;
  readonly secrets: SecretBox;
  /** The stored settings of adapters. */
  readonly settings: Pick<AdapterSettings, "read">;
  /** The address of this server. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A created adapter: the port, and what receives its events. */
export interface RunningAdapter {
  readonly adapter: ThreadAdapter;
  /** The web routes that receive its events. */
  readonly routes?: FastifyPluginAsync;
  /** For a system that sends events over connections that Errand opens. The processes with web routes open them. */
  readonly socketMode?: { start(): void; stop(): Promise<void>; readonly check: Check };
  /** For a system that lists what it sent. */
  readonly lostEvents?: LostEvents;
  /** What the doctor checks on the platform. */
  readonly checks: (facts: AdapterFacts) => readonly Check[];
  /**
   * For a system with repositories: opens the one at this address. Undefined if the adapter has no credentials for
   * it.
   */
  readonly openRepository?: OpenRepository;
  /** For a system whose accounts can sign in to the pages. Undefined: it is not configured for that. */
  readonly signIn?: SignInProvider;
  /** For a system whose workspaces an administrator connects in the browser. Undefined: it is not configured for that. */
  readonly installer?: AppInstaller;
  /** For a system with pull requests. */
  readonly openPullRequests?: OpenPullRequests;
}

/** Opens pull requests with a token of the team, whether or not the adapter is on. */
export function pullRequestsWithToken(apiUrl: string, log: Log): OpenPullRequestsWithToken {
  return async (repository, token) => {
    const { GithubTokenClient } = await import("./github/client.ts");
    const { openPullRequestsWithToken } = await import("./github/pull-requests.ts");
    return openPullRequestsWithToken(repository, new GithubTokenClient(apiUrl, token, { log }));
  };
}

export interface AdapterReading {
  readonly name: string;
  /** The names of its variables. */
  readonly variables: readonly string[];
  readonly problems: readonly string[];
  /** Whether the problems are only that variables are missing, which may be among the stored settings. */
  readonly isPartial?: boolean;
  /** Undefined: the adapter is off. */
  readonly create: ((deps: AdapterDeps) => Promise<RunningAdapter>) | undefined;
  /** How an operator connects the platform with the server at this address, whether or not the adapter is on. */
  readonly guide: (publicUrl: string) => Promise<InstallationGuide>;
  /** For a platform that creates and updates the app with a token of an operator, whether or not the adapter is on. */
  readonly manager?: (deps: Pick<AdapterDeps, "clock" | "publicUrl">) => AppManager;
  /** For a platform that creates the app of this server, whether or not the adapter is on. */
  readonly creator?: (deps: CreatorDeps) => AppCreator;
}

export interface CreatorDeps extends Pick<AdapterDeps, "installations" | "log" | "publicUrl"> {
  /** Reaches only public addresses, and those that the operator of the server allows. */
  readonly guardedFetch: typeof globalThis.fetch;
}

type Env = Readonly<Record<string, string | undefined>>;

/** One entry per adapter. The code of an adapter is loaded only if it is on, and its guide when it is read. */
const ADAPTERS: readonly ((env: Env) => AdapterReading)[] = [
  (env) => {
    const { config, isPartial, problems } = readSlackConfig(env);
    return {
      name: "slack",
      variables: Object.keys(slackVariableDocs),
      problems,
      ...defined({ isPartial }),
      create: config && ((deps) => createSlack(config, deps, env)),
      guide: async (publicUrl) =>
        (await import("./slack/app-manifest.ts")).slackGuide(publicUrl, config, env[APP_ID]),
      manager: (deps) => ({
        adapter: "slack",
        apply: async (...request) => {
          const { SlackAppManager } = await import("./slack/app-manager.ts");
          const apiUrl = slackApiUrlOf(env);
          return new SlackAppManager({ ...deps, apiUrl, env }).apply(...request);
        },
      }),
    };
  },
  (env) => {
    const { config, isPartial, problems } = readGithubConfig(env);
    const apiUrl = githubApiUrlOf(env, "https://github.com");
    return {
      name: "github",
      variables: Object.keys(githubVariableDocs),
      problems,
      ...defined({ isPartial }),
      create:
        config && (async (deps) => (await import("./github/index.ts")).createGithubAdapter(config, deps)),
      guide: async (publicUrl) =>
        (await import("./github/app-settings.ts")).githubGuide(publicUrl, {
          apiUrl,
          enabled: config !== undefined,
        }),
      creator: (deps) => {
        const load = async () =>
          new (await import("./github/app-creator.ts")).GithubAppCreator({ ...deps, apiUrl, env });
        return {
          adapter: "github",
          title: "GitHub",
          begin: async (...attempt) => (await load()).begin(...attempt),
          finish: async (...attempt) => (await load()).finish(...attempt),
        };
      },
    };
  },
];

async function createSlack(config: SlackConfig, deps: AdapterDeps, env: Env): Promise<RunningAdapter> {
  const adapter = (await import("./slack/index.ts")).createSlackAdapter(config, deps);
  if (!env[APP_ID]) {
    return adapter;
  }
  const { manifestCheck } = await import("./slack/app-manager.ts");
  const check = manifestCheck(deps.settings, deps.publicUrl);
  return { ...adapter, checks: (facts) => [...adapter.checks(facts), check] };
}

/** The address of the API for the pull requests of the git host. */
export function pullRequestApiUrlOf(env: Env, gitUrl: string): string {
  return githubApiUrlOf(env, gitUrl);
}

/** The git host of an app that was created on a server of its own. */
export function gitUrlOf({ GITHUB_API_URL: apiUrl }: Env): string | undefined {
  return apiUrl ? webUrlOf(apiUrl).origin : undefined;
}

/** Documentation of the variables of all adapters. */
export const adapterVariableDocs = { ...slackVariableDocs, ...githubVariableDocs };

/** Reads the variables of all adapters. */
export function readAdapters(env: Env): readonly AdapterReading[] {
  return ADAPTERS.map((read) => read(env));
}
