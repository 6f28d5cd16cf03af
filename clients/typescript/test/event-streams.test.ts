import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { pausingClient, TIMEOUT_MS } from "./pausing-client.ts";

test("a stream that breaks before its first event is opened again at the position with which it began", async () => {
  const positions: (string | undefined)[] = [];
  const event = { kind: "run.state", run_id: "one", cursor: "second", seq: 1 };
  const server = createServer(({ headers }, response) => {
    positions.push(headers["last-event-id"] as string | undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(positions.length === 1 ? "id: first\n\n" : `id: second\ndata: ${JSON.stringify(event)}\n\n`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const { client } = pausingClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "any" });

  const changes: boolean[] = [];
  const onConnectionChange = (isConnected: boolean) => changes.push(isConnected);

  const events = client.events
    .stream({}, { silenceMs: TIMEOUT_MS, onConnectionChange })
    [Symbol.asyncIterator]();
  const { value } = await events.next();
  await events.return?.(undefined);
  server.closeAllConnections();
  server.close();

  expect(value).toEqual(event);
  expect(positions).toEqual([undefined, "first"]);
  expect(changes).toEqual([false, true]);
});
