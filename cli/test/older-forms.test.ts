import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json as jsonOf } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CliHarness } from "./cli-harness.ts";

interface Seen {
  readonly request: string;
  readonly body?: unknown;
}

const harness = await CliHarness.start();
const { service, folder } = harness.parts;
const MCP = '{"mcpServers":{"files":{"url":"https://mcp.example.com/"}}}';
const CONVERSATION = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

let recorder: Server;
let seen: Seen[];
let env: Record<string, string>;
let environment: string;
let schedule: string;

/** A server before the real one that keeps each request. It changes nothing, so a write that fails is seen as well. */
beforeAll(async () => {
  recorder = createServer(async (request, response) => {
    const body = Number(request.headers["content-length"] ?? 0) === 0 ? undefined : await jsonOf(request);
    seen.push({ request: `${request.method} ${request.url}`, ...(body === undefined ? {} : { body }) });
    const answer = await fetch(service.url + (request.url ?? ""), {
      method: request.method ?? "GET",
      headers: Object.entries(request.headers).filter(
        ([name]) => !/^(host|connection|content-length)$/.test(name),
      ) as [string, string][],
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(recorder, "listening");
  const url = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  env = { ERRAND_URL: url };
  environment = (await harness.json(["environments", "create", "--name", "site"])).uid;
  schedule = (
    await harness.json(["schedules", "create", "--name", "daily", "--cron", "0 8 * * *", "--prompt", "x"])
  ).id;
  await harness.output(["config", "set", "environment", "site"]);
  await writeFile(join(folder, "config.json"), '{"base_prompt":"Be brief."}');
});
afterAll(async () => {
  recorder.close();
  recorder.closeAllConnections();
  await harness.stop();
});
beforeEach(() => {
  seen = [];
});

const RUN = ["agent", "run-cloud", "-p", "say x", "--no-repo"];

/** The older command, its successor, and the request that is sent. */
const TABLE: readonly (readonly [string, () => readonly string[], string, () => Seen])[] = [
  ["run-cloud", () => RUN, "run", () => run({}, { environment_id: environment })],
  [
    "--environment",
    () => [...RUN, "--environment", environment],
    "run",
    () => run({}, { environment_id: environment }),
  ],
  ["--no-environment", () => [...RUN, "--no-environment"], "run", () => run({})],
  ["--team", () => [...RUN, "--team", "--no-environment"], "run", () => run({})],
  ["--share", () => [...RUN, "--no-environment", "--share"], "run", () => run({})],
  ["--share team:edit", () => [...RUN, "--no-environment", "--share", "team:edit"], "run", () => run({})],
  [
    "--share public",
    () => [...RUN, "--no-environment", "--share=public"],
    "run",
    () => run({}, { session_sharing: { public_access: "VIEWER" } }),
  ],
  [
    "--host",
    () => [...RUN, "--no-environment", "--host", "box"],
    "run",
    () => run({}, { worker_host: "box" }),
  ],
  [
    "--harness",
    () => [...RUN, "--no-environment", "--harness", "demo"],
    "run",
    () => run({}, { harness: { type: "demo" } }),
  ],
  [
    "--conversation",
    () => [...RUN, "--no-environment", "--conversation", CONVERSATION],
    "run",
    () => run({ conversation_id: CONVERSATION }),
  ],
  [
    "--mcp with JSON",
    () => [...RUN, "--no-environment", "--mcp", MCP],
    "run",
    () => run({}, { mcp_servers: JSON.parse(MCP).mcpServers }),
  ],
  [
    "--mcp with uids",
    () => [...RUN, "--no-environment", "--mcp", CONVERSATION, `--mcp=${MCP}`],
    "run",
    () =>
      run({}, { mcp_servers: { [CONVERSATION]: { warp_id: CONVERSATION }, ...JSON.parse(MCP).mcpServers } }),
  ],
  [
    "--file and --name",
    () => [...RUN, "--no-environment", "-n", "named", "-f", join(folder, "config.json")],
    "run",
    () => run({}, { base_prompt: "Be brief.", name: "named" }),
  ],
  [
    "--skill and --model",
    () => [...RUN, "--no-environment", "--model", "m", "--skill", "a/b:c"],
    "run",
    () => run({ skill: "a/b:c" }, { model_id: "m" }),
  ],
  ["run list", () => ["run", "list"], "runs list", () => get("/runs?sort_by=created_at&limit=30")],
  ["task list", () => ["task", "list"], "runs list", () => get("/runs?sort_by=created_at&limit=30")],
  [
    "run list --state",
    () => ["run", "list", "--state", "in-progress", "--state=queued"],
    "runs list",
    () => get("/runs?sort_by=created_at&limit=30&state=INPROGRESS&state=QUEUED"),
  ],
  [
    "run list --created-after",
    () => ["run", "list", "--created-after", "2026-01-01T00:00:00Z", "--created-before=2026-02-01T00:00:00Z"],
    "runs list",
    () =>
      get(
        "/runs?sort_by=created_at&limit=30&created_after=2026-01-01T00%3A00%3A00Z&created_before=2026-02-01T00%3A00%3A00Z",
      ),
  ],
  [
    "run list with its other filters",
    () =>
      "run list --source scheduled-agent --execution-location remote --creator u --schedule s --ancestor-run"
        .split(" ")
        .concat(
          CONVERSATION,
          "--skill a/b:c --model m --artifact-type pull-request --updated-after 2026-01-01T00:00:00Z".split(
            " ",
          ),
          "--name n --query text --sort-by updated-at --sort-order asc -L 5 --environment".split(" "),
          environment,
        ),
    "runs list",
    () =>
      get(
        `/runs?sort_by=updated_at&sort_order=asc&limit=5&creator=u&source=SCHEDULED_AGENT&name=n&environment_id=${environment}` +
          `&schedule_id=s&ancestor_run_id=${CONVERSATION}&skill=a%2Fb%3Ac&model_id=m&artifact_type=PULL_REQUEST` +
          "&execution_location=REMOTE&updated_after=2026-01-01T00%3A00%3A00Z&q=text",
      ),
  ],
  ["run get", () => ["run", "get", CONVERSATION], "runs get", () => get(`/runs/${CONVERSATION}`)],
  [
    "run get --conversation",
    () => ["run", "get", CONVERSATION, "--conversation"],
    `api GET /agent/runs/${CONVERSATION}/conversation`,
    () => get(`/runs/${CONVERSATION}/conversation`),
  ],
  [
    "run conversation get",
    () => ["run", "conversation", "get", CONVERSATION, "--output-format", "json"],
    `api GET /agent/conversations/${CONVERSATION}`,
    () => get(`/conversations/${CONVERSATION}`),
  ],
  [
    "options before the command",
    () => ["--debug", "--output-format", "json", "run", "list"],
    "runs list",
    () => get("/runs?sort_by=created_at&limit=30"),
  ],
  [
    "run-ambient, and a harness by its other name",
    () => ["agent", "run-ambient", ...RUN.slice(2), "--harness", "open-code", "--no-snapshot"],
    "run",
    () => run({}, { environment_id: environment, harness: { type: "opencode" } }),
  ],
  [
    "environment list",
    () => ["environment", "list"],
    "environments list",
    () => get("/environments?sort_by=name"),
  ],
  [
    "environment create",
    () => ["environment", "create", "--name", "n", "-d", "node:24", "--repo", "a/b", "-c", "true", "--team"],
    "environments create",
    () =>
      post("/environments", {
        config: {
          name: "n",
          docker_image: "node:24",
          github_repos: [{ owner: "a", repo: "b" }],
          setup_commands: ["true"],
        },
      }),
  ],
  [
    "environment update",
    () => ["e", "update", environment, "--docker-image=node:22", "--remove-description", "--force"],
    "environments edit",
    () => ({
      request: `PUT /api/v1/agent/environments/${environment}`,
      body: { config: expect.objectContaining({ name: "site", docker_image: "node:22" }) },
    }),
  ],
  [
    "environment delete",
    () => ["environment", "delete", environment, "--force"],
    "environments delete",
    () => ({ request: `DELETE /api/v1/agent/environments/${environment}` }),
  ],
  ["schedule list", () => ["schedule", "list"], "schedules list", () => get("/schedules")],
  ["schedule get", () => ["schedule", "get", schedule], "schedules get", () => get("/schedules")],
  [
    "schedule create",
    () => ["schedule", "create", "--name", "weekly", "--cron", "0 8 * * 1", "-p", "report"],
    "schedules create",
    () => post("/schedules", { name: "weekly", cron_schedule: "0 8 * * 1", prompt: "report" }),
  ],
  [
    "schedule pause",
    () => ["schedule", "pause", schedule],
    "schedules pause",
    () => ({ request: `POST /api/v1/agent/schedules/${schedule}/pause` }),
  ],
  [
    "schedule unpause",
    () => ["schedule", "unpause", schedule],
    "schedules resume",
    () => ({ request: `POST /api/v1/agent/schedules/${schedule}/resume` }),
  ],
  [
    "schedule delete",
    () => ["schedule", "delete", schedule, "--force"],
    "schedules delete",
    () => ({ request: `DELETE /api/v1/agent/schedules/${schedule}` }),
  ],
  [
    "schedule alone",
    () => [
      ..."schedule --name alone --no-environment --skill a/b:c --model m --host box --mcp".split(" "),
      MCP,
      ...["--cron", "0 8 * * 1"],
    ],
    "schedules create",
    () =>
      post("/schedules", {
        name: "alone",
        cron_schedule: "0 8 * * 1",
        agent_config: {
          environment_id: "",
          model_id: "m",
          skill_spec: "a/b:c",
          mcp_servers: JSON.parse(MCP).mcpServers,
          worker_host: "box",
        },
      }),
  ],
  [
    "schedule resume",
    () => ["schedule", "resume", CONVERSATION],
    "schedules resume",
    () => get("/schedules"),
  ],
  ["agent skills", () => ["agent", "skills"], "skills list", () => ({ request: "GET /api/v1/agent" })],
  ["agent get", () => ["agent", "get", "x"], "agents get", () => get("/identities")],
  [
    "agent create",
    () => ["agent", "create", "-n", "x", "--base-model", "m", "-e", environment],
    "agents create",
    () => post("/identities", { name: "x", base_model: "m", environment_id: environment }),
  ],
  ["agent update", () => ["agent", "update", "x", "--prompt", "y"], "agents edit", () => get("/identities")],
  ["agent delete", () => ["agent", "delete", "x", "--force"], "agents delete", () => get("/identities")],
  [
    "secret create",
    () => [
      "secret",
      "create",
      "--team",
      "TOKEN",
      "--value-file",
      join(folder, "config.json"),
      "-t",
      "raw-value",
    ],
    "secrets set",
    () => ({ request: "PUT /api/v1/agent/secrets/TOKEN", body: { value: '{"base_prompt":"Be brief."}' } }),
  ],
  ["api-key list", () => ["api-key", "list"], "keys list", () => get("/keys")],
  ["api-key expire", () => ["api-key", "expire", "x", "--force"], "keys delete", () => get("/keys")],
  ["agent list", () => ["agent", "list"], "skills list", () => ({ request: "GET /api/v1/agent" })],
  ["secret list", () => ["secret", "list"], "secrets list", () => get("/secrets")],
  ["mcp list", () => ["mcp", "list"], "mcp-servers list", () => get("/mcp-servers")],
  ["model list", () => ["model", "list"], "models", () => get("/models")],
];

function run(members: object, config?: object): Seen {
  return post("/runs", { prompt: "say x", ...members, ...(config === undefined ? {} : { config }) });
}
const get = (path: string): Seen => ({ request: `GET /api/v1/agent${path}` });
const post = (path: string, body: object): Seen => ({ request: `POST /api/v1/agent${path}`, body });

test.each(TABLE)(
  "the older form %s names its successor and sends its request",
  async (_name, args, successor, sent) => {
    const { stderr } = await harness.errand(args(), { env });

    expect(stderr).toContain(`works until 2027-11-20. Use "errand ${successor}".`);
    expect(stderr).not.toContain("unknown option");
    expect(seen).toContainEqual(sent());
  },
);

test.each([
  "agent run -p x",
  "agent profile list",
  "environment image list",
  "task message list x",
  "secret create claude api-key x",
  "api-key create x --no-expiration",
  "artifact download x",
  "integration list",
  "provider list",
  "federate issue-token",
  "harness-support ping",
  "memory-store list",
  "runner list",
])("what has no successor is refused and starts nothing: %s", async (command) => {
  const { code, stderr } = await harness.errand(command.split(" "), { env });

  expect([code, seen]).toEqual([2, []]);
  expect(stderr).toMatch(/^errand: "errand [a-z -]+" does not exist\. [A-Z].*\n$/);
});

test("a key among the arguments of an older form is refused without showing it", async () => {
  const { code, stderr } = await harness.errand(["--api-key", "wk-secret", "run", "list"], { env });

  expect([code, seen]).toEqual([2, []]);
  expect(stderr).toContain("Set ERRAND_API_KEY.");
  expect(stderr).not.toContain("wk-secret");
});

test("lines of JSON are one object a line, for lists and for one record", async () => {
  await harness.output(["environments", "create", "--name", "lines"]);
  const list = await harness.output(["environment", "list", "--output-format=ndjson"], { env });
  const one = await harness.output(["environment", "get", "lines"], {
    env: { ...env, WARP_OUTPUT_FORMAT: "ndjson" },
  });

  expect(
    [list, one].map((lines) =>
      lines
        .trimEnd()
        .split("\n")
        .map((line) => typeof JSON.parse(line)),
    ),
  ).toEqual([Array(list.trimEnd().split("\n").length).fill("object"), ["object"]]);
});

test("the change of one setting of a schedule keeps the others", async () => {
  const { uid } = await harness.json(["environments", "create", "--name", "kept"]);
  const described = ["--name", "kept", "--cron", "0 8 * * *", "--prompt", "x", "--env", "kept"];
  await harness.output(["schedules", "create", ...described]);

  await harness.output(["schedules", "edit", "kept", "--model", "m"]);
  const before = (await harness.json(["schedules", "get", "kept"])).agent_config;
  await harness.errand(["schedule", "update", "kept", "--remove-environment"]);
  const after = (await harness.json(["schedules", "get", "kept"])).agent_config;

  expect([before, after]).toEqual([{ environment_id: uid, model_id: "m" }, { model_id: "m" }]);
});

test("a run that is shared with one person is refused, because the link would be for everyone", async () => {
  const { code, stderr } = await harness.errand([...RUN, "--no-environment", "--share", "ann@example.com"], {
    env,
  });

  expect([code, seen.filter(({ request }) => request.startsWith("POST"))]).toEqual([2, []]);
  expect(stderr).toContain("A run cannot be shared with ann@example.com alone.");
});

test("the key of the former variable is used only for a server that the user has named", async () => {
  const former = { WARP_API_KEY: service.apiKey, ERRAND_API_KEY: "" };

  const named = await harness.errand(["whoami"], { env: { ...env, ...former } });
  const unnamed = await harness.errand(["whoami"], { env: { ...former, ERRAND_URL: "" } });

  expect([named.code, named.stdout]).toEqual([0, expect.stringContaining("WARP_API_KEY")]);
  expect(named.stderr).toContain("Set ERRAND_API_KEY instead");
  expect([unnamed.code, seen.length]).toEqual([4, 1]);
});
