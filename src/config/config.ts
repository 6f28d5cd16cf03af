import { resolve } from "node:path";
import type { z } from "zod";
import {
  type AdapterReading,
  adapterVariableDocs,
  gitUrlOf,
  pullRequestApiUrlOf,
  readAdapters,
} from "../adapters/registry.ts";
import { butNot, StartupError } from "../core/basics/errors.ts";
import type { RunSettings } from "../core/work/lease/attempt-deps.ts";
import type { AllowList } from "../outgoing/allow-list.ts";
import { type AgentConfig, agentConfigOf, agentProblems } from "./agents.ts";
import { type ApiLimitSettings, apiLimitsOf } from "./api-limits.ts";
import { type BlobConfig, blobConfigOf } from "./blobs.ts";
import { type DiskLimits, diskLimitsOf } from "./disk.ts";
import { runSettingsOf } from "./limits.ts";
import { type ModelConfig, type ModelPrice, modelsOf } from "./models.ts";
import { type SandboxConfig, sandboxConfigOf } from "./sandbox.ts";
import { type Env, SECRET_NAME, secretsIn } from "./secret-values.ts";
import { type SignInConfig, signInConfigOf, signInProblems } from "./sign-in.ts";
import { variableDocs } from "./variable-docs.ts";
import { withFiles } from "./variable-files.ts";
import { problemsOfUnknown, withoutClientVariables } from "./variable-names.ts";
import { type Variables, variables } from "./variables.ts";

export interface Config {
  readonly role: Variables["ERRAND_ROLE"];
  readonly host: string;
  readonly port: number;
  /** Undefined: the address that the server listens on. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** The address of PostgreSQL itself. Undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  /** The address of a pooler, through which short statements go. Undefined: all connections are direct ones. */
  readonly poolerUrl: string | undefined;
  readonly databaseConnections: number;
  /** Where new blobs are stored. Undefined: in the database. */
  readonly blobs: BlobConfig | undefined;
  readonly apiKey: string | undefined;
  readonly secretKey: string | undefined;
  /** Whether the secret key may be another one than that of the database. */
  readonly acceptsNewSecretKey: boolean;
  /** Earlier secret keys. Values that were encrypted or hashed with them can still be read. */
  readonly oldSecretKeys: readonly string[];
  readonly agent: AgentConfig;
  readonly sandbox: SandboxConfig;
  readonly work: RunSettings;
  readonly disk: DiskLimits;
  /** How long the body of an event of an integration is kept after its result. */
  readonly eventBodyMs: number;
  /** How long the checkpoint of an ended run is kept, before only its work is kept. */
  readonly checkpointsMs: number;
  /** How long processed events and sent notices are kept. */
  readonly historyMs: number;
  readonly concurrency: number;
  /** How many agents may wait for a person in one worker. */
  readonly waitingAgents: number;
  /** The name by which runs select this worker. Undefined: it takes only runs that name no worker. */
  readonly workerHost: string | undefined;
  /** The networks from which agents connect, as the operator states them. */
  readonly egressRanges: readonly string[];
  /** Repositories are at `<gitUrl>/<owner>/<name>.git`. */
  readonly gitUrl: string;
  /** The API with which pull requests are opened by a token of the team. */
  readonly pullRequestApiUrl: string;
  /** How long a git host may send nothing while it prepares a repository. */
  readonly gitWaitMinutes: number;
  /** How long a setup command of an environment may take; all of one environment may take three times as long. */
  readonly setupMinutes: number;
  readonly backgroundMs: number;
  /** Addresses that webhooks may reach although they are not public or not HTTPS. */
  readonly webhookAllow: AllowList;
  /**
   * Addresses that agents with network access and remote MCP servers may use although they are not public or not
   * HTTPS.
   */
  readonly agentAllow: AllowList;
  /** The model servers for which a key or an address is set. */
  readonly models: ModelConfig;
  /** By model id, or by a prefix that ends in `*`. */
  readonly modelPrices: Readonly<Record<string, ModelPrice>>;
  /** The number of proxies in front of the server. False: none. */
  readonly trustProxy: number | false;
  readonly allowedOrigins: readonly string[];
  readonly limits: ApiLimitSettings;
  /** How long a process that stops still answers requests. */
  readonly drainMs: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly signIn: SignInConfig;
  readonly logLevel: string;
  /** All adapters, whether or not they are configured. */
  readonly adapters: readonly AdapterReading[];
  /** The environment as adapters read it. */
  readonly adapterVariables: Env;
  /** What the operator should know of the variables, although the server starts. */
  readonly notes: readonly string[];
  /** The values of all variables that hold secrets. They must never be shown. */
  readonly secrets: readonly string[];
}

const DRAIN_SECONDS = 5;
const DAY_MS = 86_400_000;
const WAITING_AGENTS_PER_SLOT = 4;

const SECRET_VARIABLES = Object.entries(variableDocs).flatMap(([name, doc]) =>
  doc.secret === true ? [name] : [],
);
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(variables.shape),
  ...Object.keys(adapterVariableDocs),
]);

/** The only reader of the environment. One `StartupError` reports all problems. */
export function readConfig(environment: Env): Config {
  const files = withFiles(withoutEmpty(environment), SECRET_VARIABLES);
  const { env, notes } = withoutClientVariables(files.env);
  const parsed = variables.safeParse(env);
  const adapters = readAdapters(env);
  const problems = [
    ...(parsed.success ? problemsOf(parsed.data) : problemsOfInvalid(env, parsed.error.issues)),
    ...problemsOfUnknown(Object.keys(env), KNOWN),
    ...files.problems,
  ];
  const isComplete = adapters.every(({ isPartial, problems }) => isPartial || problems.length === 0);
  if (!parsed.success || problems.length > 0 || !isComplete) {
    const all = [...problems, ...adapters.flatMap((adapter) => adapter.problems)];
    throw new StartupError(all.join("\n"));
  }
  return Object.freeze({
    ...configOf(parsed.data, env),
    adapters,
    adapterVariables: env,
    notes,
    secrets: secretsIn(files.env),
  });
}

/**
 * The configuration with the settings of adapters that are stored in the database. A variable wins over the setting of
 * the same name. Settings that do not fit leave their adapter off, because an operator removes them on the pages.
 */
export function withStoredSettings(config: Config, stored: Readonly<Record<string, string>>): Config {
  const env = { ...stored, ...config.adapterVariables };
  const adapters = readAdapters(env);
  const refused = adapters.flatMap(({ problems, variables }) =>
    variables.some((name) => name in stored) ? [] : problems,
  );
  if (refused.length > 0) {
    throw new StartupError(refused.join("\n"));
  }
  const ownGitUrl = config.adapterVariables.ERRAND_GIT_URL === undefined ? gitUrlOf(stored) : undefined;
  const gitUrl = ownGitUrl ?? config.gitUrl;
  return { ...config, gitUrl, adapters, pullRequestApiUrl: pullRequestApiUrlOf(env, gitUrl) };
}

type OfAdapters = "adapters" | "adapterVariables";

function configOf(values: Variables, env: Env): Omit<Config, OfAdapters | "notes" | "secrets"> {
  const { ERRAND_TLS_CERT: certFile, ERRAND_TLS_KEY: keyFile } = values;
  return {
    role: values.ERRAND_ROLE,
    host: values.ERRAND_HOST,
    port: values.ERRAND_PORT,
    publicUrl: values.ERRAND_PUBLIC_URL,
    dataDir: resolve(values.ERRAND_DATA_DIR),
    databaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    poolerUrl: values.DATABASE_DIRECT_URL === undefined ? undefined : values.DATABASE_URL,
    databaseConnections: values.ERRAND_DATABASE_CONNECTIONS,
    blobs: blobConfigOf(values),
    apiKey: values.ERRAND_ADMIN_KEY,
    secretKey: values.ERRAND_SECRET_KEY,
    acceptsNewSecretKey: values.ERRAND_SECRET_KEY_LOST,
    oldSecretKeys: values.ERRAND_OLD_SECRET_KEYS,
    agent: agentConfigOf(values, env),
    sandbox: sandboxConfigOf(values, env),
    work: runSettingsOf(values),
    disk: diskLimitsOf(values),
    eventBodyMs: values.ERRAND_EVENT_BODY_DAYS * DAY_MS,
    checkpointsMs: values.ERRAND_CHECKPOINT_DAYS * DAY_MS,
    historyMs: values.ERRAND_HISTORY_DAYS * DAY_MS,
    concurrency: values.ERRAND_CONCURRENCY,
    waitingAgents: values.ERRAND_WAITING_AGENTS ?? WAITING_AGENTS_PER_SLOT * values.ERRAND_CONCURRENCY,
    workerHost: values.ERRAND_WORKER_HOST,
    egressRanges: values.ERRAND_EGRESS_RANGES,
    gitUrl: values.ERRAND_GIT_URL,
    pullRequestApiUrl: pullRequestApiUrlOf(env, values.ERRAND_GIT_URL),
    gitWaitMinutes: values.ERRAND_GIT_WAIT_MINUTES,
    setupMinutes: values.ERRAND_SETUP_MINUTES,
    backgroundMs: values.ERRAND_BACKGROUND_SECONDS * 1_000,
    webhookAllow: values.ERRAND_WEBHOOK_ALLOW,
    agentAllow: values.ERRAND_AGENT_ALLOW,
    models: modelsOf(values),
    modelPrices: values.ERRAND_MODEL_PRICES,
    trustProxy: values.ERRAND_TRUST_PROXY,
    allowedOrigins: values.ERRAND_ALLOWED_ORIGINS,
    limits: apiLimitsOf(values),
    drainMs: drainSecondsOf(values) * 1_000,
    tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
    signIn: signInConfigOf(values),
    logLevel: values.ERRAND_LOG_LEVEL,
  };
}

/** A single process has nothing that could take its requests over. */
function drainSecondsOf({ DATABASE_URL, ERRAND_DRAIN_SECONDS, ERRAND_ROLE }: Variables): number {
  return ERRAND_DRAIN_SECONDS ?? (DATABASE_URL === undefined || ERRAND_ROLE === "worker" ? 0 : DRAIN_SECONDS);
}

/** A variable that is empty or blank counts as not set. */
function withoutEmpty(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
}

/** Invalid values, and the conflicts between the valid ones: a conflict that names an invalid variable is left out. */
function problemsOfInvalid(env: Env, issues: readonly z.core.$ZodIssue[]): string[] {
  const invalid = [...new Set(issues.map(({ path }) => String(path[0])))];
  const valid = variables.parse(
    Object.fromEntries(Object.entries(env).filter(([name]) => !invalid.includes(name))),
  );
  const conflicts = problemsOf(valid).filter((problem) => !invalid.some((name) => problem.includes(name)));
  return [...invalid.map((name) => describe(name, env[name] ?? "", issues)), ...conflicts];
}

/** Values that are valid on their own and conflict with one another. */
function problemsOf(values: Variables): string[] {
  const problems = [...agentProblems(values), ...signInProblems(values)];
  if (values.DATABASE_URL !== undefined && values.ERRAND_SECRET_KEY === undefined) {
    problems.push(
      "ERRAND_SECRET_KEY is missing: with DATABASE_URL, set the same key (32 characters or more) in all processes.",
    );
  }
  if (values.DATABASE_URL === undefined && values.DATABASE_DIRECT_URL !== undefined) {
    problems.push("DATABASE_DIRECT_URL needs DATABASE_URL, the address of the pooler.");
  }
  const missing = values.ERRAND_ROLE === "all" ? [] : missingForRole(values);
  if (missing.length > 0) {
    problems.push(`ERRAND_ROLE=${values.ERRAND_ROLE} needs ${missing.join(", and ")}.`);
  }
  if ((values.ERRAND_TLS_CERT === undefined) !== (values.ERRAND_TLS_KEY === undefined)) {
    problems.push("ERRAND_TLS_CERT and ERRAND_TLS_KEY belong together: set both or neither.");
  }
  if (
    values.ERRAND_TRUST_PROXY !== false &&
    !values.ERRAND_ALLOW_HTTP &&
    !isHttps(values.ERRAND_PUBLIC_URL)
  ) {
    problems.push(
      "ERRAND_TRUST_PROXY needs ERRAND_PUBLIC_URL, the https address of the proxy, or ERRAND_ALLOW_HTTP=1.",
    );
  }
  if (!isProtected(values)) {
    problems.push(
      `ERRAND_HOST=${values.ERRAND_HOST} would send API keys unencrypted: set ERRAND_TLS_CERT and ERRAND_TLS_KEY, or ` +
        "ERRAND_TRUST_PROXY=1 behind an HTTPS proxy, or ERRAND_ALLOW_HTTP=1 to allow it.",
    );
  }
  return problems;
}

/** The variables that a process of the role `api` or `worker` needs and does not have. */
function missingForRole(values: Variables): string[] {
  return [
    ...(values.DATABASE_URL === undefined
      ? ["DATABASE_URL: the embedded database serves only one process"]
      : []),
    ...(values.ERRAND_PUBLIC_URL === undefined
      ? ["ERRAND_PUBLIC_URL: links in messages must lead to the API, whichever process writes them"]
      : []),
  ];
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

function isHttps(url: string | undefined): boolean {
  return url?.startsWith("https:") ?? false;
}

function isProtected(values: Variables): boolean {
  const byTls = values.ERRAND_TLS_CERT !== undefined || values.ERRAND_ALLOW_HTTP;
  return (
    byTls ||
    values.ERRAND_TRUST_PROXY !== false ||
    values.ERRAND_ROLE === "worker" ||
    LOOPBACK.test(values.ERRAND_HOST)
  );
}

/** One line for one variable: what it must be, and what it is unless it is secret. */
function describe(name: string, value: string, issues: readonly z.core.$ZodIssue[]): string {
  const issue = issues.find(({ path }) => path[0] === name);
  const place = issue?.path.slice(1).join(".") ?? "";
  const choices = issue?.code === "invalid_value" && place === "" ? issue.values.join(", ") : "";
  const form = choices === "" ? issue?.message : `must be one of ${choices}`;
  const showsValue = issue?.code === "custom" && issue.params?.showsValue === true;
  const isHidden = showsValue || SECRET_NAME.test(name) || /^DATABASE_(DIRECT_)?URL$/.test(name);
  return `${name}: ${place === "" ? "" : `at ${place}: `}${form}${isHidden ? "" : butNot(value)}`;
}
