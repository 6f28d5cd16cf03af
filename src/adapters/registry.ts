import type { FastifyPluginAsync } from "fastify";
import type { Log } from "../core/ports/log.ts";
import type { OpenPullRequests } from "../core/pull-requests/pull-requests.ts";
import type { OpenRepository } from "../core/repositories/repository-access.ts";
import type { InboxEvent, ThreadAdapter } from "../core/threads/thread-adapter.ts";
import { readGithubConfig } from "./github/config.ts";
import { readSlackConfig } from "./slack/config.ts";

/** What an adapter is given. */
export interface AdapterDeps {
  /** Stores an event in the inbox, durably; false when this delivery is already there. */
  accept(event: Omit<InboxEvent, "id" | "receivedAt">): Promise<boolean>;
  readonly log: Log;
}

/** An adapter put together: the port, and the web routes through which its events come. */
export interface RunningAdapter {
  readonly adapter: ThreadAdapter;
  readonly routes: FastifyPluginAsync;
  /** For a system that has repositories: how the one at this address is read. Undefined: not with a key of ours. */
  readonly openRepository?: OpenRepository;
  /** For a system that has pull requests. */
  readonly openPullRequests?: OpenPullRequests;
}

export interface AdapterReading {
  readonly problems: readonly string[];
  /** Undefined: switched off. */
  readonly create: ((deps: AdapterDeps) => Promise<RunningAdapter>) | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** One line an adapter. Its code is loaded only where it is switched on. */
const ADAPTERS: readonly ((env: Env) => AdapterReading)[] = [
  (env) =>
    reading(readSlackConfig(env), async (config, deps) =>
      (await import("./slack/index.ts")).createSlackAdapter(config, deps),
    ),
  (env) =>
    reading(readGithubConfig(env), async (config, deps) =>
      (await import("./github/index.ts")).createGithubAdapter(config, deps),
    ),
];

/** What the environment says of all adapters there are. */
export function readAdapters(env: Env): readonly AdapterReading[] {
  return ADAPTERS.map((read) => read(env));
}

function reading<Config>(
  { config, problems }: { readonly config?: Config | undefined; readonly problems: readonly string[] },
  create: (config: Config, deps: AdapterDeps) => Promise<RunningAdapter>,
): AdapterReading {
  return { problems, create: config === undefined ? undefined : (deps) => create(config, deps) };
}
