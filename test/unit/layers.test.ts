import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspectLayers } from "../../scripts/layers.ts";
import { RUN_SOURCES } from "../../src/core/runs/sources.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** What each rule is there to catch: one line more in one file of the house below. */
const FORBIDDEN: readonly (readonly [rule: string, file: string, line: string])[] = [
  ["core-is-alone", "src/core/run.ts", 'import "node:fs";'],
  ["core-is-alone", "src/core/run.ts", 'import "zod";'],
  ["core-is-alone", "src/core/run.ts", 'import type { a } from "../storage/rows.ts";'],
  ["adapters-knows-only-core", "src/adapters/one/index.ts", 'import "../../storage/rows.ts";'],
  ["adapters-knows-only-core", "src/adapters/one/index.ts", 'import "../../queue/queue.ts";'],
  ["adapters-knows-only-core", "src/adapters/one/index.ts", 'import type { a } from "../../api/server.ts";'],
  ["adapters-are-strangers", "src/adapters/one/index.ts", 'import "../two/index.ts";'],
  ["adapters-do-not-see-their-registry", "src/adapters/one/index.ts", 'import "../registry.ts";'],
  ["agents-knows-only-core", "src/agents/acp/runner.ts", 'import "../../sandboxes/local/sandbox.ts";'],
  ["agents-are-strangers", "src/agents/acp/runner.ts", 'import "../demo/main.ts";'],
  ["demo-agent-is-a-program", "src/start.ts", 'import "./agents/demo/main.ts";'],
  ["demo-agent-stands-alone", "src/agents/demo/main.ts", 'import "../../core/run.ts";'],
  ["api-knows-only-core", "src/api/server.ts", 'import "../adapters/one/index.ts";'],
  ["api-knows-only-core", "src/api/server.ts", 'import "../storage/rows.ts";'],
  ["api-knows-only-core", "src/api/server.ts", 'import "../news/news.ts";'],
  ["gateway-knows-only-core", "src/gateway/gateways.ts", 'import "../storage/rows.ts";'],
  ["git-knows-only-core", "src/git/mirror.ts", 'import "../workspace/keeper.ts";'],
  ["news-knows-only-core", "src/news/news.ts", 'import "../storage/rows.ts";'],
  ["outgoing-knows-only-core", "src/outgoing/destinations.ts", 'import "../storage/rows.ts";'],
  ["queue-knows-only-core", "src/queue/queue.ts", 'import "../storage/rows.ts";'],
  ["sandboxes-knows-only-core", "src/sandboxes/local/sandbox.ts", 'import "../../agents/acp/runner.ts";'],
  ["sandboxes-are-strangers", "src/sandboxes/local/sandbox.ts", 'import "../docker/sandbox.ts";'],
  ["skills-knows-only-core", "src/skills/library.ts", 'import "../storage/rows.ts";'],
  ["storage-knows-only-core", "src/storage/rows.ts", 'import "../queue/queue.ts";'],
  ["webhooks-knows-only-core", "src/webhooks/client.ts", 'import "../storage/rows.ts";'],
  ["workspace-knows-only-core", "src/workspace/keeper.ts", 'import "../storage/rows.ts";'],
  ["wiring-by-hand", "src/config.ts", 'import "./adapters/one/index.ts";'],
  ["registry-is-for-the-wiring", "src/log.ts", 'import "./adapters/registry.ts";'],
  ["database-behind-ports", "src/api/server.ts", 'import "pg";'],
  ["twins-are-for-tests", "src/compose.ts", 'import "./storage/memory/run-store.ts";'],
  ["twins-are-for-tests", "src/compose.ts", 'import "./news/memory-news.ts";'],
  ["no-test-code-in-src", "src/start.ts", 'import "../test/helper.ts";'],
  ["no-development-package-in-src", "src/start.ts", 'import "fast-check";'],
  ["not-resolvable", "src/start.ts", 'import "./nowhere.ts";'],
  ["no-cycles", "src/core/run.ts", 'import type { a } from "./other.ts";'],
  ["no-orphans", "src/core/forgotten.ts", "// nothing imports this"],
];

/** A small house in which everything is where it belongs. */
const HOUSE: Readonly<Record<string, string>> = {
  "src/main.js": 'import "./start.ts"; import "./config.ts";',
  "src/start.ts": 'import "./compose.ts"; import "./log.ts";',
  "src/config.ts": 'import "./adapters/registry.ts"; import "./outgoing/allow-list.ts";',
  "src/log.ts": 'import "./core/run.ts"; import "pino";',
  "src/compose.ts": [
    'import "./adapters/registry.ts"; import "./agents/acp/runner.ts"; import "./api/server.ts";',
    'import "./news/news.ts"; import "./queue/queue.ts"; import "./sandboxes/docker/sandbox.ts";',
    'import "./sandboxes/local/sandbox.ts"; import "./storage/rows.ts"; import "./workspace/keeper.ts";',
    'import "./skills/library.ts"; import "./webhooks/client.ts"; import "./gateway/gateways.ts";',
  ].join("\n"),
  "src/core/run.ts": "",
  "src/core/other.ts": 'import type { a } from "./run.ts";',
  "src/adapters/registry.ts": 'import "./one/index.ts"; import "./two/index.ts";',
  "src/adapters/content-hash.ts": 'import "node:crypto";',
  "src/adapters/one/index.ts": 'import "../../core/run.ts"; import "../content-hash.ts"; import "zod";',
  "src/adapters/two/index.ts": 'import "../../core/other.ts";',
  "src/agents/acp/runner.ts": 'import "../../sandboxes/sandbox.ts";',
  "src/agents/demo/main.ts": 'import "./turn.ts";',
  "src/agents/demo/turn.ts": "",
  "src/api/server.ts": 'import "../core/run.ts"; import "fastify";',
  "src/git/mirror.ts": 'import "../core/run.ts";',
  "src/news/news.ts": 'import "pg";',
  "src/news/memory-news.ts": 'import "../core/run.ts";',
  "src/outgoing/allow-list.ts": "",
  "src/outgoing/destinations.ts": 'import "./allow-list.ts";',
  "src/queue/queue.ts": 'import type { a } from "../storage/store-parts.ts";',
  "src/sandboxes/sandbox.ts": "",
  "src/sandboxes/docker/sandbox.ts": 'import "../sandbox.ts";',
  "src/sandboxes/local/sandbox.ts": 'import "../sandbox.ts"; import "node:fs";',
  "src/storage/rows.ts": 'import "pg"; import "./store-parts.ts"; import "../start-error.ts";',
  "src/storage/store-parts.ts": 'import type { a } from "../core/run.ts";',
  "src/storage/memory/run-store.ts": 'import "../../core/run.ts";',
  "src/skills/library.ts": 'import "../core/run.ts"; import "../git/mirror.ts";',
  "src/start-error.ts": "",
  "src/webhooks/client.ts": 'import "../outgoing/destinations.ts";',
  "src/gateway/gateways.ts": 'import "../outgoing/destinations.ts";',
  "src/workspace/keeper.ts": 'import "../core/run.ts";',
  "test/helper.ts": 'import "../src/core/run.ts"; import "fast-check";',
};

describe("the layers", () => {
  let project: string;

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), "errand-layers-"));
    await cp(join(ROOT, "package.json"), join(project, "package.json"));
    await symlink(join(ROOT, "node_modules"), join(project, "node_modules"));
    for (const [file, text] of Object.entries(HOUSE)) await write(file, text);
  });

  afterEach(() => rm(project, { recursive: true }));

  async function write(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), `${text}\nexport const a = 1;\n`);
  }

  test("a house in order has no violation, and every file of it was looked at", async () => {
    const report = await inspectLayers(project, ["src", "test"]);

    expect(report).toEqual({ moduleCount: Object.keys(HOUSE).length, violations: [] });
  });

  test.each(FORBIDDEN)("%s forbids %s to hold: %s", async (rule, file, line) => {
    await write(file, `${HOUSE[file] ?? ""}\n${line}`);

    const { violations } = await inspectLayers(project, ["src", "test"]);

    expect(violations).toContainEqual(
      expect.stringMatching(new RegExp(`^${rule}: .*${file.replaceAll(".", "\\.")}`)),
    );
  });
});

const CORE_AND_API = ["src/core", "src/api"];
const PLATFORM = /slack|github|gitlab|linear|jira/i;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;

/** A member of the contract's environments. */
const CONTRACT_MEMBER = "github_repos";

test("core and API name no platform but by the contract's own names", async () => {
  const named: string[] = [];
  for (const folder of CORE_AND_API) {
    for (const file of await listFiles(folder)) {
      const text = await readFile(join(ROOT, file), "utf8");
      if (PLATFORM.test(withoutContractNames(text.replaceAll(COMMENT, "")))) named.push(file);
    }
  }

  expect(named).toEqual([]);
});

test("the environment is read in one place, and handed in by the process entries", async () => {
  const readers: string[] = [];
  for (const file of await listFiles("src")) {
    const text = await readFile(join(ROOT, file), "utf8");
    if (/process\.env\b/.test(text.replaceAll(COMMENT, ""))) readers.push(file);
  }

  expect(readers.toSorted()).toEqual(["src/agents/demo/main.ts", "src/main.js"]);
});

function withoutContractNames(text: string): string {
  return [...RUN_SOURCES, CONTRACT_MEMBER].reduce((rest, name) => rest.replaceAll(name, ""), text);
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => /\.[jt]s$/.test(name))
    .map(({ name, parentPath }) => relative(ROOT, join(parentPath, name)))
    .filter((file) => !file.startsWith("src/storage/generated/"));
}
