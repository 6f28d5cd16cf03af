import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("creating a run", () => {
  test.each(["/api/v1/agent/run", "/api/v1/agent/runs"])("%s answers with the queued run", async (path) => {
    const { status, body } = await call(harness, path, { body: { prompt: "fix the build" } });

    expect(status).toBe(200);
    const run_id = expect.stringMatching(UUID);
    // No worker runs in this test.
    const waiting_for = { reason: "capacity", message: "No worker is connected.", since: expect.any(String) };
    expect(body).toEqual({ run_id, task_id: body.run_id, state: "QUEUED", at_capacity: true, waiting_for });
  });

  test("a created run is returned completely, with resolved configuration, by new and old address", async () => {
    const config = {
      name: "nightly",
      model_id: "m1",
      harness: { type: "oz" },
      future_member: { a: [1, null] },
    };
    const id = await createRun(harness, { title: "T", config, metadata: { "a.b": "" }, mode: "normal" });

    const run = await call(harness, `/api/v1/agent/runs/${id}`);
    const task = await call(harness, `/api/v1/agent/tasks/${id.toUpperCase()}`);

    expect(run.body).toMatchObject({
      run_id: id,
      task_id: id,
      title: "T",
      prompt: "do it",
      state: "QUEUED",
      source: "API",
      is_sandbox_running: false,
      started_at: null,
      finished_at: null,
      creator: { type: "user", display_name: "Administrator" },
      agent: { name: "demo" },
      agent_config: config,
      metadata: { "a.b": "" },
      scope: { type: "Team" },
      execution_location: "REMOTE",
      session_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/sessions\//),
    });
    expect(Object.values(run.body).filter((member) => member === null)).toHaveLength(2);
    expect(task.body).toEqual(run.body);
  });

  test("null and empty optional members mean absent, and unknown members are ignored", async () => {
    const body = {
      prompt: "x",
      title: null,
      skill: "",
      conversation_id: null,
      images: [],
      config: { name: null, environment_id: "", mcp_servers: { a: { command: "c", url: null } } },
      mode: "",
      metadata: null,
      brand_new: { anything: true },
    };

    const { status, body: created } = await call(harness, "/api/v1/agent/run", { body });
    const { body: run } = await call(harness, `/api/v1/agent/runs/${created.run_id}`);

    expect(status).toBe(200);
    expect(run.agent_config).toEqual({ mcp_servers: { a: { command: "c" } } });
    expect(run.title).toBe("x");
  });

  test("configuration that no agent uses and an empty budget are returned as sent", async () => {
    const config = {
      mcp_servers: { a: { command: "c" } },
      session_sharing: { public_access: "VIEWER" },
      computer_use_enabled: false,
      budget: {},
    };
    const id = await createRun(harness, { config });

    const { body } = await call(harness, `/api/v1/agent/runs/${id}`);

    expect(body.agent_config).toEqual(config);
  });

  test.each([
    ["CLI", "CLI"],
    ["GITHUB_ACTION", "GITHUB_ACTION"],
    ["LOCAL", "LOCAL"],
    ["SLACK", "API"],
    ["nonsense", "API"],
  ])(
    "the source header %s creates a run with source %s, which is executed like any other",
    async (header, source) => {
      const id = await createRun(harness, {}, { headers: { "x-run-source": header } });

      const { body } = await call(harness, `/api/v1/agent/runs/${id}`);

      expect(body.source).toBe(source);
      expect(body.execution_location).toBe("REMOTE");
    },
  );

  test("a child run names its parent, and a hidden parent is not found", async () => {
    const ann = await harness.addUser("ann");
    const ben = await harness.addUser("ben");
    const parent = await createRun(harness, { team: false }, { key: ann });
    const body = { prompt: "x", parent_run_id: parent };

    const child = await call(harness, "/api/v1/agent/runs", { body, key: ann });
    const strangers = await call(harness, "/api/v1/agent/runs", { body, key: ben });
    const item = await call(harness, `/api/v1/agent/runs/${child.body.run_id}`);

    expect(item.body.parent_run_id).toBe(parent);
    expect([strangers.status, strangers.body.code]).toEqual([404, "resource_not_found"]);
  });

  test("a private run is visible only to its creator and to administrators", async () => {
    const [ann, ben] = [await harness.addUser("ann2"), await harness.addUser("ben2")];
    const id = await createRun(harness, { team: false }, { key: ann });
    const statusFor = async (key: string) =>
      (await call(harness, `/api/v1/agent/runs/${id}`, { key })).status;

    expect(await Promise.all([statusFor(ann), statusFor(harness.key), statusFor(ben)])).toEqual([
      200, 200, 404,
    ]);
  });
});

describe("a refused request for a run", () => {
  test.each([
    ["nothing to do", {}, "prompt"],
    ["a blank prompt", { prompt: " \n " }, "prompt"],
    ["a prompt over the limit", { prompt: "é".repeat(128 * 1024 + 1) }, "prompt"],
    ["a title over 300 characters", { title: "😀".repeat(301) }, "title"],
    [
      "a base prompt over 64 KiB",
      { config: { base_prompt: "é".repeat(32 * 1024 + 1) } },
      "config.base_prompt",
    ],
    ["a metadata key with a space", { metadata: { "a b": "x" } }, "metadata.a b"],
    ["a metadata value over 256 bytes", { metadata: { a: "é".repeat(129) } }, "metadata.a"],
    ["a metadata value that is no text", { metadata: { a: 1 } }, "metadata.a"],
    ["21 metadata pairs", { metadata: pairs(21) }, "metadata"],
    ["an unknown mode", { mode: "fast" }, "mode"],
    [
      "an idle time-out of 61 minutes",
      { config: { idle_timeout_minutes: 61 } },
      "config.idle_timeout_minutes",
    ],
    ["an unknown agent", { config: { harness: { type: "nobody" } } }, "config.harness.type"],
    [
      "an MCP server of two kinds",
      { config: { mcp_servers: { wiki: { url: "u", command: "c" } } } },
      "config.mcp_servers.wiki",
    ],
    [
      "an MCP server of no kind",
      { config: { mcp_servers: { wiki: { args: [] } } } },
      "config.mcp_servers.wiki",
    ],
    [
      "an MCP server with a secret among its arguments",
      { config: { mcp_servers: { wiki: { command: "c", args: ["--key", "$" + "{KEY}"] } } } },
      "config.mcp_servers.wiki",
    ],
    [
      "an MCP server that is no address",
      { config: { mcp_servers: { wiki: { url: "file:///etc/passwd" } } } },
      "config.mcp_servers.wiki",
    ],
    ["a budget of no turns", { config: { budget: { max_turns: 0 } } }, "config.budget.max_turns"],
    ["six images", { images: Array(6).fill({ data: "", mime_type: "image/png" }) }, "images"],
    ["NUL in a text", { prompt: "a\0b" }, "prompt"],
    ["half a character pair", { config: { deep: [{ x: "\ud800" }] } }, "config.deep.0.x"],
    ["NUL in a name", { metadata: { "a\0": "x" } }, "metadata"],
    ["a member of the wrong type", { team: "yes" }, "team"],
  ])("%s in the request for a run is invalid", async (_what, members, path) => {
    const isAboutPrompt = _what === "nothing to do";
    const body = isAboutPrompt ? members : { prompt: "x", ...members };

    const answer = await call(harness, "/api/v1/agent/runs", { body });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.issues[0].path).toBe(path);
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });

  test("an error about an MCP server names the server in its message too", async () => {
    const config = { mcp_servers: { wiki: { url: "u", warp_id: "w" } } };

    const { body } = await call(harness, "/api/v1/agent/runs", { body: { prompt: "x", config } });

    expect(body.error).toContain('MCP server "wiki"');
  });

  test.each([
    ["an unknown environment", { config: { environment_id: "abcdefghijklmnopqrstuv" } }],
    ["an unknown parent", { parent_run_id: "00000000-0000-7000-8000-000000000000" }],
    ["a parent that is no UUID", { parent_run_id: "x" }],
  ])("%s in the request for a run is not found", async (_what, members) => {
    const answer = await call(harness, "/api/v1/agent/runs", { body: { prompt: "x", ...members } });

    expect([answer.status, answer.body.code]).toEqual([404, "resource_not_found"]);
  });

  test("values exactly at the limits are accepted", async () => {
    const config = { base_prompt: "é".repeat(32 * 1024) };
    const body = { prompt: "é".repeat(128 * 1024), title: "😀".repeat(300), config, metadata: pairs(20) };

    const answer = await call(harness, "/api/v1/agent/runs", { body });

    expect(answer.status).toBe(200);
  });

  test.each(["/api/v1/agent/runs/x", "/api/v1/agent/runs/00000000-0000-7000-8000-000000000000"])(
    "%s in the request for a run is not found",
    async (path) => {
      const answer = await call(harness, path);

      expect([answer.status, answer.body.code]).toEqual([404, "resource_not_found"]);
    },
  );
});

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
}
