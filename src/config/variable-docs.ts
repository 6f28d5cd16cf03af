import { adapterVariableDocs } from "../adapters/registry.ts";
import { agentVariableDocs } from "./agents.ts";
import { apiLimitVariableDocs } from "./api-limits.ts";
import { blobVariableDocs } from "./blobs.ts";
import { diskVariableDocs } from "./disk.ts";
import { limitVariableDocs } from "./limits.ts";
import { modelVariableDocs } from "./models.ts";
import { sandboxVariableDocs } from "./sandbox.ts";
import { signInVariableDocs } from "./sign-in.ts";
import type { VariableDoc } from "./variable-doc.ts";
import type { variables } from "./variables.ts";

/** Documentation of all variables except those of adapters. A variable without an entry is a type error. */
const ownVariableDocs = {
  ERRAND_HOST: {
    group: "Server",
    default: "127.0.0.1",
    description:
      "The address to listen on. Any address except loopback needs TLS, `ERRAND_TRUST_PROXY` or `ERRAND_ALLOW_HTTP`.",
    compose: "no",
  },
  ERRAND_PORT: {
    group: "Server",
    default: "8787",
    description: "The port to listen on. `0` takes a free port.",
    compose: "no",
  },
  ERRAND_PUBLIC_URL: {
    group: "Server",
    default: "(the address the server listens on)",
    description: "The address in links. Required unless `ERRAND_ROLE` is `all`.",
  },
  ERRAND_DATA_DIR: {
    group: "Server",
    default: ".errand",
    description: "The directory of the embedded database, the workspaces and the generated keys.",
    compose: "no",
  },
  DATABASE_URL: {
    group: "Database",
    default: "(the embedded database)",
    description: "The `postgresql://` address of PostgreSQL 15 or newer.",
    compose: "set",
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    group: "Database",
    default: "(`DATABASE_URL`)",
    description:
      "The address of PostgreSQL itself, if `DATABASE_URL` is that of a pooler in transaction mode.",
    compose: "no",
    secret: true,
  },
  ...blobVariableDocs,
  ERRAND_ROLE: {
    group: "Server",
    default: "all",
    description:
      "`api`, `worker`, or `all` for both. `api` and `worker` require `DATABASE_URL` and `ERRAND_PUBLIC_URL`.",
    compose: "set",
  },
  ERRAND_ADMIN_KEY: {
    group: "Keys",
    default: "(generated at the first start)",
    description:
      "The administrator's API key, at least 16 ASCII letters, digits or signs. Its former name `ERRAND_API_KEY` is still accepted, unless `ERRAND_URL` or `ERRAND_CONTEXT` is set beside it.",
    secret: true,
  },
  ERRAND_SECRET_KEY: {
    group: "Keys",
    default: "(generated at the first start)",
    description:
      "The key that encrypts stored secrets, at least 32 characters and equal in all processes. Required with `DATABASE_URL`.",
    secret: true,
  },
  ERRAND_OLD_SECRET_KEYS: {
    group: "Keys",
    default: "(none)",
    description: "Earlier secret keys, separated by commas. Data stored under them stays readable.",
    secret: true,
  },
  ERRAND_SECRET_KEY_LOST: {
    group: "Keys",
    default: "0",
    description:
      "`1`: start with a secret key that is not the one of the database, because that one is lost. Stored secrets, API keys, share links and sign-ins are lost with it. Set it for one start.",
  },
  ERRAND_DRAIN_SECONDS: {
    group: "Server",
    default: "(5 with `DATABASE_URL`, otherwise 0)",
    description:
      "How long a process that stops still answers requests, while `/readyz` answers 503 and each response closes its connection. A load balancer notices in this time.",
  },
  ERRAND_CONCURRENCY: {
    group: "Limits",
    default: "4",
    description:
      "The number of slots of one worker: the runs that it executes at the same time. A run that waits for a person has no slot.",
  },
  ERRAND_WAITING_AGENTS: {
    group: "Limits",
    default: "(4 × `ERRAND_CONCURRENCY`)",
    description:
      "The number of agents that one worker keeps while they wait for a person. With more, or while memory is short, it stops the one that waits longest; an answer resumes its session.",
  },
  ERRAND_WORKER_HOST: {
    group: "Server",
    default: "(none)",
    description:
      "The name by which runs select this worker (`config.worker_host`). Several workers may share a name.",
  },
  ERRAND_EGRESS_RANGES: {
    group: "Networks",
    default: "(none)",
    description:
      "The networks from which agents connect to other servers, such as `203.0.113.0/24`, separated by commas. The API tells them to callers who configure firewalls.",
  },
  ERRAND_GIT_URL: {
    group: "Networks",
    default: "https://github.com",
    description:
      "The address of the Git host. A repository is at `<address>/<owner>/<name>.git`. The protocol is https, http or file.",
  },
  ERRAND_GIT_WAIT_MINUTES: {
    group: "Limits",
    default: "5",
    description:
      "How long the Git host may send nothing while it prepares a repository for a run. The log of the run shows the progress.",
  },
  ERRAND_SETUP_MINUTES: {
    group: "Limits",
    default: "10",
    description:
      "The time limit of one setup command. All setup commands of one environment together may take three times as long.",
  },
  ERRAND_WEBHOOK_ALLOW: {
    group: "Networks",
    default: "(none)",
    description:
      "Addresses, networks and host names that webhooks, and requests to the issuers of workflow tokens, may reach besides public ones, also without TLS. Separated by commas.",
  },
  ERRAND_AGENT_ALLOW: {
    group: "Networks",
    default: "(none)",
    description:
      "Addresses, networks and host names that agents with network access, remote MCP servers and the logs of GitHub Actions may use besides public ones. Separated by commas.",
  },
  ERRAND_DATABASE_CONNECTIONS: {
    group: "Database",
    default: "10",
    description: "Database connections for requests and runs. Each process opens 9 more connections.",
  },
  ERRAND_TRUST_PROXY: {
    group: "TLS and proxy",
    default: "0",
    description:
      "The number of HTTPS proxies in front of Errand, 0 to 10. If it is not `0`, `ERRAND_PUBLIC_URL` must be an https address, unless `ERRAND_ALLOW_HTTP` is `1`.",
  },
  ERRAND_ALLOWED_ORIGINS: {
    group: "TLS and proxy",
    default: "(none)",
    description:
      "The sites whose scripts may use the API from a browser, as origins separated by commas: `https://board.example.com`. They need a key; the cookie of the pages does not count.",
  },
  ERRAND_TLS_CERT: {
    group: "TLS and proxy",
    default: "(none)",
    description: "The file of the TLS certificate. Set it together with `ERRAND_TLS_KEY`.",
    compose: "no",
  },
  ERRAND_TLS_KEY: {
    group: "TLS and proxy",
    default: "(none)",
    description: "The file of the certificate's private key.",
    compose: "no",
  },
  ERRAND_ALLOW_HTTP: {
    group: "TLS and proxy",
    default: "0",
    description: "`1` allows plain HTTP on any address. API keys then travel unencrypted.",
    compose: "set",
  },
  ERRAND_LOG_LEVEL: {
    group: "Logging",
    default: "info",
    description:
      "`debug`, `info`, `warn`, `error` or `silent`. The log is JSON lines on standard error. On a terminal, the default is `warn`.",
  },
  ...agentVariableDocs,
  ...modelVariableDocs,
  ...sandboxVariableDocs,
  ...signInVariableDocs,
  ...limitVariableDocs,
  ...diskVariableDocs,
  ...apiLimitVariableDocs,
} satisfies Record<keyof typeof variables.shape, VariableDoc>;

/** Documentation of all variables, including those of adapters. */
export const variableDocs: Readonly<Record<string, VariableDoc>> = {
  ...ownVariableDocs,
  ...adapterVariableDocs,
};
