import { z } from "zod";
import { parseAllowList } from "../outgoing/allow-list.ts";
import { agentVariables } from "./agents.ts";
import { apiLimitVariables } from "./api-limits.ts";
import { blobVariables } from "./blobs.ts";
import { diskVariables } from "./disk.ts";
import { workVariables } from "./limits.ts";
import { modelVariables } from "./models.ts";
import { sandboxVariables } from "./sandbox.ts";
import { signInVariables } from "./sign-in.ts";
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
  ...blobVariables,
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
export type Variables = z.infer<typeof variables>;
