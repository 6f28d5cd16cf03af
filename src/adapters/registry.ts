import type { FastifyPluginAsync } from "fastify";
import type { Clock } from "../core/basics/clock.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import type { Log } from "../core/basics/log.ts";
import type { InstallationGuide } from "../core/model/people/installation.ts";
import type { AdapterFacts } from "../core/ports/adapter-facts.ts";
import type { AppInstaller } from "../core/ports/app-installer.ts";
import type { Check } from "../core/ports/check.ts";
import type { OpenPullRequests, OpenPullRequestsWithToken } from "../core/ports/pull-requests.ts";
import type { OpenRepository } from "../core/ports/repository-access.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { AppInstallations } from "../core/ports/stores/app-installations.ts";
import type { ReceivedEvent, ThreadAdapter } from "../core/ports/thread-adapter.ts";
import type { ChoiceOption, ChoiceSearch } from "../core/threads/inbox/environment-choice.ts";
import type { LostEvents } from "../core/threads/inbox/event-recovery.ts";
import type { PersonViews } from "../core/threads/inbox/person-views.ts";
import type { PrivateCommand } from "../core/threads/inbox/private-commands.ts";
import { githubApiUrlOf, githubVariableDocs, readGithubConfig } from "./github/config.ts";
import { readSlackConfig, slackVariableDocs } from "./slack/config.ts";

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
  readonly problems: readonly string[];
  /** Undefined: the adapter is off. */
  readonly create: ((deps: AdapterDeps) => Promise<RunningAdapter>) | undefined;
  /** How an operator connects the platform with the server at this address, whether or not the adapter is on. */
  readonly guide: (publicUrl: string) => Promise<InstallationGuide>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** One entry per adapter. The code of an adapter is loaded only if it is on, and its guide when it is read. */
const ADAPTERS: readonly ((env: Env) => AdapterReading)[] = [
  (env) => {
    const { config, problems } = readSlackConfig(env);
    return {
      problems,
      create: config && (async (deps) => (await import("./slack/index.ts")).createSlackAdapter(config, deps)),
      guide: async (publicUrl) => (await import("./slack/app-manifest.ts")).slackGuide(publicUrl, config),
    };
  },
  (env) => {
    const { config, problems } = readGithubConfig(env);
    const apiUrl = githubApiUrlOf(env, "https://github.com");
    return {
      problems,
      create:
        config && (async (deps) => (await import("./github/index.ts")).createGithubAdapter(config, deps)),
      guide: async (publicUrl) =>
        (await import("./github/app-settings.ts")).githubGuide(publicUrl, {
          apiUrl,
          enabled: config !== undefined,
        }),
    };
  },
];

/** The address of the API for the pull requests of the git host. */
export function pullRequestApiUrlOf(env: Env, gitUrl: string): string {
  return githubApiUrlOf(env, gitUrl);
}

/** Documentation of the variables of all adapters. */
export const adapterVariableDocs = { ...slackVariableDocs, ...githubVariableDocs };

/** Reads the variables of all adapters. */
export function readAdapters(env: Env): readonly AdapterReading[] {
  return ADAPTERS.map((read) => read(env));
}
