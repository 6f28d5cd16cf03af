import { resolve } from "node:path";
import { z } from "zod";
import {
  type AdapterReading,
  adapterVariableDocs,
  gitUrlOf,
  pullRequestApiUrlOf,
  readAdapters,
} from "../adapters/registry.ts";
import { butNot, StartupError } from "../core/basics/errors.ts";
import type { RunSettings } from "../core/work/lease/attempt-deps.ts";
import { type AllowList, parseAllowList } from "../outgoing/allow-list.ts";
import { type AgentConfig, agentConfigOf, agentProblems, agentVariables } from "./agents.ts";
import { type ApiLimitSettings, apiLimitsOf, apiLimitVariables } from "./api-limits.ts";
import { type DiskLimits, diskLimitsOf, diskVariables } from "./disk.ts";
import { runSettingsOf, workVariables } from "./limits.ts";
import { type ModelConfig, type ModelPrice, modelsOf, modelVariables } from "./models.ts";
import { type SandboxConfig, sandboxConfigOf, sandboxVariables } from "./sandbox.ts";
import { type Env, SECRET_NAME, secretsIn } from "./secret-values.ts";
import { type SignInConfig, signInConfigOf, signInProblems, signInVariables } from "./sign-in.ts";
import { variableDocs } from "./variable-docs.ts";
import { withFiles } from "./variable-files.ts";
import { problemsOfUnknown, withoutClientVariables } from "./variable-names.ts";
import {
  databaseAddress,
  flag,
  listenHost,
  partsOf,
  plainAddress,
  serverAddress,
  wholeNumber,
} from "./variable-types.ts";

/** Also accepts `true` and `false`, because the other switches accept them. */
const hops = z
  .string()
  .regex(/^(\d|10|true|false)$/, "must be the number of proxies, a whole number from 0 to 10")
  .transform((value) => (value === "true" ? 1 : Number(value === "false" ? 0 : value) || false));
const allowList = z
  .string()
  .default("")
  .transform((text, context) => {
    try {
      return parseAllowList(text);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      context.addIssue({ code: "custom", message, params: { showsValue: true } });
      return z.NEVER;
    }
  });
const origins = z
  .string()
  .default("")
  .transform(partsOf)
  .refine(
    (all) => all.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin),
    "must contain origins such as https://board.example.com, without a path, separated by commas",
  );
/** Clients send it in a header. */
const administratorKey = z
  .string()
  .regex(/^[!-~][ -~]{14,}[!-~]$/, "must have at least 16 characters, only ASCII letters, digits and signs");
const secretKey = z.string().min(32, "must have at least 32 characters");
const secretKeys = z
  .string()
  .transform((text) => text.split(",").map((key) => key.trim()))
  .refine(
    (keys) => keys.every((key) => secretKey.safeParse(key).success),
    "must contain keys of at least 32 characters, separated by commas",
  )
  .default([]);
const networks = z
  .string()
  .transform((text) => text.split(",").map((network) => network.trim()))
  .pipe(
    z.array(
      z.union([z.cidrv4(), z.cidrv6()], "must be networks such as 203.0.113.0/24, separated by commas"),
    ),
  )
  .default([]);
const gitUrl = plainAddress("https://github.com", /^(https?|file):$/);

/** All variables except those of adapters. An empty variable counts as not set. */
export const variables = z.object({
  ERRAND_HOST: listenHost.default("127.0.0.1"),
  ERRAND_PORT: wholeNumber(0, 65_535).default(8787),
  ERRAND_PUBLIC_URL: serverAddress.optional(),
  ERRAND_DATA_DIR: z.string().default(".errand"),
  DATABASE_URL: databaseAddress.optional(),
  DATABASE_DIRECT_URL: databaseAddress.optional(),
  ERRAND_ROLE: z.enum(["all", "api", "worker"]).default("all"),
  ERRAND_ADMIN_KEY: administratorKey.optional(),
  ERRAND_SECRET_KEY: secretKey.optional(),
  ERRAND_OLD_SECRET_KEYS: secretKeys,
  ERRAND_SECRET_KEY_LOST: flag.default(false),
  ...agentVariables,
  ...sandboxVariables,
  ...workVariables,
  ...diskVariables,
  ERRAND_CONCURRENCY: wholeNumber(1, 100).default(4),
  ERRAND_WAITING_AGENTS: wholeNumber(0, 1_000).optional(),
  ERRAND_WORKER_HOST: z.string().max(100, "must have at most 100 characters").optional(),
  ERRAND_EGRESS_RANGES: networks,
  ERRAND_GIT_URL: gitUrl.default("https://github.com"),
  ERRAND_GIT_WAIT_MINUTES: wholeNumber(1, 120).default(5),
  ERRAND_SETUP_MINUTES: wholeNumber(1, 1_440).default(10),
  ERRAND_WEBHOOK_ALLOW: allowList,
  ERRAND_AGENT_ALLOW: allowList,
  ...modelVariables,
  ERRAND_DATABASE_CONNECTIONS: wholeNumber(2, 100).default(10),
  ...apiLimitVariables,
  ...signInVariables,
  ERRAND_TRUST_PROXY: hops.default(false),
  ERRAND_ALLOWED_ORIGINS: origins,
  ERRAND_TLS_CERT: z.string().optional(),
  ERRAND_TLS_KEY: z.string().optional(),
  ERRAND_ALLOW_HTTP: flag.default(false),
  ERRAND_DRAIN_SECONDS: wholeNumber(0, 8).optional(),
  ERRAND_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
});
type Variables = z.infer<typeof variables>;

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
