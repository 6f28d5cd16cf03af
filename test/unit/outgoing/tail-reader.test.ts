import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { ForbiddenDestination } from "../../../src/outgoing/guarded-connector.ts";
import { createTailReader } from "../../../src/outgoing/tail-reader.ts";
import { type AnsweringServer, startAnsweringServer } from "../../support/answering-server.ts";

let server: AnsweringServer;
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

function readTail(url: string, allow = "127.0.0.1"): Promise<string> {
  return createTailReader({ destinations: new Destinations(parseAllowList(allow)) })(url);
}

test("only the last 64 KiB of a long text are kept", async () => {
  server.answer = (response) => void response.end(`${"a".repeat(3_000_000)}the end`);

  const tail = await readTail(`${server.url}/log?sig=1`);

  expect(tail).toHaveLength(64 * 1024);
  expect(tail.endsWith("athe end")).toBe(true);
  expect(server.requests.at(-1)?.url).toBe("/log?sig=1");
});

test("an address in the server's own network is not read", async () => {
  const before = server.requests.length;

  await expect(readTail(server.url, "")).rejects.toBeInstanceOf(ForbiddenDestination);
  expect(server.requests).toHaveLength(before);
});

test("a redirect is not followed", async () => {
  const before = server.requests.length;
  server.answer = (response) => void response.writeHead(302, { location: `${server.url}/inside` }).end();

  await expect(readTail(server.url)).rejects.toThrow("The answer has the status 302.");
  expect(server.requests).toHaveLength(before + 1);
});
