import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { type AnsweringServer, startAnsweringServer } from "../../support/answering-server.ts";
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const NAME = "public.example";

let server: AnsweringServer;
let harness: GatewayHarness;
const open: GatewayHarness[] = [];

beforeAll(async () => {
  server = await startAnsweringServer();
});
beforeEach(async () => {
  server.requests.length = 0;
  server.answer = (response, { url }) => void response.end(`here is ${url}`);
  harness = await openHarness();
});
afterEach(async () => {
  for (const each of open.splice(0)) {
    await each.close();
  }
});
afterAll(() => server.stop());

async function openHarness(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const each = await openGateway({
    grant: { network: "internet" },
    // The test server's address is the only public address in this test.
    allow: NAME,
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    limits: { ports: [server.port] },
    ...options,
  });
  open.push(each);
  return each;
}

function proxyHeaders({ gateway }: GatewayHarness): Record<string, string> {
  const { username, password } = new URL(gateway.proxyUrl ?? "http://none:none@x");
  return { "proxy-authorization": `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

interface Tunnel {
  readonly socket: Socket;
  readonly answer: string;
}

async function tunnelTo(target: string, of = harness, headers = proxyHeaders(of)): Promise<Tunnel> {
  const { hostname, port } = new URL(of.gateway.address);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${fields.join("")}\r\n`);
  const [answer] = await once(socket, "data");
  return { socket, answer: String(answer) };
}

describe("egress with network access", () => {
  test("programs reach public addresses through the proxy and the gateway itself directly", async () => {
    const own = await startAnsweringServer();
    const withModels = await openHarness({ models: { openai: { key: "canary", baseUrl: own.url } } });
    const script = `
      const print = async (url) => console.log(await (await fetch(url)).text());
      await print("http://${NAME}:${server.port}/page");
      await print("${withModels.gateway.address}/models/openai/models");`;
    const env = { PATH: process.env.PATH, ...gatewayVariables(withModels.gateway, "https://github.com") };
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });

    expect(await text(child.stdout)).toBe("here is /page\nnothing to say\n");
    expect(server.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
    await own.stop();
  });

  test("a proxied request and its answer are forwarded unchanged", async () => {
    server.answer = (response) =>
      void response.writeHead(302, { location: "/else", "set-cookie": ["a=1", "b=2"] }).end("moved");
    const headers = { ...proxyHeaders(harness), authorization: "Bearer theirs", cookie: "c=3" };

    const answer = await requestRaw(harness.gateway, `http://${NAME}:${server.port}/a%2F..?b=c`, {
      method: "PUT",
      body: "hello",
      headers,
    });

    expect([answer.status, answer.body, answer.headers.location, answer.headers["set-cookie"]]).toEqual([
      302,
      "moved",
      "/else",
      ["a=1", "b=2"],
    ]);
    expect(server.requests).toEqual([
      expect.objectContaining({
        method: "PUT",
        url: "/a%2F..?b=c",
        body: "hello",
        headers: expect.objectContaining({ authorization: "Bearer theirs", host: `${NAME}:${server.port}` }),
      }),
    ]);
  });

  test("a tunnel carries data in both directions and is cut when the gateway is closed", async () => {
    const { answer, socket } = await tunnelTo(`${NAME}:${server.port}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    socket.write("GET /inside HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 .*here is \/inside$/s);

    const closed = once(socket, "close");
    await harness.gateway.close();

    await closed;
  });

  test("an idle tunnel is cut", async () => {
    const hasty = await openHarness({ limits: { ports: [server.port], streamIdleMs: 100 } });
    const { socket } = await tunnelTo(`${NAME}:${server.port}`, hasty);

    await once(socket, "close");
  });

  test("data sent directly after the CONNECT request is not lost", async () => {
    const { hostname, port } = new URL(harness.gateway.address);
    const socket = connect(Number(port), hostname);
    const { "proxy-authorization": authorization } = proxyHeaders(harness);
    socket.write(
      `CONNECT ${NAME}:${server.port} HTTP/1.1\r\nproxy-authorization: ${authorization}\r\n\r\nGET /early HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );

    expect(await text(socket)).toContain("here is /early");
  });

  test.each([
    ["127.0.0.1", ["127.0.0.1"]],
    ["127.0.0.1 as one number", ["2130706433"]],
    ["the metadata service", ["169.254.169.254", "169.254.169.254"]],
    ["private networks", ["10.0.0.1", "192.168.0.1", "172.16.0.1", "100.64.0.1"]],
    [
      "IPv6 loopback and private addresses",
      ["[::1]", "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]"],
    ],
  ])("requests and tunnels to non-public addresses are refused: %s", async (_, hosts) => {
    for (const host of hosts) {
      const { answer } = await tunnelTo(`${host}:${server.port}`);
      const response = await requestRaw(harness.gateway, `http://${host}:${server.port}/`, {
        headers: proxyHeaders(harness),
      });

      expect(answer).toMatch(/^HTTP\/1\.1 403 .*not public/s);
      expect([response.status, response.body]).toEqual([403, expect.stringContaining("not public")]);
    }
    expect(server.requests).toEqual([]);
  });

  test("a tunnel to a name that resolves to a non-public address is refused", async () => {
    for (const addresses of [["10.0.0.1"], ["8.8.8.8", "127.0.0.1"]]) {
      const resolve = async () => addresses.map((address) => ({ address, family: 4 }));
      const inner = await openHarness({ resolve });

      expect((await tunnelTo(`inner.example:${server.port}`, inner)).answer).toMatch(/^HTTP\/1\.1 403 /);
    }
  });

  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const outer = own.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  test.skipIf(outer === undefined)(
    "a tunnel to this machine's own address is refused even if the address is public",
    async () => {
      const always = {
        admits: ({ isEncrypted }: { readonly isEncrypted: boolean }) => isEncrypted,
        problemOf: () => undefined,
      };
      const wide = await openHarness({ destinations: always as never });

      expect((await tunnelTo(`${outer}:${server.port}`, wide)).answer).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  test.each(["22", "25", "5432", "0", "65536", "99999"])(
    "a tunnel or request to the port %s is refused",
    async (port) => {
      const strict = await openHarness({ limits: {} });

      expect((await tunnelTo(`${NAME}:${port}`, strict)).answer).toMatch(
        /^HTTP\/1\.1 403 .*80, 443, 8080, 8443/s,
      );
      const response = await requestRaw(strict.gateway, `http://${NAME}:${port}/`, {
        headers: proxyHeaders(strict),
      });
      expect([400, 403]).toContain(response.status);
    },
  );

  test.each([
    "public.example",
    "public.example:",
    ":443",
    "a b:443",
    "user@public.example:443",
    "public.example:443/x",
  ])("a tunnel to the malformed address %j is refused", async (target) => {
    expect((await tunnelTo(target)).answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test("a proxied request with a scheme other than http is refused", async () => {
    for (const url of [`https://${NAME}:${server.port}/`, `ftp://${NAME}/`, `ws://${NAME}:${server.port}/`]) {
      expect((await requestRaw(harness.gateway, url, { headers: proxyHeaders(harness) })).status).toBe(400);
    }
  });

  test("a tunnel to an unreachable host gets status 502 with the reason", async () => {
    const gone = await startAnsweringServer();
    await gone.stop();
    const lost = await openHarness({ limits: { ports: [gone.port] } });

    expect((await tunnelTo(`${NAME}:${gone.port}`, lost)).answer).toMatch(/^HTTP\/1\.1 502 .*refused/s);
  });

  test("requests and tunnels without the attempt's token get status 407", async () => {
    const wrong = [
      {},
      { "proxy-authorization": "Basic x" },
      { "proxy-authorization": `Basic ${Buffer.from("errand:wrong").toString("base64")}` },
    ];
    for (const headers of wrong as Record<string, string>[]) {
      const { answer } = await tunnelTo(`${NAME}:${server.port}`, harness, headers);
      expect(answer).toMatch(/^HTTP\/1\.1 407 .*proxy-authenticate: Basic/s);
      expect((await requestRaw(harness.gateway, `http://${NAME}:${server.port}/`, { headers })).status).toBe(
        407,
      );
    }
    expect(server.requests).toEqual([]);
  });

  test("the upstream connection is closed when the sandbox resets its tunnel", async () => {
    const ended = Promise.withResolvers<void>();
    server.early = (request) => {
      request.socket.once("close", () => ended.resolve());
      return true;
    };
    const { socket } = await tunnelTo(`${NAME}:${server.port}`);
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    socket.resetAndDestroy();

    await ended.promise;
    server.early = () => false;
  });
});

test("without network access requests and tunnels are refused with the reason", async () => {
  const inside = await openHarness({ grant: {} });
  const { pathname } = new URL(inside.gateway.address);
  const headers = {
    "proxy-authorization": `Basic ${Buffer.from(`errand:${pathname.slice(1)}`).toString("base64")}`,
  };

  const { answer } = await tunnelTo(`${NAME}:${server.port}`, inside, headers);
  const response = await requestRaw(inside.gateway, `http://${NAME}:${server.port}/`, { headers });

  expect(inside.gateway.proxyUrl).toBeUndefined();
  expect(answer).toMatch(/^HTTP\/1\.1 403 .*have the network `internet`/s);
  expect([response.status, response.body]).toEqual([
    403,
    expect.stringContaining("have the network `internet`"),
  ]);
  expect(server.requests).toEqual([]);
});

test("a request to the gateway itself that arrives as a proxied request is answered", async () => {
  server.answer = (response) => void response.end("models");
  const withModels = await openHarness({ models: { openai: { key: "canary", baseUrl: server.url } } });
  const { host, origin, pathname } = new URL(withModels.gateway.address);

  const answer = await requestRaw(withModels.gateway, `${origin}${pathname}/models/openai/models`, {
    headers: { host },
  });
  const wrong = await requestRaw(withModels.gateway, `${origin}/wrong/models/openai/models`, {
    headers: { host },
  });

  await waitFor(() => server.requests.length === 1, { what: "the request" });
  expect([answer.status, answer.body, wrong.status]).toEqual([200, "models", 407]);
});
