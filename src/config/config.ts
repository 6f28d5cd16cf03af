import { resolve } from "node:path";
import { z } from "zod";
import { type AdapterReading, readAdapters } from "../adapters/registry.ts";
import type { RunSettings } from "../core/attempts/attempt-deps.ts";
import { StartupError } from "../core/errors.ts";
import { type AllowList, parseAllowList } from "../network-policy/allow-list.ts";
import { formsOf } from "../secrets/redaction.ts";
import { type AgentConfig, agentConfigOf, agentProblems, agentVariables } from "./agents.ts";
import { runSettingsOf, workVariables } from "./limits.ts";
import { type ModelConfig, type ModelPrice, modelsOf, modelVariables } from "./models.ts";
import { type SandboxConfig, sandboxConfigOf, sandboxVariables } from "./sandbox.ts";

const flag = z.enum(["0", "1", "true", "false"]).transform((value) => value === "1" || value === "true");
/** `true` and `false` as well, since the other switches take them. */
const hops = z
  .string()
  .regex(/^(\d|10|true|false)$/, "must be the number of proxies, 0 to 10")
  .transform((value) => (value === "true" ? 1 : Number(value === "false" ? 0 : value) || false));
const allowList = z
  .string()
  .default("")
  .transform((text, context) => {
    try {
      return parseAllowList(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
const count = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const secretKey = z.string().min(32, "must have at least 32 characters");
const secretKeys = z
  .string()
  .transform((text) => text.split(",").map((key) => key.trim()))
  .pipe(z.array(secretKey))
  .default([]);

const KIBIBYTE = 1_024;
const MEBIBYTE = 1_024 * KIBIBYTE;
/** Runs are listed by their titles, and an index of PostgreSQL takes no more than 2,704 bytes a row. */
const TITLE_LENGTH_MAX = 600;

/** Keys do not belong into an address: it stands in messages. */
const gitUrl = z
  .url({ protocol: /^(https?|file)$/ })
  .refine((url) => !/^[^/]*\/\/[^/]*@/.test(url), "must hold no name and no key")
  .transform((url) => url.replace(/\/+$/, ""));

/** All variables of ours. What is empty counts as not set. The defaults are those of the README's table. */
export const variables = z.object({
  ERRAND_HOST: z.string().default("127.0.0.1"),
  ERRAND_PORT: count(0, 65_535).default(8787),
  ERRAND_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  ERRAND_DATA_DIR: z.string().default(".errand"),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  ERRAND_ROLE: z.enum(["all", "api", "worker"]).default("all"),
  ERRAND_API_KEY: z.string().min(16, "must have at least 16 characters").optional(),
  ERRAND_SECRET_KEY: secretKey.optional(),
  ERRAND_OLD_SECRET_KEYS: secretKeys,
  ...agentVariables,
  ...sandboxVariables,
  ...workVariables,
  ERRAND_CONCURRENCY: count(1, 100).default(4),
  ERRAND_WORKER_HOST: z.string().max(100, "must have at most 100 characters").optional(),
  ERRAND_GIT_URL: gitUrl.default("https://github.com"),
  ERRAND_SETUP_MINUTES: count(1, 1_440).default(10),
  ERRAND_WEBHOOK_ALLOW: allowList,
  ERRAND_AGENT_ALLOW: allowList,
  ...modelVariables,
  ERRAND_DATABASE_CONNECTIONS: count(2, 100).default(10),
  ERRAND_RATE_LIMIT: count(0, 1_000_000).default(600),
  ERRAND_MAX_STREAMS: count(0, 100_000).default(20),
  ERRAND_MAX_BODY_MIB: count(1, 512).default(30),
  ERRAND_MAX_PROMPT_KIB: count(1, 16_384).default(256),
  ERRAND_MAX_TITLE_LENGTH: count(1, TITLE_LENGTH_MAX).default(300),
  ERRAND_MAX_BASE_PROMPT_KIB: count(1, 16_384).default(64),
  ERRAND_MAX_CONFIG_KIB: count(1, 16_384).default(256),
  ERRAND_MAX_ATTACHMENT_MIB: count(1, 256).default(10),
  ERRAND_MAX_ATTACHMENTS_MIB: count(1, 256).default(20),
  ERRAND_TRUST_PROXY: hops.default(false),
  ERRAND_TLS_CERT: z.string().optional(),
  ERRAND_TLS_KEY: z.string().optional(),
  ERRAND_ALLOW_HTTP: flag.default(false),
  ERRAND_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
});
type Variables = z.infer<typeof variables>;

export interface Config {
  readonly role: Variables["ERRAND_ROLE"];
  readonly host: string;
  readonly port: number;
  /** Undefined: where the server turns out to listen. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** Undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly databaseConnections: number;
  readonly apiKey: string | undefined;
  readonly secretKey: string | undefined;
  /** Earlier ones: what they sealed and hashed still opens. */
  readonly oldSecretKeys: readonly string[];
  readonly agent: AgentConfig;
  readonly sandbox: SandboxConfig;
  readonly work: RunSettings;
  readonly concurrency: number;
  /** The name by which runs ask for this worker. Undefined: it takes only runs that name none. */
  readonly workerHost: string | undefined;
  /** Repositories are at `<gitUrl>/<owner>/<name>.git`. */
  readonly gitUrl: string;
  /** How long a setup command of an environment may take; all of one environment may take three times as long. */
  readonly setupMinutes: number;
  /** Where the server connects to on behalf of callers although it is not public, or not HTTPS. */
  readonly webhookAllow: AllowList;
  /** What agents with a network, and remote tool servers, may be of the operator's own network; also without HTTPS. */
  readonly agentAllow: AllowList;
  /** The models' servers that there is a key or an address for. */
  readonly models: ModelConfig;
  /** By a model's id, or its beginning and a `*`. */
  readonly modelPrices: Readonly<Record<string, ModelPrice>>;
  /** How many proxies stand before us; false: none. */
  readonly trustProxy: number | false;
  /** Of the API; what is counted is counted in each process. */
  readonly limits: {
    /** Requests a minute of a key, or of an address without one. 0: any number. */
    readonly rateLimit: number;
    /** Event streams of a key. 0: any number. */
    readonly streamsPerKey: number;
    readonly bodyBytes: number;
    readonly promptBytes: number;
    readonly titleLength: number;
    readonly basePromptBytes: number;
    readonly configBytes: number;
    readonly attachmentBytes: number;
    readonly attachmentsBytes: number;
  };
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly logLevel: string;
  /** The adapters that are switched on. */
  readonly adapters: readonly NonNullable<AdapterReading["create"]>[];
  /** Values that must never be shown, from whatever variable they came. */
  readonly secrets: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** The only reader of the environment. One `StartupError` reports all problems. */
export function readConfig(environment: Env): Config {
  const env = withoutEmpty(environment);
  const parsed = variables.safeParse(env);
  const adapters = readAdapters(env);
  const problems = [
    ...(parsed.success ? problemsOf(parsed.data) : problemsOfInvalid(env, parsed.error.issues)),
    ...adapters.flatMap(({ problems }) => problems),
  ];
  if (!parsed.success || problems.length > 0) throw new StartupError(problems.join("\n"));
  const switchedOn = adapters.flatMap(({ create }) => create ?? []);
  return Object.freeze({ ...configOf(parsed.data, env), adapters: switchedOn, secrets: secretsIn(env) });
}

function configOf(given: Variables, env: Env): Omit<Config, "adapters" | "secrets"> {
  const { ERRAND_TLS_CERT: certFile, ERRAND_TLS_KEY: keyFile } = given;
  return {
    role: given.ERRAND_ROLE,
    host: given.ERRAND_HOST,
    port: given.ERRAND_PORT,
    publicUrl: given.ERRAND_PUBLIC_URL?.replace(/\/+$/, ""),
    dataDir: resolve(given.ERRAND_DATA_DIR),
    databaseUrl: given.DATABASE_URL,
    databaseConnections: given.ERRAND_DATABASE_CONNECTIONS,
    apiKey: given.ERRAND_API_KEY,
    secretKey: given.ERRAND_SECRET_KEY,
    oldSecretKeys: given.ERRAND_OLD_SECRET_KEYS,
    agent: agentConfigOf(given, env),
    sandbox: sandboxConfigOf(given, env),
    work: runSettingsOf(given),
    concurrency: given.ERRAND_CONCURRENCY,
    workerHost: given.ERRAND_WORKER_HOST,
    gitUrl: given.ERRAND_GIT_URL,
    setupMinutes: given.ERRAND_SETUP_MINUTES,
    webhookAllow: given.ERRAND_WEBHOOK_ALLOW,
    agentAllow: given.ERRAND_AGENT_ALLOW,
    models: modelsOf(given),
    modelPrices: given.ERRAND_MODEL_PRICES,
    trustProxy: given.ERRAND_TRUST_PROXY,
    limits: {
      rateLimit: given.ERRAND_RATE_LIMIT,
      streamsPerKey: given.ERRAND_MAX_STREAMS,
      bodyBytes: given.ERRAND_MAX_BODY_MIB * MEBIBYTE,
      promptBytes: given.ERRAND_MAX_PROMPT_KIB * KIBIBYTE,
      titleLength: given.ERRAND_MAX_TITLE_LENGTH,
      basePromptBytes: given.ERRAND_MAX_BASE_PROMPT_KIB * KIBIBYTE,
      configBytes: given.ERRAND_MAX_CONFIG_KIB * KIBIBYTE,
      attachmentBytes: given.ERRAND_MAX_ATTACHMENT_MIB * MEBIBYTE,
      attachmentsBytes: given.ERRAND_MAX_ATTACHMENTS_MIB * MEBIBYTE,
    },
    tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
    logLevel: given.ERRAND_LOG_LEVEL,
  };
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
  return [...issues.map(describeIssue), ...conflicts];
}

/** Values that are valid on their own and conflict with one another. */
function problemsOf(given: Variables): string[] {
  const problems = agentProblems(given);
  if (given.DATABASE_URL !== undefined && given.ERRAND_SECRET_KEY === undefined) {
    problems.push(
      "ERRAND_SECRET_KEY is missing: with DATABASE_URL all processes must share one (32 characters or more).",
    );
  }
  const missing = given.ERRAND_ROLE === "all" ? [] : missingForRole(given);
  if (missing.length > 0) problems.push(`ERRAND_ROLE=${given.ERRAND_ROLE} needs ${missing.join(", and ")}.`);
  if ((given.ERRAND_TLS_CERT === undefined) !== (given.ERRAND_TLS_KEY === undefined)) {
    problems.push("ERRAND_TLS_CERT and ERRAND_TLS_KEY go together: set both or neither.");
  }
  if (given.ERRAND_TRUST_PROXY !== false && !given.ERRAND_ALLOW_HTTP && !isHttps(given.ERRAND_PUBLIC_URL)) {
    problems.push(
      "ERRAND_TRUST_PROXY needs ERRAND_PUBLIC_URL, the https address by which the proxy is reached, or ERRAND_ALLOW_HTTP=1.",
    );
  }
  if (!isProtected(given)) {
    problems.push(
      `ERRAND_HOST=${given.ERRAND_HOST} would serve keys in the clear: set ERRAND_TLS_CERT and ERRAND_TLS_KEY, or ` +
        "ERRAND_TRUST_PROXY=1 behind a proxy that speaks HTTPS, or ERRAND_ALLOW_HTTP=1 if you know what you do.",
    );
  }
  return problems;
}

/** What a process that is not alone cannot do without. */
function missingForRole(given: Variables): string[] {
  return [
    ...(given.DATABASE_URL === undefined ? ["DATABASE_URL: the embedded database serves one process"] : []),
    ...(given.ERRAND_PUBLIC_URL === undefined
      ? ["ERRAND_PUBLIC_URL: what a worker posts must link to the API, not to where this process listens"]
      : []),
  ];
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

function isHttps(url: string | undefined): boolean {
  return url?.startsWith("https:") ?? false;
}

function isProtected(given: Variables): boolean {
  const byTls = given.ERRAND_TLS_CERT !== undefined || given.ERRAND_ALLOW_HTTP;
  return (
    byTls ||
    given.ERRAND_TRUST_PROXY !== false ||
    given.ERRAND_ROLE === "worker" ||
    LOOPBACK.test(given.ERRAND_HOST)
  );
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return `${path.join(".")}: ${message}`;
}

/** By the variable's name, so that a key of a program we know nothing of is not shown either. */
const SECRET_NAME = /(KEY|SECRET|TOKEN|PASSWORD)S?$/;

function secretsIn(env: Env): string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value ? secretsOf(value) : [],
  );
  const password = env.DATABASE_URL === undefined ? "" : passwordIn(env.DATABASE_URL);
  return [...values, ...(password === "" ? [] : [password])];
}

/** Also each of several values. */
function secretsOf(value: string): string[] {
  const parts = value.split(",").map((part) => part.trim());
  return [...new Set([...parts, ...formsOf(value)])].filter((form) => form !== "");
}

function passwordIn(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
