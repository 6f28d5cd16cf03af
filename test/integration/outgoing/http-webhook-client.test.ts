import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { SignedMessage, WebhookAnswer } from "../../../src/core/ports/webhook-client.ts";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import type { Resolve } from "../../../src/outgoing/guarded-connector.ts";
import { createWebhookClient } from "../../../src/outgoing/http-webhook-client.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { timeoutsBy } from "../../support/manual-timeouts.ts";
import { waitFor } from "../../support/wait-for.ts";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/tls");
const SECRETS = ["whsec_TmV3IHNlY3JldCBvZiBhbiBlbmRwb2ludA==", "whsec_T2xkIHNlY3JldCBvZiBhbiBlbmRwb2ludA=="];
const never = new AbortController().signal;

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
beforeEach(() => {
  receiver.posts.length = 0;
  receiver.answer = answerWith(204);
});
afterAll(() => receiver.close());

interface ClientSettings {
  readonly allow?: string;
  readonly limitMs?: number;
  readonly resolve?: Resolve;
}

function clientOf({ allow = "127.0.0.1", ...options }: ClientSettings = {}) {
  return createWebhookClient({ destinations: new Destinations(parseAllowList(allow)), ...options });
}

function aMessage(members: Partial<SignedMessage> = {}): SignedMessage {
  return {
    id: "019a9f6e-0000-7000-8000-000000000001",
    url: receiver.url,
    body: '{"type":"run.succeeded","data":{"title":"grüß dich"}}',
    secrets: SECRETS,
    ...members,
  };
}

function post(settings: ClientSettings, members: Partial<SignedMessage> = {}): Promise<WebhookAnswer> {
  return clientOf(settings).post(aMessage(members), never);
}

const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("a post", () => {
  test("a webhook post is verified by each of the endpoint's secrets, and by no other", async () => {
    const answer = await post({});

    expect(answer.status).toBe(204);
    const [{ headers, body } = expect.fail("nothing arrived")] = receiver.posts;
    const verify = (secret: string) => new Webhook(secret).verify(body, headers as Record<string, string>);
    for (const secret of SECRETS) {
      expect(verify(secret)).toEqual({ type: "run.succeeded", data: { title: "grüß dich" } });
    }
    expect(() => verify("whsec_U29tZWJvZHkgZWxzZSdzIHNlY3JldA==")).toThrow("No matching signature");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": "019a9f6e-0000-7000-8000-000000000001",
    });
  });

  test("a webhook post uses the path and the query of the address", async () => {
    await post({}, { url: `${receiver.url}/%C3%A4?token=a%20b#part` });

    expect(receiver.posts[0]?.path).toBe("/hook/%C3%A4?token=a%20b");
  });

  test.each([200, 299, 301, 400, 410, 500])(
    "a webhook post that is answered with %i returns that status",
    async (status) => {
      receiver.answer = answerWith(status);

      expect(await post({})).toEqual({ status, durationMs: expect.any(Number) });
    },
  );

  test("a webhook post follows no redirect", async () => {
    receiver.answer = (response, { path }) => {
      response
        .writeHead(path === "/hook" ? 307 : 200, { location: `http://127.0.0.1:${receiver.port}/inside` })
        .end();
    };

    expect((await post({})).status).toBe(307);
    expect(receiver.posts.map(({ path }) => path)).toEqual(["/hook"]);
  });

  test.each([
    ["30", 30_000],
    ["0", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["99999999999999", undefined],
    ["Thu, 01 Jan 2015 00:00:00 GMT", 0],
  ])("a webhook post reads the Retry-After header: %s", async (header, pauseMs) => {
    receiver.answer = answerWith(503, { "retry-after": header });

    const { retryAfterMs } = (await post({})) as { retryAfterMs?: number };

    expect(retryAfterMs).toBe(pauseMs);
  });

  test("a webhook post returns a Retry-After date as the time until then", async () => {
    receiver.answer = answerWith(429, { "retry-after": new Date(Date.now() + 60_000).toUTCString() });

    const { retryAfterMs } = (await post({})) as { retryAfterMs?: number };

    expect(retryAfterMs).toBeGreaterThan(55_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test("a webhook post without an answer fails at the time limit", async () => {
    receiver.answer = () => undefined;

    const answer = await post({ limitMs: 100 });

    expect(answer).toMatchObject({ error: "There was no answer within 100 ms." });
    expect(answer.durationMs).toBeLessThan(10_000);
    await allClosed();
  });

  test("a webhook post waits fifteen seconds for an answer by default", async () => {
    const clock = new ManualClock();
    timeoutsBy(clock);
    receiver.answer = () => undefined;
    let answer: unknown;

    const asked = post({}).then((given) => {
      answer = given;
    });
    await waitFor(() => clock.pending === 1, { what: "the limit" });
    await clock.advance(14_999);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    await asked;

    expect(answer).toMatchObject({ error: "There was no answer within 15000 ms." });
  });

  test("a webhook post returns the status without reading an endless body", async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(64 * 1024);
    receiver.answer = (response) => {
      response.writeHead(200);
      const pump = (): void => {
        while (!response.destroyed && sentBytes < 10 * 2 ** 20) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) {
            return void response.once("drain", pump);
          }
        }
      };
      pump();
    };

    expect((await post({})).status).toBe(200);
    await allClosed();
    // What the machine's own buffers took.
    expect(sentBytes).toBeLessThan(8 * 2 ** 20);
  });

  test("a webhook post closes its connection", async () => {
    await post({});

    await allClosed();
  });

  test("a webhook post that is aborted throws instead of returning an answer", async () => {
    const stop = new AbortController();
    receiver.answer = () => stop.abort();

    await expect(clientOf().post(aMessage(), stop.signal)).rejects.toThrow("aborted");
  });

  const allClosed = (): Promise<true> =>
    waitFor(async () => (await receiver.openConnections()) === 0, { what: "connections to close" });
});

describe("a receiver that fails", () => {
  test("the error of a refused connection does not contain the resolved address", async () => {
    const url = "http://receiver.example:1/hook";

    const answer = await post({ allow: "127.0.0.1", resolve: resolvesTo("127.0.0.1") }, { url });

    expect(answer.error).toBe("The connection was refused (ECONNREFUSED).");
  });

  test("the error of a webhook post says that the host name cannot be resolved", async () => {
    const resolve: Resolve = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));

    const answer = await post({ resolve }, { url: "https://receiver.example/hook" });

    expect(answer.error).toBe("The host name cannot be resolved (ENOTFOUND).");
  });

  test.each([
    ["", "The connection was cut off (UND_ERR_SOCKET)."],
    ["hello\r\n\r\n", "The answer is not HTTP (HTTPParserError)."],
    [
      `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`,
      "The head of the answer is too large (UND_ERR_HEADERS_OVERFLOW).",
    ],
  ])("a receiver that answers with %.20j gets an error that describes the fault", async (bytes, error) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(bytes));
    });
    const url = `http://127.0.0.1:${await listening(server)}/`;

    const answer = await post({}, { url });
    server.close();

    expect(answer).toEqual({ durationMs: expect.any(Number), error });
  });
});

describe("an address inside", () => {
  test.each([
    "https://127.0.0.1",
    "https://0x7f000001",
    "https://2130706433",
    "https://127.1",
    "https://0.0.0.0",
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:127.0.0.1]",
    "https://[::127.0.0.1]",
    "https://localhost",
    "http://localhost",
    "http://127.0.0.1",
  ])("a webhook to the private address %s is refused", async (origin) => {
    const before = receiver.connections;

    const answer = await post({ allow: "" }, { url: `${origin}:${receiver.port}/hook` });

    expect(answer.error).toMatch(/not public/);
    expect(answer.error).not.toMatch(/127|::1/);
    expect(receiver.connections).toBe(before);
  });

  test.each(["10.0.0.1", "169.254.169.254", "100.64.0.1", "fd00:ec2::254", "64:ff9b::7f00:1"])(
    "a webhook to a name that resolves to %s is refused",
    async (address) => {
      const answer = await post(
        { allow: "", resolve: resolvesTo(address) },
        { url: "https://receiver.example" },
      );

      expect(answer.error).toMatch(/not public/);
      expect(answer.durationMs).toBeLessThan(10_000);
    },
  );

  test.each([
    [["8.8.8.8", "127.0.0.1"]],
    [["127.0.0.1", "8.8.8.8"]],
    [["2606:4700::1111", "::ffff:127.0.0.1"]],
  ])("a webhook to a name with a private address among several is refused: %s", async (addresses) => {
    const before = receiver.connections;
    const url = `https://receiver.example:${receiver.port}/`;

    const answer = await post({ allow: "", resolve: resolvesTo(...addresses) }, { url });

    expect(answer.error).toMatch(/not public/);
    expect(receiver.connections).toBe(before);
  });

  test("a webhook to localhost. is refused", async () => {
    const url = `https://localhost.:${receiver.port}/`;

    const answer = await post({ allow: "", resolve: resolvesTo("127.0.0.1") }, { url });

    expect(answer.error).toMatch(/not public/);
  });

  test("a webhook is refused when the name resolves to a private address at the second post", async () => {
    const answers = ["127.0.0.2", "127.0.0.1"];
    const resolve: Resolve = async () => [{ address: answers.shift() ?? "127.0.0.1", family: 4 }];
    const url = `http://receiver.example:${receiver.port}/`;
    const client = clientOf({ allow: "127.0.0.2", resolve });

    const first = await client.post(aMessage({ url }), never);
    const before = receiver.connections;
    const second = await client.post(aMessage({ url }), never);

    expect(first.status).toBe(204);
    expect(second.error).toMatch(/not public/);
    expect(receiver.connections).toBe(before);
    expect(receiver.reachedAt).toBe("127.0.0.2");
  });

  test("a webhook post resolves the name once for the check and the connection", async () => {
    const answers = ["127.0.0.2", "127.0.0.1"];
    const resolve: Resolve = async () => [{ address: answers.shift() ?? "127.0.0.1", family: 4 }];

    await post({ allow: "127.0.0.2", resolve }, { url: `http://receiver.example:${receiver.port}/` });

    expect(receiver.reachedAt).toBe("127.0.0.2");
    expect(answers).toEqual(["127.0.0.1"]);
  });

  test("a webhook to a public address without TLS is refused", async () => {
    const answer = await post(
      { allow: "10.0.0.0/8", resolve: resolvesTo("8.8.8.8") },
      { url: "http://public.example" },
    );

    expect(answer.error).toMatch(/not public, or not reached by HTTPS/);
  });

  test.each([
    ["by its address", "127.0.0.1"],
    ["by its network", "127.0.0.0/8"],
    ["by its name", "receiver.internal"],
  ])("a webhook to a private address is sent when the operator allows it %s", async (_how, allow) => {
    const url = `http://receiver.internal:${receiver.port}/hook`;

    const answer = await post({ allow, resolve: resolvesTo("127.0.0.1") }, { url });

    expect(answer.status).toBe(204);
    expect(receiver.posts).toHaveLength(1);
  });
});

describe("a receiver with a certificate", () => {
  let tls: WebhookReceiver;
  let cert: string;
  const before = getCACertificates("default");
  beforeAll(async () => {
    cert = await readFile(join(FIXTURES, "cert.pem"), "utf8");
    tls = await startWebhookReceiver({ cert, key: await readFile(join(FIXTURES, "key.pem"), "utf8") });
  });
  afterAll(async () => {
    setDefaultCACertificates(before);
    vi.unstubAllEnvs();
    await tls.close();
  });

  test("a receiver with an untrusted certificate receives nothing, even with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");

    const answer = await post({}, { url: tls.url });

    expect(answer.error).toMatch(/^The certificate is not valid \([A-Z_]+\)\.$/);
    expect(tls.posts).toEqual([]);
    vi.unstubAllEnvs();
  });

  test("a receiver over TLS receives a webhook only if its certificate matches its name", async () => {
    setDefaultCACertificates([...before, cert]);
    const resolve = resolvesTo("127.0.0.1");

    const right = await post({ resolve }, { url: `https://localhost:${tls.port}/hook` });
    const wrong = await post({ resolve }, { url: `https://other.example:${tls.port}/hook` });

    expect(right.status).toBe(204);
    expect(wrong.error).toBe("The certificate is not valid (ERR_TLS_CERT_ALTNAME_INVALID).");
    expect(tls.posts).toHaveLength(1);
  });
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
