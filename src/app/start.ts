import { existsSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { keyHint, newApiKey } from "../api/auth/api-keys.ts";
import { findPagesProblem } from "../api/pages/built-app.ts";
import { createServer } from "../api/server.ts";
import { startProgram } from "../child-process/start-program.ts";
import type { Config } from "../config/config.ts";
import { sleep } from "../core/basics/clock.ts";
import { AppError, StartupError } from "../core/basics/errors.ts";
import type { Log } from "../core/basics/log.ts";
import { AT_START, retry } from "../core/basics/retry.ts";
import { RESTRICTED } from "../core/model/workers/worker.ts";
import { SignInRenewals } from "../core/team/people/sign-in-renewal.ts";
import { LostRuns } from "../core/upkeep/lost-runs.ts";
import type { RunLoop } from "../core/work/attempts/run-loop.ts";
import { ensureAdministratorKey, readOrCreateApiKey } from "../secrets/administrator-key.ts";
import { createKnownSecrets } from "../secrets/redaction.ts";
import { randomSecret, readOrCreateSecret, readSecret } from "../secrets/secret-files.ts";
import { ServerProof } from "../secrets/server-proof.ts";
import { repairLog } from "../storage/log-repair.ts";
import { applyMigrations } from "../storage/migrations.ts";
import { findOtherLocation } from "../storage/object-blob-store.ts";
import { requireOwnSessions, requirePoolerSettings } from "../storage/pooler.ts";
import { adoptSecretKey, hasSecretKeyOf } from "../storage/secret-key-check.ts";
import { AdapterRestarts, watchSettings } from "./adapter-restarts.ts";
import { type AppDeps, apiDeps, type Bootstrap, compose } from "./compose.ts";
import { findAgentProblem, findModelNote } from "./compose-agents.ts";
import { makeDataDir } from "./data-dir.ts";
import { createLogger, plainLog } from "./logger.ts";
import { failureOfStart } from "./newer-database.ts";
import { cannotListen, requireFreePort } from "./port-check.ts";
import { drainWork, prepareWorker, startRunLoop, startWorker, stopWork } from "./start-worker.ts";
import { systemClock } from "./system.ts";
import { readTls } from "./tls.ts";

/** A running service. */
export interface App {
  readonly url: string;
  readonly agentName: string;
  readonly sandboxName: string | undefined;
  /** Why runs without an agent of their own fail. Undefined: they do not. */
  readonly agentProblem: string | undefined;
  /** Why the worker has no sandbox, with the remedy. Undefined: it has one, or this process is no worker. */
  readonly sandboxProblem: string | undefined;
  /** Why there are no pages of this version, with the remedy. Undefined: there are, or this process serves none. */
  readonly pagesProblem: string | undefined;
  /** Which model runs without one use, if that depends on the model server. */
  readonly modelNote: string | undefined;
  /** The file with the administrator's key, if this process has it. */
  readonly keyFile: string | undefined;
  readonly log: Log;
  /** Stops taking work, ends or hands back runs, and closes everything. Can be called repeatedly. */
  stop(): Promise<void>;
}

/** A sign-in is due 20 minutes after its last proof. */
const RENEWAL_MS = 5 * 60_000;
const LOST_KEY =
  "Put the former key back, or add it to ERRAND_OLD_SECRET_KEYS. If it is lost, start once with ERRAND_SECRET_KEY_LOST=1: stored secrets, API keys and share links are then lost too.";

/** Starts what the role needs in the order of its dependencies. Stopping goes in the opposite order. */
export async function startApp(config: Config): Promise<App> {
  const undo = new AsyncDisposableStack();
  try {
    const prepared = await prepare(config, undo);
    const restarts = new AdapterRestarts(prepared, startPrepared);
    const app = await restarts.start();
    undo.defer(() => restarts.stop());
    return { ...app, stop: () => undo.disposeAsync() };
  } catch (error) {
    await undo.disposeAsync();
    throw error instanceof AppError ? new StartupError(startupText(error)) : error;
  }
}

/** `look` is called when the stored settings of adapters may have changed. */
async function startPrepared(prepared: Prepared, look: () => void): Promise<App> {
  const undo = new AsyncDisposableStack();
  try {
    return await start(prepared, undo, look);
  } catch (error) {
    const failure = await failureOfStart(error, prepared.databaseUrl);
    await undo.disposeAsync();
    throw failure;
  }
}

async function start(prepared: Prepared, undo: AsyncDisposableStack, look: () => void): Promise<App> {
  const { config } = prepared;
  const draining = new AbortController();
  const bootstrap = { ...prepared, draining: draining.signal };
  const deps = await compose(bootstrap);
  closeStores(deps, undo);
  await deps.pubsub.start();
  // The server stops before the queue, so that no new work arrives while work is handed back.
  let runLoop: RunLoop | undefined;
  undo.defer(() => stopWork(deps, runLoop));
  await deps.queue.start();
  // The database may be busy when many processes start at once.
  await retry(systemClock, AT_START, () => requireSecretKey(config, deps));
  await retry(systemClock, AT_START, () => requireObjectStore(deps));
  const keyFile = await retry(systemClock, AT_START, () => keepKey(config, deps));
  const worker = config.role === "api" ? undefined : await prepareWorker(bootstrap, deps, undo);
  const server = await listen(bootstrap, deps, undo);
  if (config.role !== "worker") {
    startSocketModes(deps, undo);
    renewSignIns(bootstrap, deps, undo);
  }
  recoverLostRuns(bootstrap, deps, undo);
  closeHelpers(deps, undo);
  if (worker !== undefined) {
    runLoop = startRunLoop(bootstrap, deps, worker);
    await startWorker(config, deps, worker, undo);
  }
  undo.defer(watchSettings(deps.pubsub, look));
  const sandboxName = worker?.chosen.sandbox.name;
  const sandboxProblem = sandboxName === RESTRICTED ? worker?.chosen.notes.at(-1) : undefined;
  const log = plainLog(bootstrap.logger);
  log.info("app.started", { role: config.role, address: server.listeningOrigin, sandboxName });
  const stop = async () => {
    // Runs are handed back while requests are still answered, so that the whole stop takes no longer.
    if (config.drainMs > 0) {
      draining.abort();
      await Promise.all([sleep(systemClock, config.drainMs), drainWork(deps, runLoop)]);
    }
    await undo.disposeAsync();
  };
  const pages = config.role === "worker" ? undefined : await findPagesProblem();
  return {
    url: bootstrap.publicUrl(),
    agentName: deps.agents.defaultName,
    agentProblem: findAgentProblem(config, deps.agents),
    sandboxName,
    sandboxProblem,
    pagesProblem: pages && `${pages.message} ${pages.remedy}`,
    modelNote: await findModelNote(config, deps.agents),
    keyFile,
    log,
    stop,
  };
}

/** What stays when the application is started again. */
interface Prepared extends Bootstrap {
  /** `port`: the one that the server listens on. */
  readonly address: { url: string; port: number };
}

async function prepare(config: Config, undo: AsyncDisposableStack): Promise<Prepared> {
  await requireFreePort(config);
  await makeDataDir(config.dataDir);
  const secretKey = await secretKeyOf(config);
  const ownKey =
    config.databaseUrl === undefined && config.apiKey === undefined
      ? await readOrCreateApiKey(config.dataDir, newApiKey)
      : undefined;
  const knownSecrets = createKnownSecrets([
    ...config.secrets,
    secretKey,
    ...(ownKey === undefined ? [] : [ownKey]),
  ]);
  const tls = await readTls(config);
  const logger = createLogger(config.logLevel, knownSecrets.redact);
  const log = plainLog(logger);
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config.dataDir, log, undo));
  await requireSessions(config);
  await applyMigrations(databaseUrl, log);
  try {
    if (await repairLog(databaseUrl)) {
      log.warn("event_log.positions.moved");
    }
  } catch (error) {
    throw await failureOfStart(error, databaseUrl);
  }
  const address = { url: config.publicUrl ?? ownUrl(config), port: config.port };
  const publicUrl = () => address.url;
  const serverProof = new ServerProof();
  return { config, databaseUrl, secretKey, knownSecrets, logger, tls, publicUrl, serverProof, address };
}

async function requireSessions({ databaseUrl, poolerUrl }: Config): Promise<void> {
  if (databaseUrl !== undefined) {
    await requireOwnSessions(databaseUrl, poolerUrl === undefined ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
  }
  if (poolerUrl !== undefined) {
    await requirePoolerSettings(poolerUrl);
  }
}

/** A missing key is created only for a new database, because it cannot open what another key has sealed. */
async function secretKeyOf({ acceptsNewSecretKey, dataDir, secretKey }: Config): Promise<string> {
  if (secretKey !== undefined) {
    return secretKey;
  }
  const kept = await readSecret(dataDir, "secret-key");
  if (kept === undefined && !acceptsNewSecretKey && existsSync(join(dataDir, "postgres"))) {
    throw new StartupError(`The file ${join(dataDir, "secret-key")} is missing. ${LOST_KEY}`);
  }
  return kept ?? (await readOrCreateSecret(dataDir, "secret-key", randomSecret));
}

async function requireSecretKey(config: Config, { database, secrets }: AppDeps): Promise<void> {
  if (config.acceptsNewSecretKey) {
    return adoptSecretKey(database, secrets);
  }
  if (!(await hasSecretKeyOf(database, secrets))) {
    const place =
      config.secretKey === undefined ? `The file ${join(config.dataDir, "secret-key")}` : "ERRAND_SECRET_KEY";
    throw new StartupError(`${place} is not the secret key of this database. ${LOST_KEY}`);
  }
}

function closeStores(deps: AppDeps, undo: AsyncDisposableStack): void {
  undo.defer(() => deps.database.close());
  undo.defer(() => deps.objects?.close());
  undo.defer(() => deps.blobDatabase.close());
  undo.defer(() => deps.reportDatabase.close());
  undo.defer(() => deps.pubsub.stop());
}

/** Runs would fail later, and a run that lost its files would begin again without them. */
async function requireObjectStore({ database, objects }: AppDeps): Promise<void> {
  const other = await findOtherLocation(database, objects?.location);
  if (other !== undefined) {
    throw new StartupError(
      `Files of runs are in ${other}. Set ERRAND_BLOB_URL to that store${objects === undefined ? "" : `, not to ${objects.location}`}, or move the files first: npm run blobs:move (docs/operations/scale.md).`,
    );
  }
}

async function startDatabase(dataDir: string, log: Log, undo: AsyncDisposableStack): Promise<string> {
  const { PostgresStartError, startEmbeddedPostgres } = await import("@errand/embedded-postgres");
  try {
    const embedded = await startEmbeddedPostgres({ dataDir, log, startProgram });
    undo.defer(() => embedded.stop());
    return embedded.url;
  } catch (error) {
    throw error instanceof PostgresStartError ? new StartupError(error.message, { cause: error }) : error;
  }
}

function keepKey({ apiKey, databaseUrl, dataDir }: Config, deps: AppDeps): Promise<string | undefined> {
  const { formerHashers, hashKey, storage } = deps;
  const hashers = [hashKey, ...formerHashers] as const;
  const isShared = databaseUrl !== undefined;
  return ensureAdministratorKey({
    apiKey,
    dataDir,
    hashers,
    isShared,
    storage,
    newKey: newApiKey,
    hintOf: keyHint,
  });
}

async function listen(
  bootstrap: Prepared,
  deps: AppDeps,
  undo: AsyncDisposableStack,
): Promise<FastifyInstance> {
  const { config, address } = bootstrap;
  const server = await createServer(apiDeps(bootstrap, deps));
  undo.defer(() => server.close());
  try {
    await server.listen({ host: config.host, port: address.port });
  } catch (error) {
    throw cannotListen({ host: config.host, port: address.port }, error);
  }
  address.port ||= Number(new URL(server.listeningOrigin).port);
  if (config.publicUrl === undefined) {
    address.url = server.listeningOrigin;
  }
  if (config.role !== "worker") {
    undo.defer(await bootstrap.serverProof.publish(config.dataDir, server.listeningOrigin));
  }
  return server;
}

/** Events come to the processes that have web routes, whichever way they come. */
function startSocketModes({ adapters }: AppDeps, undo: AsyncDisposableStack): void {
  for (const { socketMode } of adapters.values()) {
    if (socketMode !== undefined) {
      undo.defer(() => socketMode.stop());
      socketMode.start();
    }
  }
}

/** The processes that sign people in also ask the identity provider about them again. */
function renewSignIns(bootstrap: Bootstrap, deps: AppDeps, undo: AsyncDisposableStack): void {
  const { secrets, signInProviders: providers, storage } = deps;
  const log = plainLog(bootstrap.logger);
  const renewals = new SignInRenewals({ storage, secrets, providers, clock: systemClock, log });
  const timer = setInterval(() => void renewals.round(), RENEWAL_MS);
  undo.defer(() => clearInterval(timer));
}

function recoverLostRuns(bootstrap: Bootstrap, deps: AppDeps, undo: AsyncDisposableStack): void {
  const { pubsub, storage, writer } = deps;
  const log = plainLog(bootstrap.logger);
  const lostRuns = new LostRuns({ storage, pubsub, writer, clock: systemClock, log });
  undo.defer(lostRuns.start());
}

/** They close before the server, which answers callers that wait for a repository. */
function closeHelpers({ agents, repositories }: AppDeps, undo: AsyncDisposableStack): void {
  undo.defer(() => repositories.close());
  undo.defer(() => agents.programs.close());
}

function ownUrl({ host, port, tls }: Config): string {
  const hostname = isIPv6(host) ? `[${host}]` : host;
  return `${tls === undefined ? "http" : "https"}://${hostname}:${port}`;
}

function startupText({ message, options }: AppError): string {
  return options.remedy === undefined ? message : `${message} ${options.remedy}`;
}
