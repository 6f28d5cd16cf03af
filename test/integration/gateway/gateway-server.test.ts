import { once } from "node:events";
import { access, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createGateways } from "../../../src/gateway/create-gateways.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { type AnsweringServer, answerJson, startAnsweringServer } from "../../support/answering-server.ts";
import {
  aGrant,
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";

const MODELS = "/models/openai/models";
const RESPONSES = "/models/openai/responses";
const CHUNK = Buffer.alloc(64 * 1_024, "x");

let server: AnsweringServer;
const open: GatewayHarness[] = [];

beforeAll(async () => {
  server = await startAnsweringServer();
});
beforeEach(() => {
  server.requests.length = 0;
  server.early = () => false;
  server.answer = (response) => answerJson(response, {});
});
afterEach(async () => {
  for (const harness of open.splice(0)) {
    await harness.close();
  }
});
afterAll(() => server.stop());

async function openHarness(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const models = { openai: { key: "canary-key-0123456789", baseUrl: server.url } };
  const harness = await openGateway({ models, ...options });
  open.push(harness);
  return harness;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function rawSocket({ gateway }: GatewayHarness): Socket {
  const { hostname, port } = new URL(gateway.address);
  return connect(Number(port), hostname).on("error", () => undefined);
}

describe("the token of a gateway", () => {
  test("a token opens only its own gateway, and only until that is closed", async () => {
    const [one, other] = [await openHarness(), await openHarness()];
    const { pathname } = new URL(one.gateway.address);
    expect((await requestRaw(one.gateway, MODELS)).status).toBe(200);

    const { origin } = new URL(other.gateway.address);
    expect((await fetch(`${origin}${pathname}${MODELS}`)).status).toBe(404);
    await one.gateway.close();
    await expect(requestRaw(one.gateway, MODELS)).rejects.toThrow("ECONNREFUSED");
    expect((await fetch(`${origin}${pathname}${MODELS}`)).status).toBe(404);
    expect(pathname.length).toBeGreaterThan(30);
    expect(server.requests).toHaveLength(1);
  });

  test.each(["", "wrong", "%00", "undefined"])(
    "a request with the wrong token %j gets status 404",
    async (token) => {
      const { gateway } = await openHarness();
      const { origin } = new URL(gateway.address);

      const answer = await fetch(`${origin}/${token}${MODELS}`);

      expect([answer.status, await answer.text()]).toEqual([404, "There is nothing at this address.\n"]);
    },
  );

  test.each(["/else", "/", "", "/constructor/x", "/__proto__/x"])(
    "a request to the unknown path %j gets status 404",
    async (path) => {
      const { gateway } = await openHarness();

      expect((await fetch(`${gateway.address}${path}`)).status).toBe(404);
      expect(server.requests).toEqual([]);
    },
  );
});

describe("a gateway for an isolated sandbox", () => {
  test("the gateway listens on a socket in a directory that other users of the machine cannot open", async () => {
    const { dataDir, gateway } = await openHarness({ isolated: true });

    const path = gateway.portForward?.socketPath ?? "";
    expect((await requestRaw(gateway, MODELS)).status).toBe(200);
    expect(gateway.address).toMatch(/^http:\/\/127\.0\.0\.1:21721\/[\w-]{32}$/);
    expect(gateway.portForward?.port).toBe(21_721);
    expect(path.startsWith(join(dataDir, "gw/"))).toBe(true);
    expect(await readdir(dirname(path))).toEqual(["s"]);
    const modes = await Promise.all(
      [path, dirname(path), dirname(dirname(path))].map(async (each) => (await stat(each)).mode & 0o777),
    );
    expect(modes).toEqual([0o666, 0o711, 0o700]);

    await gateway.close();
    expect(await readdir(join(dataDir, "gw"))).toEqual([]);
    await expect(requestRaw(gateway, MODELS)).rejects.toThrow("ENOENT");
  });

  test("the socket is placed elsewhere if its path would be too long", async () => {
    const { dataDir } = await openHarness();
    const deep = join(dataDir, "d".repeat(100));

    const gateways = createGateways({ ...BARE, isolated: true, dataDir: deep });
    const gateway = await gateways.open(aGrant());

    const path = gateway.portForward?.socketPath ?? "";
    expect([path.length <= 103, path.startsWith(deep)]).toEqual([true, false]);
    expect((await stat(dirname(dirname(path)))).mode & 0o777).toBe(0o700);
    await gateway.close();
    expect(await exists(dirname(dirname(path)))).toBe(false);
  });

  test("opening gateways removes what a killed process left, and no open gateway", async () => {
    const { dataDir } = await openHarness();
    await mkdir(join(dataDir, "gw/old/gw"), { recursive: true });
    await writeFile(join(dataDir, "gw/old/gw/s"), "");

    const gateways = createGateways({ ...BARE, isolated: true, dataDir });
    const opened = await Promise.all([gateways.open(aGrant()), gateways.open(aGrant())]);

    const left = await readdir(join(dataDir, "gw"));
    expect([left.length, left.includes("old")]).toEqual([2, false]);
    for (const gateway of opened) {
      await gateway.close();
    }
  });
});

const BARE = {
  models: {},
  modelPrices: {},
  gitUrl: "https://git.example",
  authorize: async () => undefined,
  destinations: new Destinations({ networks: [], hosts: new Set() }),
  redact: (text: string) => text,
  log: SILENT_LOG,
};

describe("hostile clients of a gateway", () => {
  test("a client gets no more connections than the limit, and the gateway answers again afterwards", async () => {
    const harness = await openHarness({ limits: { connections: 5 } });
    const sockets = Array.from({ length: 20 }, () => rawSocket(harness));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));

    await waitFor(
      () =>
        sockets.filter(({ readyState }) => readyState === "closed").length === 15 ||
        sockets.filter(({ destroyed }) => destroyed).length === 15,
      { what: "15 closed connections" },
    );

    for (const socket of sockets) {
      socket.destroy();
    }
    await waitFor(() => requestRaw(harness.gateway, MODELS).then(({ status }) => status === 200), {
      what: "an answer",
    });
  });

  test("pipelined requests on one connection get no more concurrent answers than the limit", async () => {
    const harness = await openHarness({ limits: { connections: 5 } });
    const { host, pathname } = new URL(harness.gateway.address);
    const responses: ServerResponse[] = [];
    server.answer = (response) => void responses.push(response);
    const socket = rawSocket(harness);

    socket.write(`GET ${pathname}${MODELS} HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(19));
    socket.write(`GET ${pathname}${MODELS} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    await waitFor(() => responses.length === 5, { what: "five calls to be let through" });
    for (const response of responses) {
      answerJson(response, {});
    }

    const statuses = (await text(socket)).match(/(?<=^HTTP\/1\.1 )\d+/gm);
    expect(statuses).toEqual([...Array(5).fill("200"), ...Array(15).fill("429")]);
    expect(server.requests).toHaveLength(5);
  });

  test.each([
    ["a head that is too large", `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ["a request that is not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "a body with two lengths",
      "POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
  ])("%s is refused by the gateway, which still answers afterwards", async (_, bytes, answer) => {
    const harness = await openHarness();
    const socket = rawSocket(harness);
    socket.write(bytes, "latin1");

    expect(await text(socket)).toMatch(answer);
    expect((await requestRaw(harness.gateway, MODELS)).status).toBe(200);
  });

  test("a request cannot be smuggled to the model inside the body of another request", async () => {
    const harness = await openHarness();
    const { pathname } = new URL(harness.gateway.address);
    const inner = "POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    const head = `POST ${pathname}${RESPONSES} HTTP/1.1\r\nhost: x\r\nconnection: content-length, close\r\n`;
    const socket = rawSocket(harness);
    socket.write(`${head}content-length: ${inner.length}\r\n\r\n${inner}`);

    await text(socket);

    expect(server.requests.map(({ url }) => url)).toEqual(["/responses"]);
    expect(server.requests[0]?.body).toBe(inner);
  });

  test("a client that sends faster than the upstream reads is slowed down", async () => {
    const harness = await openHarness();
    server.early = (request) => {
      request.pause();
      return true;
    };
    const { pathname } = new URL(harness.gateway.address);
    const socket = rawSocket(harness);
    socket.write(
      `POST ${pathname}/models/openai/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 60000000\r\n\r\n`,
    );

    const sent = await fill((chunk) => socket.write(chunk), socket, 60_000_000);

    expect(sent).toBeLessThan(20_000_000);
    socket.destroy();
  });

  test("an upstream that sends faster than the client reads is slowed down", async () => {
    const harness = await openHarness();
    const started = Promise.withResolvers<ServerResponse>();
    server.early = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      started.resolve(response);
      return true;
    };
    const { pathname } = new URL(harness.gateway.address);
    const socket = rawSocket(harness).pause();
    socket.write(`POST ${pathname}${RESPONSES} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`);
    const response = await started.promise;

    const sent = await fill((chunk) => response.write(chunk), response, 60_000_000);

    expect(sent).toBeLessThan(20_000_000);
    socket.destroy();
    await once(response, "close");
  });

  /** Returns how many bytes of an endless stream were accepted before the stream stopped. */
  async function fill(
    write: (chunk: Buffer) => boolean,
    stream: NodeJS.EventEmitter,
    maxBytes: number,
  ): Promise<number> {
    let sent = 0;
    const more = (): void => {
      for (let isFree = true; isFree && sent < maxBytes; sent += CHUNK.length) {
        isFree = write(CHUNK);
      }
    };
    stream.on("drain", more);
    more();
    let before = -1;
    await waitFor(
      () => {
        const isStill = sent === before;
        before = sent;
        return isStill;
      },
      { what: "a stream that stands still", everyMs: 250 },
    );
    return sent;
  }

  test("a client that disconnects during a request leaves no upstream connection and no failure", async () => {
    const harness = await openHarness();
    const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.early = (request) => {
      request.socket.once("close", () => gone.resolve());
      arrived.resolve();
      return true;
    };
    const { pathname } = new URL(harness.gateway.address);
    const socket = rawSocket(harness);
    socket.write(`POST ${pathname}${RESPONSES} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhalf`);
    await arrived.promise;

    socket.destroy();

    await gone.promise;
    expect([harness.gateway.traffic.modelFailure, harness.logged]).toEqual([undefined, []]);
  });
});

test("closing a gateway ends running answers, and can be repeated", async () => {
  const harness = await openHarness();
  server.early = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
    return true;
  };
  const answer = await fetch(`${harness.gateway.address}${RESPONSES}`, { method: "POST", body: "{}" });

  await Promise.all([harness.gateway.close(), harness.gateway.close()]);

  await expect(answer.text()).rejects.toThrow();
  expect(harness.logged).toEqual([]);
});
