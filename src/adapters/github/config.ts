import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { butNot } from "../../core/basics/errors.ts";

export const DEFAULT_API_URL = "https://api.github.com";
const REQUIRED = ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET"] as const;
export const DEFAULT_LABEL = "errand";
const LABEL_LENGTH_MAX = 50;
const OPTIONAL = [
  "GITHUB_API_URL",
  "GITHUB_BOT_NAME",
  "GITHUB_LABEL",
  "GITHUB_CLIENT_ID",
  "GITHUB_CLIENT_SECRET",
] as const;

const appId = z
  .string()
  .regex(/^\d+$/, "must be the numeric id of the App, such as 123456")
  .transform(Number);

/** A PEM, in each form in which people pass it on. */
const privateKey = z
  .string()
  .transform(pemOf)
  .refine(
    isPrivateKey,
    "must be the App's private key without a passphrase: the content of the .pem file with its line breaks, in one line with \\n or a space for each, or in base64; quotes around it are allowed",
  );

const secrets = z
  .string()
  .transform((list) => list.split(",").map((secret) => secret.trim()))
  .refine(
    (list) => list.every((secret) => secret !== ""),
    "must contain secrets, separated by commas, and none of them empty",
  );

const apiUrl = z.string().refine(isOfApi, {
  error:
    "must be an address such as https://api.github.com, or https://HOST/api/v3 of an Enterprise Server, without a user name, password or query",
});

/** What users write after the `@`: letters, digits and hyphens, as in every GitHub login. */
const botName = z
  .string()
  .transform((name) => name.replace(/^@/, ""))
  .refine(
    (name) => /^[A-Za-z\d][A-Za-z\d-]*$/.test(name),
    "must be the name that users mention: letters, digits and hyphens",
  );

const githubVariables = z.object({
  GITHUB_APP_ID: appId,
  GITHUB_APP_PRIVATE_KEY: privateKey,
  /** Comma-separated while the secret is being rotated. Each of them is accepted. */
  GITHUB_WEBHOOK_SECRET: secrets,
  /** For an Enterprise Server: `https://HOST/api/v3`. */
  GITHUB_API_URL: apiUrl.default(DEFAULT_API_URL),
  /** Default: the App's slug, read from GitHub. */
  GITHUB_BOT_NAME: botName.optional(),
  GITHUB_LABEL: z
    .string()
    .max(LABEL_LENGTH_MAX, `must be the name of a label: at most ${LABEL_LENGTH_MAX} characters`)
    .default(DEFAULT_LABEL),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
});

/** Shown in docs/configuration.md. */
export const githubVariableDocs = {
  GITHUB_APP_ID: {
    group: "GitHub",
    default: "(GitHub is off)",
    description: "The numeric id of the GitHub App. Set all three variables or none.",
  },
  GITHUB_APP_PRIVATE_KEY: {
    group: "GitHub",
    default: "(GitHub is off)",
    description:
      "The App's private key: the content of its PEM file, also in one line with `\\n` for each line break, or in base64.",
    secret: true,
  },
  GITHUB_WEBHOOK_SECRET: {
    group: "GitHub",
    default: "(GitHub is off)",
    description: "The App's webhook secret. During a rotation: several, separated by commas.",
    secret: true,
  },
  GITHUB_API_URL: {
    group: "GitHub",
    default: "https://api.github.com",
    description:
      "The API address of a GitHub Enterprise Server: `https://HOST/api/v3`. Also used for pull requests with the " +
      "team secret `GITHUB_TOKEN`.",
  },
  GITHUB_BOT_NAME: {
    group: "GitHub",
    default: "(the App's slug)",
    description: "The name that users mention after the `@`.",
  },
  GITHUB_LABEL: {
    group: "GitHub",
    default: DEFAULT_LABEL,
    description:
      "The label that asks for work on an issue or pull request. A policy with the request kind `label` switches it off.",
  },
  GITHUB_CLIENT_ID: {
    group: "GitHub",
    default: "(off)",
    description:
      "The App's client id: people who can write to one of its repositories sign in with GitHub. Set it together with its secret. The callback URL is `<ERRAND_PUBLIC_URL>/signin/github/callback`.",
  },
  GITHUB_CLIENT_SECRET: {
    group: "GitHub",
    default: "(off)",
    description: "The App's client secret.",
    secret: true,
  },
} as const satisfies Record<keyof typeof githubVariables.shape, object>;

export interface GithubConfig {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecrets: readonly string[];
  readonly apiUrl: string;
  readonly botName?: string;
  /** The label that asks for work. Default: `errand`. */
  readonly label?: string;
  /** The App's client id and secret: people sign in to the pages with GitHub. */
  readonly oauth?: { readonly clientId: string; readonly clientSecret: string };
}

/** If nothing is set, the adapter is off: no config and no problem. Messages contain no secret values. */
export function readGithubConfig(env: Readonly<Record<string, string | undefined>>): {
  config?: GithubConfig;
  problems: string[];
  /** Whether the problems are only that variables are missing. */
  isPartial?: true;
} {
  const values = Object.fromEntries(
    [...REQUIRED, ...OPTIONAL].map((name) => [name, env[name]?.trim() || undefined]),
  );
  const read = githubVariables.safeParse(values);
  const invalid = read.error?.issues.filter(({ path }) => values[String(path[0])] !== undefined) ?? [];
  const problems = invalid.map((issue) => problemOf(issue, values));
  // The address alone is also for pull requests with a token, without the App. The label has a default.
  const { GITHUB_API_URL: _url, GITHUB_LABEL: _label, ...ofTheApp } = values;
  if (Object.values(ofTheApp).every((value) => value === undefined)) {
    return { problems };
  }
  const missing = REQUIRED.filter((name) => values[name] === undefined);
  if (missing.length > 0) {
    problems.push(`GitHub is only partly configured. Also set ${missing.join(", ")}.`);
  }
  if ((values.GITHUB_CLIENT_ID === undefined) !== (values.GITHUB_CLIENT_SECRET === undefined)) {
    const absent = values.GITHUB_CLIENT_ID === undefined ? "GITHUB_CLIENT_ID" : "GITHUB_CLIENT_SECRET";
    problems.push(`${absent} is missing: sign-in with GitHub needs both.`);
  }
  if (read.success && problems.length === 0) {
    return { config: configOf(read.data), problems };
  }
  return invalid.length > 0 ? { problems } : { problems, isPartial: true };
}

/** The address of the API that belongs to the git host, unless the environment names another. */
export function githubApiUrlOf(env: Readonly<Record<string, string | undefined>>, gitUrl: string): string {
  const { hostname, origin } = new URL(gitUrl);
  const usual = hostname === "github.com" ? DEFAULT_API_URL : `${origin}/api/v3`;
  return (env.GITHUB_API_URL?.trim() || usual).replace(/\/+$/, "");
}

/** Where the pages are: those of an Enterprise Server on the host of its API, others on the host without `api.` */
export function webUrlOf(apiUrl: string): URL {
  const { origin, pathname } = new URL(apiUrl);
  return new URL(pathname.startsWith("/api/") ? origin : origin.replace("://api.", "://"));
}

function configOf(variables: z.infer<typeof githubVariables>): GithubConfig {
  const { GITHUB_BOT_NAME: name, GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = variables;
  return defined({
    appId: variables.GITHUB_APP_ID,
    privateKey: variables.GITHUB_APP_PRIVATE_KEY,
    webhookSecrets: variables.GITHUB_WEBHOOK_SECRET,
    apiUrl: variables.GITHUB_API_URL.replace(/\/+$/, ""),
    botName: name,
    label: variables.GITHUB_LABEL,
    oauth: clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
  });
}

function problemOf(
  { path, message }: z.core.$ZodIssue,
  values: Readonly<Record<string, string | undefined>>,
): string {
  const name = String(path[0]);
  const isSecret = "secret" in githubVariableDocs[name as keyof typeof githubVariableDocs];
  return `${name}: ${message}${isSecret ? "" : butNot(values[name] ?? "")}`;
}

/** The addresses without a path are those of GitHub itself, and of test servers. */
function isOfApi(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || /[?#]/.test(text)) {
    return false;
  }
  return url.pathname !== "/" || /^(api\.|127\.|localhost$|\[::1\]$)/.test(url.hostname);
}

const PEM = /^(-----BEGIN [A-Z ]+-----)([\s\S]+)(-----END [A-Z ]+-----)$/;

/** The key with a line break wherever one was replaced by `\n` or a space. Also reads base64 of the whole file. */
function pemOf(text: string): string {
  const bare = text.trim().replace(/^(["'])([\s\S]*)\1$/, "$2");
  const decoded = bare.includes("-----") ? bare : Buffer.from(bare, "base64").toString();
  const lines = decoded
    .replaceAll(/\\r|\r/g, "")
    .replaceAll("\\n", "\n")
    .trim();
  const [, begin, body = "", end] = PEM.exec(lines) ?? [];
  return begin === undefined ? lines : [begin, ...body.trim().split(/\s+/), end].join("\n");
}

function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
}
