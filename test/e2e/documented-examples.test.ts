import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { InstalledCli } from "../../cli/test/installed-cli.ts";
import { createApiClient } from "../support/api-client.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { type Block, blocksOf, listPages } from "../support/documentation.ts";
import { GitHost } from "../support/git-host.ts";
import { type Service, startService } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const ID = /^[0-9a-f-]{36}$/m;

/** An example by its first line, and what its part of the output contains. */
interface RunExample {
  readonly begins: string;
  readonly prints: RegExp;
}

/** The shell examples of a page are one script, because later ones use variables of earlier ones. */
const SCRIPTS: Readonly<Record<string, readonly RunExample[]>> = {
  "cli/README.md": [{ begins: "errand login", prints: /ERRAND-REPORT\.md/ }],
  "docs/api.md": [
    { begins: 'KEY="Authorization: Bearer $(cat .errand/api-key)"', prints: /"is_operator":true/ },
    { begins: 'RUN=$(curl -s $API/runs -H "$KEY" -H "$JSON" -H "Idempotency-Key: report-1" \\', prints: ID },
    { begins: 'RATED=$(curl -s $API/runs -H "$KEY" -H "$JSON" \\', prints: /^\{"risk":"low"\}$/m },
    { begins: "curl -s $API/runs/batch", prints: /QUEUED[\s\S]*prompt: one of prompt/ },
    {
      begins: 'curl -s $API/runs/$RUN -H "$KEY" | node',
      prints: /^(QUEUED|PENDING|CLAIMED|INPROGRESS|SUCCEEDED)$/m,
    },
    { begins: 'curl -sN $API/runs/$RUN/events -H "$KEY"', prints: /"to":"SUCCEEDED"/ },
    { begins: 'curl -s "$API/runs/$RUN?wait=30', prints: /^\{"run_id":"[^"]+","state":"SUCCEEDED"\}$/m },
    { begins: "curl -s $API/runs/$RUN/followups", prints: /followup/ },
    { begins: "curl -s -X POST $API/runs/$RUN/cancel", prints: /^"[0-9a-f-]{36}"$/m },
    { begins: 'AGENT=$(curl -s $API/identities -H "$KEY" -H "$JSON" \\', prints: /"run_id":/ },
    {
      begins: 'curl -si $API/runs -H "$KEY" -H "$JSON" -H "Idempotency-Key: report-1" \\',
      prints: /replay/i,
    },
    { begins: "TAG=$(curl -si $API/runs/$RUN", prints: /^304$[\s\S]*"checked":"yes"/m },
    { begins: 'curl -s "$API/runs?state=SUCCEEDED&state=CANCELLED', prints: /CANCELLED First report/ },
    { begins: 'curl -si "$API/runs?limit=1&colour=red" -H "$KEY"', prints: /colour/ },
  ],
  "docs/guides/command-line.md": [
    { begins: "errand people create", prints: /"scopes": \[\s*"runs:write"\s*\],\s*"key": "errand_/ },
    { begins: "errand environments create --name site", prints: /uid\t\w{22}\n[\s\S]*uid\t\w{22}\n/ },
    { begins: "errand routing create", prints: /Website team[\s\S]*"limit": 200/ },
    { begins: "errand admin inbox list", prints: /^\d{4}-\S+ \S/m },
    { begins: "errand keys delete nightly", prints: /^/ },
  ],
  "docs/guides/github-actions.md": [
    { begins: "CI=$(errand api POST /agent/principals", prints: /"effect": ?"allow"/ },
  ],
  "docs/guides/invite-your-team.md": [
    {
      begins: 'KEY="Authorization: Bearer $ERRAND_API_KEY"',
      prints: /"subject":"slack:T012AB3CD:U012AB3CD"/,
    },
    { begins: "errand login", prints: /ERRAND-REPORT\.md/ },
  ],
  "docs/guides/recipes.md": [
    { begins: "ENVIRONMENT=$(errand api POST /agent/environments", prints: /prepared\.txt/ },
    { begins: "errand api PUT /agent/secrets/SENTRY_TOKEN", prints: /SENTRY_TOKEN/ },
    {
      begins: "SENTRY=$(errand api POST /agent/mcp-servers",
      prints: /^"?https:\/\/mcp\.sentry\.dev\/mcp"?$/m,
    },
    { begins: "errand api POST /agent/schedules", prints: /0 3 \* \* 1-5/ },
    { begins: "errand skills list", prints: /release-notes\tocto[\s\S]*ERRAND-REPORT\.md/ },
    { begins: "errand api POST /agent/routing-rules", prints: /Website team[\s\S]*Website team/ },
    { begins: "errand api POST /agent/policies", prints: /require_approval[\s\S]*Night runs need approval/ },
    { begins: "RUN=$(errand runs get @last", prints: /https?:\/\/.*\/sessions\// },
  ],
  "docs/operations/configure.md": [
    { begins: 'KEY="Authorization: Bearer $(cat .errand/api-key)"', prints: /"limit":200/ },
  ],
  "docs/operations/secure.md": [
    { begins: 'KEY="Authorization: Bearer $(cat .errand/api-key)"', prints: /"key":"errand_/ },
  ],
  "docs/workspaces.md": [
    {
      begins: 'KEY="Authorization: Bearer $(cat .errand/api-key)"',
      prints: /Clone octocat\/Hello-World[\s\S]*ERRAND-REPORT\.md[\s\S]*"to":"SUCCEEDED"/,
    },
  ],
};

const INSTALLATION = "test/e2e/installation.test.ts runs it";
/** Why the other examples are not in a script of this file. An example is named by its page, language and first words. */
const NOT_HERE: readonly (readonly [page: string, language: string, begins: string, reason: string])[] = [
  ["CONTRIBUTING.md", "sh", "npm ci", INSTALLATION],
  ["README.md", "sh", "npm ci && npm start", INSTALLATION],
  ["README.md", "sh", "npx errand run", INSTALLATION],
  [
    "README.md",
    "sh",
    "ANTHROPIC_API_KEY=… npm start",
    "needs accounts of companies; real-*.test.ts run the agents",
  ],
  [
    "README.md",
    "sh",
    "export ERRAND_SECRET_KEY=",
    "needs images of a registry; docker-compose-worker.test.ts",
  ],
  ["clients/python/README.md", "python", "", "clients/python/tests/test_readme.py runs all"],
  ["docs/api.md", "json", "{", "line-comments.test.ts sends a body with these members"],
  [
    "clients/python/README.md",
    "sh",
    "pip install",
    "needs the published package; python-client.test.ts installs ours",
  ],
  [
    "clients/typescript/README.md",
    "sh",
    "npm install",
    "needs the published package; package.test.ts installs ours",
  ],
  ["clients/typescript/README.md", "ts", "", "clients/typescript/test/package.test.ts runs all"],
  [
    "packages/embedded-postgres/README.md",
    "ts",
    "import { PostgresStartError",
    "writes to /var/lib; the tests of the package start a server in the same way",
  ],
  ["docs/agents.md", "bash", "errand admin agents ", "loads 100 MB and more; agent-updater.test.ts"],
  ["docs/agents.md", "bash", "npm run agents:install", "loads 500 MB; install-agents.test.ts"],
  ["docs/architecture.md", "mermaid", "flowchart LR", "is a picture"],
  [
    "docs/guides/github-actions.md",
    "yaml",
    "on:",
    "only GitHub runs it; github-action.test.ts starts the step",
  ],
  [
    "docs/guides/github.md",
    "yaml",
    "# .github/errand.yml",
    "needs a repository on GitHub; test/unit/adapters/github/errand-file.test.ts parses it",
  ],
  ["docs/guides/recipes.md", "markdown", "---", "the next example uses it: the Git host of this file has it"],
  [
    "docs/guides/slack.md",
    "yaml",
    "",
    "installation-guides.test.ts compares it with the manifest of the server",
  ],
  ["docs/operations/back-up.md", "sh", "cp -a", INSTALLATION],
  ["docs/operations/back-up.md", "sh", "mv .errand", INSTALLATION],
  ["docs/operations/back-up.md", "sh", 'pg_dump -d "$DATABASE_URL"', INSTALLATION],
  ["docs/operations/back-up.md", "sh", "pg_restore", INSTALLATION],
  ["docs/operations/back-up.md", "sh", 'pg_dump -h "$PWD', INSTALLATION],
  ["docs/operations/install.md", "sh", "npm ci", INSTALLATION],
  [
    "docs/operations/install.md",
    "ini",
    "# /etc/systemd",
    "a test below checks it; to run it needs systemd as the first process",
  ],
  ["docs/operations/install.md", "nginx", "server {", "behind-nginx.test.ts runs it"],
  ["docs/operations/scale.md", "sh", "export DATABASE_URL=", "needs two machines; two-processes.test.ts"],
  ["docs/operations/scale.md", "sh", "export ERRAND_BLOB_URL=", "needs a bucket; object-store.test.ts"],
  [
    "docs/operations/scale.md",
    "sh",
    "npm run blobs:move",
    "needs a bucket; object-store.test.ts runs the command",
  ],
  ["docs/operations/scale.md", "ini", "[databases]", "pooler.test.ts compares it with what the start names"],
  ["docs/webhooks.md", "js", "import { Webhook }", "a test below"],
  ["docs/webhooks.md", "json", "{", "a test below"],
  ["docs/webhooks.md", "sh", "KEY=", "a test below"],
];

/** Versions before 254 do not know `DelegateSubgroup`, and ignore it. */
const withoutSystemd = (await run("systemd-analyze", ["--version"]).catch(() => undefined)) === undefined;

let cli: InstalledCli;
let folder: string;
let gitHost: GitHost;
let receiver: WebhookReceiver;
let service: Service;

beforeAll(async () => {
  folder = await makeFolder();
  cli = await InstalledCli.create();
  gitHost = await GitHost.start("octocat/Hello-World");
  const [skill] = (await blocksOf("docs/guides/recipes.md")).filter(
    ({ language }) => language === "markdown",
  );
  await gitHost.repositories.commit("octocat/Hello-World", {
    ".agents/skills/release-notes/SKILL.md": skill?.text ?? "",
  });
  receiver = await startWebhookReceiver();
  service = await startService(join(folder, ".errand"), {
    ...gitHost.environment,
    ERRAND_WEBHOOK_ALLOW: "127.0.0.0/8",
  });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(async () => {
  await service?.end("SIGTERM");
  await receiver?.close();
  await gitHost?.stop();
  await cli?.remove();
  await removeFolder(folder);
});

/** Runs a script as a user does, in the directory in which the server was started. Returns what it prints. */
async function shell(script: string): Promise<string> {
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const programs = [dirname(process.execPath), dirname(cli.program), process.env.PATH];
  const env = {
    PATH: programs.join(delimiter),
    HOME: home,
    ERRAND_URL: service.url,
    ERRAND_API_KEY: service.apiKey,
  };
  const { stdout } = await run("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd: folder, env });
  return stdout;
}

const END = "--- end of an example ---";
/** Signing in needs a person with a browser: `cli/test/account.test.ts`. The environment has a key already. */
const withoutSignIn = (text: string): string => text.replace(/^errand login$/m, "");

test("every example of the documentation is run, or has a reason", async () => {
  const unknown: string[] = [];
  for (const page of await listPages()) {
    const scripts = [...(SCRIPTS[page] ?? [])];
    for (const { language, text } of await blocksOf(page)) {
      const isNamed = NOT_HERE.some(
        ([of, its, begins]) => of === page && its === language && text.startsWith(begins),
      );
      const isRun = language === "sh" && scripts[0] !== undefined && text.startsWith(scripts[0].begins);
      if (isRun) {
        scripts.shift();
      } else if (!isNamed) {
        unknown.push(`${page}: ${language}: ${text.split("\n")[0]}`);
      }
    }
    unknown.push(...scripts.map(({ begins }) => `${page} no longer has: ${begins}`));
  }

  expect(unknown).toEqual([]);
});

test("each reason belongs to an example", async () => {
  const blocks = new Map<string, readonly Block[]>();
  for (const [page] of NOT_HERE) {
    blocks.set(page, await blocksOf(page));
  }

  const left = NOT_HERE.filter(
    ([page, language, begins]) =>
      !blocks.get(page)?.some((block) => block.language === language && block.text.startsWith(begins)),
  );

  expect(left).toEqual([]);
});

test.each(Object.entries(SCRIPTS))(
  "the shell examples of %s do what the page says",
  async (page, examples) => {
    const blocks = (await blocksOf(page)).filter(({ language }) => language === "sh");

    const output = await shell(
      blocks.map(({ text }) => `${withoutSignIn(text)}echo; echo "${END}"`).join("\n"),
    );

    const parts = output.split(END);
    for (const [index, { begins, prints }] of examples.entries()) {
      expect([begins, parts[index]]).toEqual([begins, expect.stringMatching(prints)]);
    }
  },
);

test.skipIf(withoutSystemd)("docs/operations/install.md: systemd reads each line of the unit", async () => {
  const unit = join(folder, "errand.service");
  const [block] = (await blocksOf("docs/operations/install.md")).filter(({ language }) => language === "ini");
  await writeFile(unit, block?.text ?? "");

  const { stderr } = await run("systemd-analyze", ["verify", unit]);

  const complaints = stderr.split("\n").filter((line) => line !== "" && !line.includes("'DelegateSubgroup'"));
  expect([block?.text, complaints]).toEqual([expect.stringContaining("ExecStart="), []]);
});

describe("docs/webhooks.md", () => {
  test("its example creates a webhook, whose message is verified by its code and has the form that it shows", async () => {
    const blocks = await blocksOf("docs/webhooks.md");
    const [create, json, code] = ["sh", "json", "js"].map((name) =>
      blocks.find(({ language }) => language === name),
    );
    const created = JSON.parse(
      await shell(create?.text.replace("https://board.example.com/errand", receiver.url) ?? ""),
    );
    const metadata = { ticket: "OPS-17" };
    const environment = { name: "message", github_repos: [{ owner: "octocat", repo: "Hello-World" }] };
    const api = createApiClient(service);
    const { body } = await api.call("POST", "/agent/environments", { config: environment });
    const config = { environment_id: Object(body).uid };
    const runId = await api.createRun("Look around and write a report", { config, metadata });
    const ofTheRun = () => receiver.posts.find((post) => post.body.includes(runId));
    const { body: rawBody, headers } = await waitFor(ofTheRun, { what: "a message" });

    const source = `const { rawBody, headers } = ${JSON.stringify({ rawBody, headers })};\n${code?.text}\nconsole.log(message.type);\n`;
    await writeFile(join(folder, "verify.mjs"), source);
    const printed = await shell(`ERRAND_WEBHOOK_SECRET=${created.secret} node verify.mjs`);

    expect(printed).toBe("run.succeeded\n");
    expect(formOf(JSON.parse(rawBody))).toEqual(formOf(JSON.parse(json?.text ?? "")));
  });
});

/** The members of an object and their types. */
function formOf(value: unknown): unknown {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, formOf(member)]))
    : typeof value;
}
