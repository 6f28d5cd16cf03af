import type { AdapterDeps, RunningAdapter } from "../adapters/registry.ts";
import type { Config } from "../config/config.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import { defined } from "../core/basics/defined.ts";
import { newId } from "../core/basics/ids.ts";
import type { InstallationGuide } from "../core/model/people/installation.ts";
import type { AppCreator } from "../core/ports/app-creator.ts";
import type { AppManager } from "../core/ports/app-manager.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { AdapterSettings } from "../core/ports/stores/adapter-settings.ts";
import type { AppInstallations } from "../core/ports/stores/app-installations.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import { Destinations } from "../outgoing/destinations.ts";
import type { AdapterConnection } from "./adapter-connection.ts";
import { type Logger, plainLog } from "./logger.ts";
import { systemClock } from "./system.ts";

interface Bootstrap {
  readonly config: Config;
  readonly logger: Logger;
  readonly publicUrl: () => string;
}

interface Stores {
  readonly adapterSettings: AdapterSettings;
  readonly appInstallations: AppInstallations;
  readonly blobs: Pick<BlobStore, "get">;
  readonly secrets: SecretBox;
  readonly storage: Pick<Storage, "inbox">;
}

/** How long a platform may take to answer while an app is created. */
const CREATION_MS = 10_000;

/** The adapters that are configured, by their names. */
export async function createAdapters(
  { config, logger, publicUrl }: Bootstrap,
  { adapterSettings, appInstallations, blobs, secrets, storage }: Stores,
  connection: AdapterConnection,
): Promise<ReadonlyMap<string, RunningAdapter>> {
  const clock = systemClock;
  const deps: AdapterDeps = {
    clock,
    log: plainLog(logger),
    installations: appInstallations,
    secrets,
    settings: adapterSettings,
    publicUrl,
    accept: (event) => {
      const receivedAt = systemClock.now();
      return storage.inbox.put({ ...event, id: newId(receivedAt), receivedAt });
    },
    answerCommand: connection.answerCommand,
    searchChoices: connection.searchChoices,
    views: connection.views,
    readBlob: (id) => blobs.get(id),
    readTail: readerOfTails(config),
  };
  const running = await Promise.all(config.adapters.flatMap(({ create }) => create?.(deps) ?? []));
  return new Map(running.map((adapter) => [adapter.adapter.name, adapter]));
}

/** Its HTTP client is loaded with the first text, because it is a large part of the start-up time. */
function readerOfTails({ agentAllow }: Pick<Config, "agentAllow">): (url: string) => Promise<string> {
  const destinations = new Destinations(agentAllow);
  return async (url) => (await import("../outgoing/tail-reader.ts")).createTailReader({ destinations })(url);
}

/** The platforms that create the app of this server, whether or not their adapters are on. */
export function appCreatorsOf(
  { config, logger, publicUrl }: Bootstrap,
  { appInstallations }: Pick<Stores, "appInstallations">,
): readonly AppCreator[] {
  const destinations = new Destinations(config.webhookAllow);
  // Its HTTP client is large, and an app is created once.
  const guardedFetch: typeof globalThis.fetch = async (input, init) => {
    const { createGuardedFetch } = await import("../outgoing/guarded-fetch.ts");
    const signal = AbortSignal.timeout(CREATION_MS);
    const [body, headers] = [init?.body, Object.fromEntries(new Headers(init?.headers))];
    const request = { headers, signal, ...defined({ method: init?.method }) };
    const fetch = createGuardedFetch({ destinations, connectMs: CREATION_MS });
    return fetch(String(input), typeof body === "string" ? { ...request, body } : request);
  };
  const deps = { installations: appInstallations, log: plainLog(logger), publicUrl, guardedFetch };
  return config.adapters.flatMap(({ creator }) => creator?.(deps) ?? []);
}

/** The platforms that create and update the app of this server with a token, whether or not their adapters are on. */
export function appManagersOf({ config, publicUrl }: Bootstrap): readonly AppManager[] {
  return config.adapters.flatMap(({ manager }) => manager?.({ clock: systemClock, publicUrl }) ?? []);
}

/** The guides of all adapters. */
export function guidesOf({ config, publicUrl }: Bootstrap): Promise<readonly InstallationGuide[]> {
  return Promise.all(
    config.adapters.map(async ({ guide, problems }) => ({
      ...(await guide(publicUrl())),
      ...defined({ problem: problems.length === 0 ? undefined : problems.join(" ") }),
    })),
  );
}
