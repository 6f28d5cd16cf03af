import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspectLayers, listRules } from "../../scripts/layers.ts";
import { RUN_SOURCES } from "../../src/core/model/runs/sources.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** For each rule of `.dependency-cruiser.cjs`, lines that break it in one file of the sample project below. */
const FORBIDDEN: readonly (readonly [rule: string, file: string, line: string])[] = [
  ["core-imports-nothing", "src/core/model/runs/run.ts", 'import "node:fs";'],
  ["core-imports-nothing", "src/core/model/runs/run.ts", 'import "zod";'],
  [
    "core-imports-nothing",
    "src/core/model/runs/run.ts",
    'import type { a } from "../../../storage/rows.ts";',
  ],
  ["core-basics-imports", "src/core/basics/errors.ts", 'import "../model/runs/run.ts";'],
  ["core-model-imports", "src/core/model/runs/run.ts", 'import type { a } from "../../ports/queue.ts";'],
  ["core-ports-imports", "src/core/ports/queue.ts", 'import type { a } from "../runs/run-edit.ts";'],
  ["core-runs-imports", "src/core/runs/run-edit.ts", 'import type { a } from "../team/people.ts";'],
  ["core-team-imports", "src/core/team/people.ts", 'import type { a } from "../requests/run-service.ts";'],
  [
    "core-requests-imports",
    "src/core/requests/run-service.ts",
    'import type { a } from "../work/attempt.ts";',
  ],
  ["core-work-imports", "src/core/work/attempt.ts", 'import type { a } from "../team/people.ts";'],
  ["core-threads-imports", "src/core/threads/inbox.ts", 'import type { a } from "../upkeep/doctor.ts";'],
  [
    "core-upkeep-imports",
    "src/core/upkeep/doctor.ts",
    'import type { a } from "../requests/run-service.ts";',
  ],
  ["core-has-no-other-folder", "src/core/run-edit.ts", 'import "./model/runs/run.ts";'],
  ["adapters-imports", "src/adapters/one/index.ts", 'import "../../storage/rows.ts";'],
  ["adapters-imports", "src/adapters/one/index.ts", 'import "../../outgoing/client.ts";'],
  ["adapters-imports", "src/adapters/one/index.ts", 'import type { a } from "../../api/server.ts";'],
  ["adapters-are-independent", "src/adapters/one/index.ts", 'import "../two/index.ts";'],
  ["adapters-do-not-import-their-registry", "src/adapters/one/index.ts", 'import "../registry.ts";'],
  ["agents-imports", "src/agents/acp/runner.ts", 'import "../../sandboxes/local/sandbox.ts";'],
  ["agents-are-independent", "src/agents/acp/runner.ts", 'import "../demo/main.ts";'],
  ["demo-agent-is-a-program", "src/app/start.ts", 'import "../agents/demo/main.ts";'],
  ["demo-agent-imports-nothing", "src/agents/demo/main.ts", 'import "../../core/model/runs/run.ts";'],
  ["api-imports", "src/api/server.ts", 'import "../adapters/one/index.ts";'],
  ["api-imports", "src/api/server.ts", 'import "../storage/rows.ts";'],
  ["api-imports", "src/api/server.ts", 'import "../outgoing/client.ts";'],
  ["api-schemas-imports", "src/api/schemas/run.ts", 'import "../http/errors.ts";'],
  ["api-http-imports", "src/api/http/errors.ts", 'import type { a } from "../api-deps.ts";'],
  ["api-auth-imports", "src/api/auth/caller.ts", 'import type { a } from "../api-deps.ts";'],
  ["api-openapi-imports", "src/api/openapi/openapi.ts", 'import "../auth/caller.ts";'],
  ["api-events-imports", "src/api/events/stream.ts", 'import "../routes/runs.ts";'],
  ["api-routes-imports", "src/api/routes/runs.ts", 'import "../pages/page.ts";'],
  ["api-pages-imports", "src/api/pages/page.ts", 'import "../routes/runs.ts";'],
  ["child-process-imports", "src/child-process/start-program.ts", 'import "../git/mirror.ts";'],
  ["config-imports", "src/config/config.ts", 'import "../adapters/one/index.ts";'],
  ["config-imports", "src/config/config.ts", 'import "../storage/rows.ts";'],
  ["gateway-imports", "src/gateway/gateways.ts", 'import "../storage/rows.ts";'],
  ["git-imports", "src/git/mirror.ts", 'import "../workspace/provider.ts";'],
  ["json-schema-imports", "src/json-schema/schema-checker.ts", 'import "../secrets/secret-box.ts";'],
  ["object-storage-imports", "src/object-storage/objects.ts", 'import "../storage/rows.ts";'],
  ["outgoing-imports", "src/outgoing/client.ts", 'import "../storage/rows.ts";'],
  ["sandboxes-imports", "src/sandboxes/local/sandbox.ts", 'import "../../agents/acp/runner.ts";'],
  ["sandboxes-are-independent", "src/sandboxes/local/sandbox.ts", 'import "../docker/sandbox.ts";'],
  ["secrets-imports", "src/secrets/secret-box.ts", 'import "../storage/rows.ts";'],
  ["storage-imports", "src/storage/rows.ts", 'import "../config/config.ts";'],
  ["workspace-imports", "src/workspace/provider.ts", 'import "../storage/rows.ts";'],
  ["nothing-imports-app", "src/api/server.ts", 'import "../app/logger.ts";'],
  ["database-behind-ports", "src/api/server.ts", 'import "pg";'],
  [
    "client-imports-nothing",
    "clients/typescript/src/errand.ts",
    'import "../../../src/core/basics/errors.ts";',
  ],
  ["cli-imports-only-the-client", "cli/src/main.ts", 'import "../../src/core/basics/errors.ts";'],
  ["cli-imports-only-the-client", "cli/src/main.ts", 'import "../../clients/typescript/src/paging.ts";'],
  [
    "packages-import-nothing-of-errand",
    "packages/embedded-postgres/src/cluster.ts",
    'import type { a } from "../../../src/core/basics/errors.ts";',
  ],
  [
    "packages-import-nothing-of-errand",
    "packages/embedded-postgres/src/cluster.ts",
    'import "../../../test/helper.ts";',
  ],
  [
    "only-app-imports-packages",
    "src/storage/rows.ts",
    'import "../../packages/embedded-postgres/src/cluster.ts";',
  ],
  ["no-client-in-src", "src/api/server.ts", 'import "../../clients/typescript/src/errand.ts";'],
  ["no-test-code-in-src", "src/app/compose.ts", 'import "../../test/helper.ts";'],
  ["no-development-package-in-src", "src/app/start.ts", 'import "fast-check";'],
  ["not-resolvable", "src/app/start.ts", 'import "./nowhere.ts";'],
  ["no-cycles", "src/core/model/runs/run.ts", 'import type { a } from "./other.ts";'],
  ["no-orphans", "src/core/forgotten.ts", "// nothing imports this"],
];

/** A small project that breaks no rule. */
const SAMPLE_PROJECT: Readonly<Record<string, string>> = {
  "cli/src/main.ts": 'import "../../clients/typescript/src/index.ts";',
  "clients/typescript/src/index.ts": 'export * from "./errand.ts";',
  "clients/typescript/src/errand.ts": 'import "./paging.ts";',
  "clients/typescript/src/paging.ts": "",
  "packages/embedded-postgres/src/cluster.ts": 'import "pg"; import "node:fs";',
  "src/main.js": 'import "./app/start.ts";',
  "src/app/start.ts": 'import "./compose.ts"; import "./logger.ts"; import "../config/config.ts";',
  "src/app/logger.ts": 'import "../core/model/runs/run.ts"; import "pino";',
  "src/app/compose.ts": [
    'import "../adapters/registry.ts"; import "../agents/acp/runner.ts"; import "../api/server.ts";',
    'import "../sandboxes/docker/sandbox.ts"; import "../storage/queue/queue.ts"; import "../outgoing/client.ts";',
    'import "../sandboxes/local/sandbox.ts"; import "../storage/rows.ts"; import "../workspace/provider.ts";',
    'import "../git/skills/library.ts"; import "../gateway/gateways.ts"; import "../core/work/attempt.ts";',
    'import "../../packages/embedded-postgres/src/cluster.ts"; import "../secrets/secret-box.ts";',
    'import "../core/threads/inbox.ts"; import "../core/upkeep/doctor.ts";',
  ].join("\n"),
  "src/config/config.ts": 'import "../adapters/registry.ts"; import "../outgoing/allow-list.ts";',
  "src/config/models.ts": "",
  "src/core/basics/errors.ts": "",
  "src/core/model/runs/run.ts": 'import "../../basics/errors.ts";',
  "src/core/ports/queue.ts": 'import type { a } from "../model/runs/run.ts";',
  "src/core/runs/run-edit.ts": 'import "../ports/queue.ts";',
  "src/core/team/people.ts": 'import "../ports/queue.ts";',
  "src/core/requests/run-service.ts": 'import "../runs/run-edit.ts"; import "../team/people.ts";',
  "src/core/work/attempt.ts": 'import "../runs/run-edit.ts";',
  "src/core/threads/inbox.ts": 'import "../requests/run-service.ts";',
  "src/core/upkeep/doctor.ts": 'import "../work/attempt.ts"; import "../threads/inbox.ts";',
  "src/core/model/runs/other.ts": 'import type { a } from "./run.ts";',
  "src/adapters/registry.ts": 'import "./one/index.ts"; import "./two/index.ts";',
  "src/adapters/content-hash.ts": 'import "node:crypto";',
  "src/adapters/one/index.ts":
    'import "../../core/model/runs/run.ts"; import "../content-hash.ts"; import "zod";',
  "src/adapters/two/index.ts": 'import "../../core/model/runs/other.ts";',
  "src/agents/acp/runner.ts":
    'import "../../sandboxes/sandbox.ts"; import "../../child-process/start-program.ts";',
  "src/agents/demo/main.ts": 'import "./turn.ts";',
  "src/agents/demo/turn.ts": "",
  "src/api/server.ts":
    'import "./routes/runs.ts"; import "./pages/page.ts"; import "./openapi/openapi.ts"; import "fastify";',
  "src/api/api-deps.ts": 'import "../core/model/runs/run.ts";',
  "src/api/schemas/run.ts": "",
  "src/api/http/errors.ts": 'import "../schemas/run.ts";',
  "src/api/auth/caller.ts": 'import "../http/errors.ts";',
  "src/api/openapi/openapi.ts": 'import "../schemas/run.ts";',
  "src/api/events/stream.ts": 'import "../auth/caller.ts"; import "../api-deps.ts";',
  "src/api/routes/runs.ts": 'import "../events/stream.ts"; import "../api-deps.ts";',
  "src/api/pages/page.ts": 'import "../auth/caller.ts"; import "../api-deps.ts";',
  "src/child-process/start-program.ts": 'import "../core/basics/errors.ts"; import "node:child_process";',
  "src/gateway/gateways.ts": 'import "../outgoing/client.ts"; import "../config/models.ts";',
  "src/git/mirror.ts": 'import "../core/model/runs/run.ts"; import "../child-process/start-program.ts";',
  "src/git/skills/library.ts": 'import "../../core/model/runs/run.ts"; import "../mirror.ts";',
  "src/json-schema/schema-checker.ts": 'import "../core/basics/errors.ts"; import "node:worker_threads";',
  "src/object-storage/objects.ts": 'import "../core/basics/errors.ts";',
  "src/outgoing/allow-list.ts": "",
  "src/outgoing/client.ts": 'import "./allow-list.ts"; import "../core/model/runs/run.ts";',
  "src/sandboxes/sandbox.ts": "",
  "src/sandboxes/docker/sandbox.ts": 'import "../sandbox.ts";',
  "src/sandboxes/local/sandbox.ts": 'import "../sandbox.ts"; import "node:fs";',
  "src/secrets/secret-box.ts": 'import "../core/basics/errors.ts"; import "node:crypto";',
  "src/storage/rows.ts": 'import "pg"; import "./store-deps.ts"; import "../core/basics/errors.ts";',
  "src/storage/connection.ts": 'import "pg";',
  "src/storage/queue/queue.ts": 'import type { a } from "../store-deps.ts";',
  "src/storage/store-deps.ts": 'import type { a } from "../core/model/runs/run.ts";',
  "src/workspace/provider.ts": 'import "../core/model/runs/run.ts"; import "../git/mirror.ts";',
  "test/helper.ts": 'import "../src/core/model/runs/run.ts"; import "fast-check";',
};

describe("the dependency rules", () => {
  let project: string;

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), "errand-layers-"));
    await cp(join(ROOT, "package.json"), join(project, "package.json"));
    await symlink(join(ROOT, "node_modules"), join(project, "node_modules"));
    for (const [file, text] of Object.entries(SAMPLE_PROJECT)) {
      await write(file, text);
    }
  });

  afterEach(() => rm(project, { recursive: true }));

  async function write(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), `${text}\nexport const a = 1;\n`);
  }

  test("a project that follows the rules has no violation, and every file of it is inspected", async () => {
    const report = await inspectLayers(project, ["cli", "clients", "packages", "src", "test"]);

    expect(report).toEqual({ moduleCount: Object.keys(SAMPLE_PROJECT).length, violations: [] });
  });

  test.each(FORBIDDEN)("the rule %s forbids %s to contain: %s", async (rule, file, line) => {
    await write(file, `${SAMPLE_PROJECT[file] ?? ""}\n${line}`);

    const { violations } = await inspectLayers(project, ["cli", "clients", "packages", "src", "test"]);

    expect(violations).toContainEqual(
      expect.stringMatching(new RegExp(`^${rule}: .*${file.replaceAll(".", "\\.")}`)),
    );
  });

  test("the test of forbidden lines covers each dependency rule", async () => {
    const broken = new Set(FORBIDDEN.map(([rule]) => rule));

    expect((await listRules()).filter((name) => !broken.has(name))).toEqual([]);
  });
});

test("src contains the entry point and folders only", async () => {
  const entries = await readdir(join(ROOT, "src"), { withFileTypes: true });

  expect(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual(["main.js"]);
});

const CORE_AND_API = ["src/core", "src/api"];
const PLATFORM = /slack|github|gitlab|linear|jira/i;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;

/** The only names of the HTTP API, besides the run sources, that name a platform: a member, a secret, ways to sign in. */
const PLATFORM_NAMES = /github_repos|GITHUB_TOKEN|SIGN_IN_METHODS = \[[^\]]*\]/g;

test("the core and the API name no platform, except in the names that the HTTP API fixes", async () => {
  const named: string[] = [];
  for (const folder of CORE_AND_API) {
    for (const file of await listFiles(folder)) {
      const text = await readFile(join(ROOT, file), "utf8");
      if (PLATFORM.test(withoutApiNames(text.replaceAll(COMMENT, "")))) {
        named.push(file);
      }
    }
  }

  expect(named).toEqual([]);
});

const SOURCES = ["src", "packages/embedded-postgres/src"];

test("only the process entry points read the environment", async () => {
  const readers: string[] = [];
  for (const file of (await Promise.all(SOURCES.map(listFiles))).flat()) {
    const text = await readFile(join(ROOT, file), "utf8");
    if (/process\.env\b/.test(text.replaceAll(COMMENT, ""))) {
      readers.push(file);
    }
  }

  expect(readers.toSorted()).toEqual([
    "src/agents/demo/main.ts",
    "src/main.js",
    "src/sandboxes/forwarder.mjs",
  ]);
});

/**
 * The demo agent and the forwarder are programs inside of a sandbox. `src/app` gives the package of the database the one
 * function that the server uses.
 */
const STARTERS = [
  "packages/embedded-postgres/src/programs.ts",
  "src/agents/demo/shell-step.ts",
  "src/child-process/start-program.ts",
  "src/sandboxes/forwarder.mjs",
];
const IMPORTS_STARTER =
  /^(?:import|export) (?!type\b)[^;]*from "(?:node:)?(?:child_process|cluster)"|(?:import|require)\("(?:node:)?(?:child_process|cluster)"/m;

test("only one file of the server starts programs, so that none inherits a descriptor", async () => {
  const starters: string[] = [];
  for (const file of (await Promise.all(SOURCES.map(listFiles))).flat()) {
    if (IMPORTS_STARTER.test(await readFile(join(ROOT, file), "utf8"))) {
      starters.push(file);
    }
  }

  expect(starters.toSorted()).toEqual(STARTERS);
});

function withoutApiNames(text: string): string {
  return RUN_SOURCES.reduce((rest, name) => rest.replaceAll(name, ""), text.replaceAll(PLATFORM_NAMES, ""));
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => /\.m?[jt]s$/.test(name))
    .map(({ name, parentPath }) => relative(ROOT, join(parentPath, name)))
    .filter((file) => !file.startsWith("src/storage/generated/"));
}
