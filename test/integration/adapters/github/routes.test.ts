import { createHmac, randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { webhookRoutes } from "../../../../src/adapters/github/webhook.ts";
import { WebhookArrivals } from "../../../../src/adapters/webhook-route.ts";
import type { Accepted } from "./github-fixture.ts";

const SECRETS = ["new secret", "old secret"];
const PAYLOAD = {
  action: "created",
  repository: { id: 3_000_000_000 },
  issue: { number: 7 },
  comment: { id: 1, body: "@errand gö" },
};

let server: FastifyInstance;
let stored: Accepted[];
let logged: string;
let accept: (event: Accepted) => Promise<boolean>;

beforeEach(async () => {
  stored = [];
  logged = "";
  accept = async (event) => {
    if (stored.some(({ deliveryId }) => deliveryId === event.deliveryId)) {
      return false;
    }
    stored.push(event);
    return true;
  };
  const write = (message: string, facts?: object) => {
    logged += `${message} ${JSON.stringify(facts)}\n`;
  };
  const log = { info: write, warn: write, error: write };
  server = Fastify();
  server.post("/json", async ({ body }) => body);
  await server.register(
    webhookRoutes({
      arrivals: new WebhookArrivals(),
      secrets: SECRETS,
      log,
      accept: (event) => accept(event),
    }),
  );
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function sha(algorithm: string, body: string, secret = "new secret"): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`;
}

async function post(body: string, headers: Record<string, string | undefined> = {}) {
  const all = {
    "content-type": "application/json",
    "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "x-github-event": "issue_comment",
    "x-hub-signature-256": sha("sha256", body),
    ...headers,
  };
  const entries = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return server.inject({
    method: "POST",
    url: "/webhooks/github",
    headers: Object.fromEntries(entries),
    body,
  });
}

const BODY = JSON.stringify(PAYLOAD);

describe("a delivery as a form", () => {
  const form = `payload=${encodeURIComponent(BODY)}`;

  test.each([
    ["issue_comment", "application/x-www-form-urlencoded"],
    ["ping", "Application/X-WWW-Form-Urlencoded; charset=utf-8"],
  ])("the event %s as %s is refused with the setting that repairs it", async (name, type) => {
    const response = await post(form, { "content-type": type, "x-github-event": name });

    expect(response.statusCode).toBe(415);
    expect(response.json().error).toMatch(
      /content type of the webhook in the App's settings to application\/json/,
    );
    expect(stored).toEqual([]);
    expect(logged).toMatch(/^github\.webhook\.form /);
  });

  test("a form without a valid signature is refused like any forged request", async () => {
    const response = await post(form, {
      "content-type": "application/x-www-form-urlencoded",
      "x-hub-signature-256": sha("sha256", "other"),
    });

    expect(response.statusCode).toBe(401);
    expect(response.body).not.toContain("form");
  });
});

describe("a signed delivery", () => {
  test("a signed delivery is stored unchanged, and then acknowledged", async () => {
    const response = await post(BODY);

    expect(response.statusCode).toBe(202);
    expect(stored).toEqual([
      {
        adapter: "github",
        orderingKey: "github:3000000000/issues/7",
        deliveryId: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        name: "issue_comment",
        body: BODY,
      },
    ]);
  });

  test("a delivery signed with either secret is accepted while the secrets are rotated", async () => {
    for (const [index, secret] of SECRETS.entries()) {
      const signature = sha("sha256", BODY, secret);
      const response = await post(BODY, {
        "x-hub-signature-256": signature,
        "x-github-delivery": `d${index}`,
      });
      expect(response.statusCode).toBe(202);
    }
  });

  test("a repeated delivery is acknowledged and stored once", async () => {
    await post(BODY);

    expect((await post(BODY)).statusCode).toBe(200);
    expect(stored).toHaveLength(1);
  });

  test("a signed delivery of more than Fastify's own limit is stored", async () => {
    const large = JSON.stringify({ ...PAYLOAD, filler: "x".repeat(25 * 1024 * 1024 - 500) });

    expect((await post(large)).statusCode).toBe(202);
    expect(stored[0]?.body).toHaveLength(large.length);
  });

  test("a signed delivery of more than GitHub ever sends is refused", async () => {
    expect((await post("x".repeat(27 * 1024 * 1024))).statusCode).toBe(413);
    expect(logged).toContain("github.webhook.refused");
    expect(logged).toContain("FST_ERR_CTP_BODY_TOO_LARGE");
  });

  test("a deletion is stored, because it withdraws what the text asked for", async () => {
    await post(JSON.stringify({ ...PAYLOAD, action: "deleted" }));

    expect(stored).toHaveLength(1);
  });

  test("an irrelevant event is acknowledged and not stored", async () => {
    const ping = await post(JSON.stringify({ zen: "Keep it logically awesome." }), {
      "x-github-event": "ping",
    });
    const star = await post("{}", { "x-github-event": "star" });
    const deleted = await post(JSON.stringify({ ...PAYLOAD, action: "pinned" }));
    const unknown = await post("{}", { "x-github-event": "constructor" });

    expect([ping, star, deleted, unknown].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(stored).toEqual([]);
  });

  test("only failed checks, checks of branches of runs, and pushes to branches of people are stored, apart from what people write", async () => {
    const repository = { id: 7 };
    const send = (event: string, payload: object) =>
      post(JSON.stringify({ repository, ...payload }), {
        "x-github-event": event,
        "x-github-delivery": randomUUID(),
      });
    const suite = (conclusion: string, head_sha: string, head_branch?: string) => ({
      action: "completed",
      check_suite: { head_sha, head_branch, conclusion },
    });

    await send("check_suite", suite("success", "f00d", "main"));
    await send("check_suite", suite("failure", "c0ffee"));
    await send("check_suite", suite("success", "beef", "errand/ab-fix"));
    const status = (state: string, sha: string, ...branches: readonly string[]) =>
      send("status", { sha, state, branches: branches.map((name) => ({ name })) });
    await status("success", "f00d", "main");
    await status("pending", "beef", "errand/ab-fix");
    await status("error", "c0ffee", "main");
    await status("success", "beef", "main", "errand/ab-fix");
    for (const ref of ["refs/heads/errand/ab-fix", "refs/tags/v1", "refs/heads/main"]) {
      await send("push", { ref });
    }
    await send("pull_request", { action: "synchronize", pull_request: { number: 9 } });
    await send("pull_request", { action: "closed", pull_request: { number: 9 } });
    await send("pull_request", { action: "dequeued", pull_request: { number: 9 } });

    expect(stored.map(({ name, orderingKey }) => [name, orderingKey])).toEqual([
      ["check_suite", "github:7/c0ffee"],
      ["check_suite", "github:7/beef"],
      ["status", "github:7/c0ffee"],
      ["status", "github:7/beef"],
      ["push", "github:7/refs/heads/main"],
      ["pull_request", "github:7/issues/9/reports"],
      ["pull_request", "github:7/issues/9/reports"],
      ["pull_request", "github:7/issues/9/reports"],
    ]);
    expect((await send("check_suite", {})).statusCode).toBe(400);
    expect((await send("status", {})).statusCode).toBe(400);
  });

  test.each([
    ["x-github-delivery", BODY],
    ["x-github-event", BODY],
  ])("a signed delivery without %s is refused", async (header, body) => {
    expect((await post(body, { [header]: undefined })).statusCode).toBe(400);
    expect(stored).toEqual([]);
  });

  test.each([["{"], ["null"], ["[]"], ['{"action":"created"}']])(
    "a signed delivery with the body %s is refused",
    async (body) => {
      expect((await post(body)).statusCode).toBe(400);
      expect(stored).toEqual([]);
    },
  );
});

describe("a delivery without a valid signature", () => {
  test.each([
    ["no signature", { "x-hub-signature-256": undefined }],
    ["a SHA-1 signature alone", { "x-hub-signature-256": undefined, "x-hub-signature": sha("sha1", BODY) }],
    ["a SHA-1 signature in its place", { "x-hub-signature-256": sha("sha1", BODY) }],
    ["a signature of another body", { "x-hub-signature-256": sha("sha256", `${BODY} `) }],
    ["a signature with another secret", { "x-hub-signature-256": sha("sha256", BODY, "stolen") }],
    ["an empty signature", { "x-hub-signature-256": "" }],
  ])("%s is refused and nothing is stored", async (_what, headers) => {
    const response = await post(BODY, headers);

    expect(response.statusCode).toBe(401);
    expect(response.headers["x-request-id"]).toBeTruthy();
    const title = "The SHA-256 signature is missing or wrong.";
    expect(response.json()).toEqual({ type: "about:blank", title, status: 401, error: title });
    expect(stored).toEqual([]);
    expect(logged).toContain("github.webhook.rejected");
    expect(logged).not.toContain("secret");
  });

  test("a delivery without a valid signature is not parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");

    const response = await post("{ no JSON", { "x-hub-signature-256": sha("sha256", "another") });

    expect(response.statusCode).toBe(401);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test("a delivery without a valid signature is refused whatever its content type and however empty", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded", "x-hub-signature-256": "sha256=0" };

    expect((await post("payload=%7B%7D", form)).statusCode).toBe(401);
    expect((await post("", { "content-type": undefined })).statusCode).toBe(401);
  });
});

describe("when the event cannot be stored", () => {
  test("the answer asks GitHub to deliver it again", async () => {
    accept = () => Promise.reject(new Error("database is down"));

    expect((await post(BODY)).statusCode).toBe(503);
    expect(logged).toContain("github.webhook.not_stored");
  });

  test("the answer comes before GitHub gives up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const received = Promise.withResolvers<void>();
    accept = () => {
      received.resolve();
      return new Promise(() => undefined);
    };

    const answer = post(BODY);
    await received.promise;
    await vi.advanceTimersByTimeAsync(5_000);

    expect((await answer).statusCode).toBe(503);
  });
});

test("bodies of other routes are still parsed", async () => {
  const response = await server.inject({ method: "POST", url: "/json", payload: { a: 1 } });

  expect(response.json()).toEqual({ a: 1 });
});
