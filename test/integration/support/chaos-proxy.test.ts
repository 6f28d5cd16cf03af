import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ChaosProxy, startChaosProxy } from "../../support/chaos-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";

let server: Server;
let proxy: ChaosProxy;
let client: Socket;
let atServer: string;
let atClient: string;

beforeEach(async () => {
  atServer = "";
  atClient = "";
  server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      atServer += chunk.toString("latin1");
      socket.write(chunk);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startChaosProxy((server.address() as AddressInfo).port);
  client = connect(proxy.port, "127.0.0.1");
  client.on("data", (chunk) => {
    atClient += chunk.toString("latin1");
  });
  client.on("error", () => client.destroy());
  await once(client, "connect");
});

afterEach(async () => {
  client.destroy();
  await proxy.stop();
  const closed = once(server, "close");
  server.close();
  await closed;
});

function query(text: string): Buffer {
  const message = Buffer.alloc(text.length + 6);
  message.write("Q");
  message.writeInt32BE(text.length + 5, 1);
  message.write(text, 5);
  return message;
}

test("bytes pass both ways", async () => {
  client.write("hello");

  await waitFor(() => atClient === "hello", { what: "the echo" });
});

test("a black hole closes nothing and holds bytes back until heal", async () => {
  proxy.blackHole();
  client.write("held");
  await expect(waitFor(() => atServer, { what: "bytes", timeoutMs: 50 })).rejects.toThrow("in vain");
  expect(client.destroyed).toBe(false);

  proxy.heal();

  await waitFor(() => atClient === "held", { what: "the echo after healing" });
});

test("a stranded connection stays open and silent, and a new connection works", async () => {
  client.write("before ");
  await waitFor(() => atClient === "before ", { what: "the echo" });

  proxy.strandAll();
  client.write("into the void ");
  const other = connect(proxy.port, "127.0.0.1");
  other.write("after");

  expect(String(await once(other, "data"))).toBe("after");
  expect(atServer).toBe("before after");
  expect(client.destroyed).toBe(false);
  other.destroy();
});

test("delayed bytes arrive later and in order", async () => {
  proxy.delay(30);
  const start = performance.now();
  client.write("a");

  await waitFor(() => atClient === "a", { what: "the late echo" });

  expect(performance.now() - start).toBeGreaterThanOrEqual(55);
});

test("reset cuts every connection with an error", async () => {
  client.removeAllListeners("error");
  const failed = once(client, "error");

  proxy.resetAll();

  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
});

test("a commit reaches the server, its client sees no reply, and only the first is cut", async () => {
  const cut = proxy.cutAfterCommit();
  client.write(query("select 'commit' as word"));
  await waitFor(() => atClient.includes("word"), { what: "the reply to another statement" });
  atClient = "";
  const closed = once(client, "close");

  client.write(query("COMMIT"));
  await cut;
  await closed;

  expect(atServer).toContain("COMMIT");
  expect(atClient).toBe("");
  client = connect(proxy.port, "127.0.0.1");
  client.on("data", (chunk) => {
    atClient += chunk.toString("latin1");
  });
  client.write(query("COMMIT"));
  await waitFor(() => atClient.includes("COMMIT"), { what: "the reply to the second commit" });
});

test("a commit whose server closes the connection instead of answering is cut too", async () => {
  server.prependListener("connection", (socket: Socket) =>
    socket.prependListener("data", () => socket.destroy()),
  );
  const ending = connect(proxy.port, "127.0.0.1").on("error", () => undefined);
  await once(ending, "connect");
  const cut = proxy.cutAfterCommit();
  expect(proxy.awaitsCommit).toBe(true);

  ending.write(query("COMMIT"));
  await cut;

  expect(proxy.awaitsCommit).toBe(false);
  ending.destroy();
});
