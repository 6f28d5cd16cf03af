import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GatewayGrant } from "../../../src/core/ports/gateway.ts";
import {
  type AnsweringServer,
  answerEvents,
  answerJson,
  startAnsweringServer,
} from "../../support/answering-server.ts";
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { type McpServer, startMcpServer } from "../../support/mcp-server.ts";

const SECRET = "canary-secret-of-the-mcp-server";
const TOKEN = `Bearer ${SECRET}`;

let server: AnsweringServer;
const servers: { stop(): Promise<void> }[] = [];
const open: GatewayHarness[] = [];

beforeEach(async () => {
  server = await startAnsweringServer();
  servers.push(server);
});
afterEach(async () => {
  for (const harness of open.splice(0)) {
    expect(JSON.stringify([harness.logged, harness.gateway.traffic])).not.toContain(SECRET);
    await harness.close();
  }
  for (const each of servers.splice(0)) {
    await each.stop();
  }
});

async function openHarness(url: string, options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const mcpServers: GatewayGrant["mcpServers"] = {
    notes: { url, headers: { Authorization: TOKEN, "X-Team": "7" } },
    "two words": { url, headers: {} },
  };
  const harness = await openGateway({ allow: "127.0.0.1", grant: { mcpServers }, ...options });
  open.push(harness);
  return harness;
}

describe("requests to an MCP server", () => {
  let mcp: McpServer;
  let address: string;
  beforeEach(async () => {
    mcp = await startMcpServer();
    servers.push(mcp);
    address = `${(await openHarness(`${mcp.url}/mcp`)).gateway.address}/tools/notes`;
  });

  function send(message: object, session?: string): Promise<Response> {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      authorization: "Bearer of-the-sandbox",
      "x-team": "8",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    };
    return fetch(address, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  test("MCP requests are forwarded with their session and the server's key", async () => {
    const hello = await send({ id: 1, method: "initialize" });
    const session = hello.headers.get("mcp-session-id") ?? "";
    expect(await hello.json()).toMatchObject({ result: { capabilities: { tools: {} } } });
    expect((await send({ method: "notifications/initialized" }, session)).status).toBe(202);

    const called = await send(
      { id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } },
      session,
    );
    const events = await called.text();
    const ended = await fetch(address, { method: "DELETE", headers: { "mcp-session-id": session } });

    expect(called.headers.get("content-type")).toBe("text/event-stream");
    expect(events).toContain('"text":"hi"');
    expect([ended.status, mcp.sessions.size]).toEqual([204, 0]);
    expect((await send({ id: 3, method: "tools/list" }, session)).status).toBe(404);
    for (const { headers, url } of mcp.requests) {
      expect([url, headers.authorization, headers["x-team"]]).toEqual(["/mcp", TOKEN, "7"]);
    }
  });

  test("events of an MCP server are forwarded as they arrive", async () => {
    const session = (await send({ id: 1, method: "initialize" })).headers.get("mcp-session-id") ?? "";
    const stream = await fetch(address, {
      headers: { accept: "text/event-stream", "mcp-session-id": session },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();

    for (const word of ["one", "two"]) {
      mcp.notify(word);
      expect((await reader?.read())?.value).toContain(word);
    }

    await reader?.cancel();
  });
});

describe("the address of an MCP server", () => {
  test.each([
    ["/mcp", "/tools/notes", "/mcp"],
    ["/mcp?team=7", "/tools/notes?page=2", "/mcp?team=7&page=2"],
    ["/mcp/", "/tools/notes/messages", "/mcp/messages"],
    ["", "/tools/two%20words/messages", "/messages"],
  ])("with the server path %j a request to %s is forwarded to %s", async (path, requestPath, url) => {
    const { gateway } = await openHarness(`${server.url}${path}`);

    expect((await requestRaw(gateway, requestPath)).status).toBe(200);
    expect(server.requests.map((each) => each.url)).toEqual([url]);
  });

  test.each([
    ["/tools/other", 404],
    ["/tools/constructor", 404],
    ["/tools", 404],
    ["/tools/%zz", 404],
    ["/tools/notes/../admin", 400],
    ["/tools/notes/%2e%2e/admin", 400],
    ["/tools/notes/..%2fadmin", 400],
    ["/tools/notes//evil.example/x", 400],
    ["/tools/notes@evil.example", 404],
  ])("a request to %s does not reach the MCP server", async (requestPath, status) => {
    const { gateway } = await openHarness(`${server.url}/mcp`);

    expect((await requestRaw(gateway, requestPath)).status).toBe(status);
    expect(server.requests).toEqual([]);
  });

  test("a redirect by an MCP server is an error and is not followed", async () => {
    server.answer = (response) =>
      void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
    const { gateway } = await openHarness(server.url);

    const answer = await requestRaw(gateway, "/tools/notes");

    expect([answer.status, answer.headers.location, server.requests.length]).toEqual([502, undefined, 1]);
  });

  test("credentials, cookies and the origin of the sandbox are not forwarded to an MCP server", async () => {
    const { gateway } = await openHarness(server.url);
    const headers = {
      authorization: "Bearer theirs",
      cookie: "a=b",
      origin: "http://x",
      "x-api-key": "theirs",
    };

    await requestRaw(gateway, "/tools/two%20words", { headers: { ...headers, "x-else": "kept" } });

    expect(Object.keys(server.requests[0]?.headers ?? {}).toSorted()).toEqual([
      "accept-encoding",
      "connection",
      "host",
      "x-else",
    ]);
  });

  test("a key rejected by the MCP server is reported without asking the sandbox for one", async () => {
    server.answer = (response) => {
      response.setHeader("www-authenticate", "Bearer resource_metadata=http://x");
      response.setHeader("set-cookie", "a=b");
      answerJson(response, { error: `not ${SECRET}` }, 401);
    };
    const { gateway } = await openHarness(server.url);

    const answer = await requestRaw(gateway, "/tools/notes");

    expect([answer.status, answer.body]).toEqual([401, `{"error":"not ${"*".repeat(SECRET.length)}"}`]);
    expect(answer.headers).not.toHaveProperty("www-authenticate");
    expect(answer.headers).not.toHaveProperty("set-cookie");
  });

  test("the secrets of the address are masked in an answer, as they are and as the address spells them", async () => {
    const [key, word] = ["canary/key of&the address", "canary-word"];
    server.answer = (response, { url }) => answerJson(response, { error: `No ${key} at ${url}` }, 404);
    const harness = await openGateway({
      allow: "127.0.0.1",
      grant: {
        mcpServers: {
          notes: {
            url: `${server.url}/${word}/mcp?key=${encodeURIComponent(key)}`,
            headers: {},
            urlSecrets: [key, word],
          },
        },
      },
    });
    open.push(harness);

    const { body, status } = await requestRaw(harness.gateway, "/tools/notes");

    expect(status).toBe(404);
    expect(server.requests[0]?.url).toContain(`/${word}/mcp?key=canary`);
    expect(body).not.toContain("canary");
  });

  test("the key is masked in an event stream of the MCP server", async () => {
    server.answer = (response) => answerEvents(response, [`data: ${TOKEN}\n\n`]);
    const { gateway } = await openHarness(server.url);

    expect((await requestRaw(gateway, "/tools/notes")).body).toBe(`data: ${"*".repeat(TOKEN.length)}\n\n`);
  });
});

/** Server-side request forgery: addresses in every notation, redirects, and DNS answers that change. */
describe("MCP servers in the operator's network", () => {
  const resolvesTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

  test.each([
    "http://127.0.0.1",
    "https://127.0.0.1",
    "https://0x7f000001",
    "https://2130706433",
    "https://127.1",
    "https://0",
    "https://[::1]",
    "https://[::ffff:10.0.0.1]",
    "https://169.254.169.254",
    "https://[fd00:ec2::254]",
    "https://10.0.0.1",
    "https://192.168.1.1",
    "https://100.64.0.1",
    "https://localhost",
    "http://8.8.8.8",
  ])("a connection to an MCP server at %s is refused", async (origin) => {
    const { gateway } = await openHarness(`${origin}:${server.port}/mcp`, { allow: "" });

    const answer = await requestRaw(gateway, "/tools/notes");

    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining("not public")]);
    expect(answer.body).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
  });

  test('a connection to an MCP server at the absolute name "localhost." is refused or fails', async () => {
    const { gateway } = await openHarness(`https://localhost.:${server.port}/mcp`, { allow: "" });

    expect([403, 502]).toContain((await requestRaw(gateway, "/tools/notes")).status);
  });

  test.each([
    ["a private address", ["10.0.0.1"]],
    ["a loopback address", ["127.0.0.1"]],
    ["a public and a private address", ["8.8.8.8", "10.0.0.1"]],
    ["a public address and that of the metadata service", ["2606:4700::1", "::ffff:169.254.169.254"]],
  ])("a connection to an MCP server whose name resolves to %s is refused", async (_, addresses) => {
    const options = { allow: "", resolve: resolvesTo(...addresses) };
    const { gateway } = await openHarness(`https://tools.example:${server.port}/mcp`, options);

    expect((await requestRaw(gateway, "/tools/notes")).status).toBe(403);
  });

  test("the name of an MCP server is resolved only once per connection", async () => {
    const answers = ["8.8.8.8", "127.0.0.1"];
    let lookups = 0;
    const resolve = async () => [{ address: answers[lookups++] ?? "", family: 4 }];
    const { gateway } = await openHarness(`https://tools.example:${server.port}/mcp`, {
      allow: "",
      resolve,
      limits: { connectMs: 300 },
    });

    // The guard may only connect to loopback in tests, so the public address is not reached. The second address is
    // never used.
    expect((await requestRaw(gateway, "/tools/notes")).status).toBe(502);
    expect([lookups, server.requests]).toEqual([1, []]);
  });

  test.each(["ftp://tools.example", "file:///etc/passwd", "gopher://tools.example"])(
    "an MCP server with the URL %s is refused",
    async (url) => {
      const { gateway } = await openHarness(url);

      expect((await requestRaw(gateway, "/tools/notes")).status).toBe(403);
    },
  );

  test("an MCP server in the operator's network is reached if the operator allows its name", async () => {
    const resolve = resolvesTo("127.0.0.1");
    const { gateway } = await openHarness(`http://tools.internal:${server.port}/mcp`, {
      allow: "tools.internal",
      resolve,
    });

    expect((await requestRaw(gateway, "/tools/notes")).status).toBe(200);
  });
});
