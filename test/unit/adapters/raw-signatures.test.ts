import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readWebhookRequest as readFromGitHub } from "../../../src/adapters/github/webhook.ts";
import { readWebhookRequest as readFromSlack } from "../../../src/adapters/slack/webhook.ts";

const SECRET = "a secret of this test";
const NOW = new Date("2026-03-01T12:00:00.000Z");
const TIMESTAMP = String(NOW.getTime() / 1_000);

/** Bodies that differ in their bytes and are the same text, because each invalid byte becomes the same character. */
const BODIES: readonly [string, Buffer, Buffer][] = [
  [
    "another invalid byte",
    Buffer.from([...begin(), 0xff, ...end()]),
    Buffer.from([...begin(), 0xfe, ...end()]),
  ],
  ["a replacement character", Buffer.from([...begin(), 0xff, ...end()]), Buffer.from(`{"type":"\ufffd"}`)],
];

function begin(): Buffer {
  return Buffer.from('{"type":"');
}

function end(): Buffer {
  return Buffer.from('"}');
}

function fromSlack(signed: Buffer, sent: Buffer) {
  const hash = createHmac("sha256", SECRET).update(`v0:${TIMESTAMP}:`).update(signed).digest("hex");
  const headers = { "x-slack-request-timestamp": TIMESTAMP, "x-slack-signature": `v0=${hash}` };
  return readFromSlack({ body: sent, headers }, SECRET, NOW).kind;
}

async function fromGitHub(signed: Buffer, sent: Buffer) {
  const hash = createHmac("sha256", SECRET).update(signed).digest("hex");
  const headers = {
    "x-hub-signature-256": `sha256=${hash}`,
    "x-github-delivery": "1",
    "x-github-event": "ping",
  };
  return (await readFromGitHub({ body: sent, headers }, ["another secret", SECRET])).kind;
}

describe.each([
  ["Slack", fromSlack],
  ["GitHub", fromGitHub],
] as const)("a signature of %s", (_name, read) => {
  test.each(BODIES)(
    "a signature does not fit %s that reads as the same text",
    async (_what, signed, sent) => {
      expect(signed.toString()).toBe(sent.toString());
      expect(await read(signed, sent)).toBe("forged");
    },
  );

  test("a signature covers a byte order mark", async () => {
    const [plain, marked] = [Buffer.from("{}"), Buffer.from("\ufeff{}")];

    expect([await read(plain, marked), await read(marked, plain)]).toEqual(["forged", "forged"]);
    expect(await read(marked, marked)).not.toBe("forged");
  });
});

test.each([
  "",
  "abc",
  "1e9",
  "-1",
  "0x10",
  `${TIMESTAMP} `,
  String(Number(TIMESTAMP) - 301),
  String(Number(TIMESTAMP) + 301),
])("a request of Slack with the timestamp %j is refused", (timestamp) => {
  const hash = createHmac("sha256", SECRET).update(`v0:${timestamp}:{}`).digest("hex");
  const headers = { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${hash}` };

  expect(readFromSlack({ body: Buffer.from("{}"), headers }, SECRET, NOW).kind).toBe("forged");
});
