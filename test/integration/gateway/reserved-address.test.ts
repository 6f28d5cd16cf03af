import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Gateway, ReservedGateway } from "../../../src/core/ports/gateway.ts";
import { createGateways } from "../../../src/gateway/create-gateways.ts";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { type AnsweringServer, startAnsweringServer } from "../../support/answering-server.ts";
import { aGrant } from "../../support/gateway-harness.ts";
import { SILENT_LOG } from "../../support/logs.ts";

let model: AnsweringServer;
let folder: string;
let gateway: Gateway;
let reserved: ReservedGateway;
const sockets: Socket[] = [];

beforeEach(async () => {
  model = await startAnsweringServer();
  folder = await mkdtemp(join(tmpdir(), "errand-reserved-"));
  const gateways = createGateways({
    ...{ isolated: true, dataDir: folder, modelPrices: {}, gitUrl: "http://127.0.0.1:9" },
    models: { openai: { key: "sk-real-key", baseUrl: `${model.url}/v1` } },
    authorize: async () => undefined,
    destinations: new Destinations(parseAllowList("")),
    redact: (words) => words,
    log: SILENT_LOG,
  });
  gateway = await gateways.open(aGrant());
  reserved = await gateways.reserve();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  await reserved.close();
  await gateway.close();
  await model.stop();
  await rm(folder, { recursive: true, force: true });
});

async function connectTo({ portForward }: ReservedGateway): Promise<Socket> {
  const socket = connect(portForward.socketPath);
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** A request to the model, in two parts. */
function request({ address }: Pick<Gateway, "address">, method = "POST"): readonly [string, string] {
  const path = `${new URL(address).pathname}/models/openai/responses`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\n`;
  return [head, "{}"];
}

test("an address without a run refuses every method with 403, and answers no tunnel", async () => {
  for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"]) {
    const socket = await connectTo(reserved);
    socket.write(request(reserved, method).join(""));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
  }
  const tunnel = await connectTo(reserved);
  tunnel.write("CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n");
  expect(await text(tunnel)).not.toMatch(/^HTTP\/1\.1 2/);
  expect(model.requests).toEqual([]);
});

test("a gateway takes the address with its grant, and its own address stays", async () => {
  reserved.giveTo(gateway);

  const socket = await connectTo(reserved);
  socket.write(request(reserved).join(""));

  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]?.headers.authorization).toBe("Bearer sk-real-key");
});

test("a connection that is open when a gateway takes the address is cut, and its request never reaches the gateway", async () => {
  const [head, body] = request(reserved);
  const idle = await connectTo(reserved);
  const waiting = await connectTo(reserved);
  waiting.write(head.slice(0, -2));
  const finishing = await connectTo(reserved);
  finishing.write(head);
  const answered = once(finishing, "data");
  expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 403 /);

  const ends = [idle, waiting, finishing].map((socket) => new Promise((done) => socket.once("close", done)));
  for (const socket of [idle, waiting, finishing]) {
    socket.on("error", () => undefined);
  }
  reserved.giveTo(gateway);
  idle.write(head + body);
  waiting.write(`\r\n${body}`);
  finishing.write(body + head + body);
  await Promise.all(ends);

  expect(model.requests).toEqual([]);
  expect(gateway.traffic.models.calls).toBe(0);
});

test("a gateway that is closed no longer serves the address", async () => {
  reserved.giveTo(gateway);
  await gateway.close();

  const socket = await connectTo(reserved);
  socket.on("error", () => undefined);
  const closed = new Promise((done) => socket.once("close", done));
  socket.write(request(reserved).join(""));
  await closed;

  expect(model.requests).toEqual([]);
});

test("a closed address accepts no connection", async () => {
  await reserved.close();

  await expect(connectTo(reserved)).rejects.toThrow(/ENOENT|ECONNREFUSED/);
});
