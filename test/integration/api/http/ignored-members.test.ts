import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Call, call } from "../api-caller.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const RUNS = "/api/v1/agent/runs";

function create(body: object, options: Call = {}): Promise<Answer> {
  return call(harness, RUNS, { ...options, body: { prompt: "x", ...body } });
}

function headerOf({ headers }: Answer): string | null {
  return headers.get("errand-ignored");
}

describe("the response to a new run", () => {
  test("the response to a new run names nothing as ignored when everything was used", async () => {
    const answer = await create({
      title: "T",
      config: { harness: { type: "demo" }, budget: { max_turns: 2 } },
    });

    expect(answer.status).toBe(200);
    expect([answer.body.ignored, headerOf(answer)]).toEqual([undefined, null]);
  });

  test.each<[string, object, string[]]>([
    ["unknown members of the request", { brand_new: 1, other: null }, ["brand_new", "other"]],
    [
      "unknown members of an attachment",
      { attachments: [{ file_name: "a.txt", mime_type: "text/plain", data: "", extra: 1 }] },
      ["attachments.0.extra"],
    ],
    [
      "unknown members of the configuration at any depth",
      {
        config: {
          future: { a: 1 },
          budget: { max_beer: 1 },
          harness: { type: "demo", mood: "calm" },
          mcp_servers: { wiki: { command: "c", colour: "red" } },
        },
      },
      ["config.future", "config.budget.max_beer", "config.harness.mood", "config.mcp_servers.wiki.colour"],
    ],
    [
      "known members that no agent uses",
      { config: { computer_use_enabled: true, computer_use_model_id: "m" } },
      ["config.computer_use_enabled", "config.computer_use_model_id"],
    ],
    [
      "a model that the harness overrides",
      { config: { model_id: "a", harness: { model_id: "b" } } },
      ["config.model_id"],
    ],
    [
      "members of an MCP server of the other kind",
      {
        config: {
          mcp_servers: {
            far: { url: "https://x", args: ["a"] },
            near: { command: "c", headers: { a: "b" } },
          },
        },
      },
      ["config.mcp_servers.far.args", "config.mcp_servers.near.headers"],
    ],
    [
      "interactive when the configuration allows everything",
      { interactive: true, config: { permission_policy: "allow" } },
      ["interactive"],
    ],
  ])("the response to a new run names as ignored: %s", async (_what, body, paths) => {
    const answer = await create(body);

    expect(answer.status).toBe(200);
    expect(answer.body.ignored).toEqual(paths);
    expect(headerOf(answer)).toBe(paths.join(","));
  });

  test("absent, null and empty members are not named", async () => {
    const config = { computer_use_enabled: null, computer_use_model_id: "" };

    const answer = await create({ interactive: true, config });

    expect([answer.status, answer.body.ignored]).toEqual([200, undefined]);
  });

  test("members that are named are stored and returned nevertheless", async () => {
    const config = { future: { a: [1] }, budget: { max_beer: 1 }, computer_use_enabled: true };

    const { body } = await create({ config });

    const run = await call(harness, `${RUNS}/${body.run_id}`);
    expect(run.body.agent_config).toMatchObject(config);
  });

  test("a repeat with the same idempotency key names the same members", async () => {
    const options = { headers: { "idempotency-key": "ignored-1" } };

    const first = await create({ brand_new: 1 }, options);
    const second = await create({ brand_new: 1 }, options);

    expect(second.headers.get("idempotent-replay")).toBe("true");
    expect(second.body).toEqual({ ...first.body, ignored: ["brand_new"] });
  });

  test("a request with thousands of unknown members gets a short list", async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => [`${index}${"n".repeat(250)}`, 1]);

    const answer = await create(Object.fromEntries(names));

    expect(answer.body.ignored).toHaveLength(101);
    expect(answer.body.ignored.at(-1)).toBe("...");
    expect(headerOf(answer)?.length).toBeLessThan(4_100);
    expect(headerOf(answer)).toMatch(/,\.\.\.$/);
  });
});

describe("the header Errand-Ignored", () => {
  test.each([
    ["a list", `${RUNS}?colour=red&limit=5&size=`, {}, 200, "colour,size"],
    ["one record", "/api/v1/agent/whoami?verbose=1", {}, 200, "verbose"],
    ["an unauthenticated request", `${RUNS}?colour=red`, { key: null }, 401, "colour"],
    ["a refused request", `${RUNS}?colour=red&limit=0`, {}, 400, "colour"],
    ["an unknown run", `${RUNS}/nothing?colour=red`, {}, 404, "colour"],
    ["brackets that no filter has", `${RUNS}?limit[]=5&metadata[a]=b&name[a]=b`, {}, 200, "limit[],name[a]"],
  ] as const)(
    "the header Errand-Ignored names unknown query keys of %s",
    async (_what, path, options, status, header) => {
      const answer = await call(harness, path, options);

      expect([answer.status, headerOf(answer)]).toEqual([status, header]);
    },
  );

  test("the header Errand-Ignored is present on an event stream", async () => {
    const { body } = await create({});
    await call(harness, `${RUNS}/${body.run_id}/cancel`, { method: "POST" });

    const answer = await call(harness, `${RUNS}/${body.run_id}/events?colour=red`);

    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(headerOf(answer)).toBe("colour");
  });

  test("a key cannot end the header or pretend to be two", async () => {
    const key = 'a,b\r\nSet-Cookie: c=d\t"é😀%';

    const answer = await call(harness, `${RUNS}?${encodeURIComponent(key)}=1`);

    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(decodeURIComponent(headerOf(answer) ?? "")).toBe(key);
    expect(headerOf(answer)).not.toContain(",");
  });

  test("the header Errand-Ignored names members of the body that a write does not know", async () => {
    const environment = await call(harness, "/api/v1/agent/environments?dry=1", {
      body: { config: { name: "web", colour: "red" } },
    });
    const { body } = await create({});
    const followUp = await call(harness, `${RUNS}/${body.run_id}/followups`, {
      body: { message: "m", tone: "kind" },
    });

    const cancelled = await call(harness, `${RUNS}/${body.run_id}/cancel`, { body: { why: "done" } });

    expect([cancelled.status, headerOf(cancelled)]).toEqual([200, "why"]);
    expect([environment.status, headerOf(environment)]).toEqual([201, "dry,config.colour"]);
    expect([followUp.status, headerOf(followUp)]).toEqual([200, "tone"]);
  });
});
