import { afterEach, beforeEach, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { adapterOn, inboundMessageOf } from "./github-fixture.ts";

const MINUTE_MS = 60_000;
const TOKENS = /\/access_tokens$/;
const PERMISSION = /\/permission$/;
const AWAY = { method: "POST", path: TOKENS, kind: "502" } as const;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let message: InboundMessage;
let now: number;

beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00Z");
  github = await startEmulatedGithub();
  adapted = adapterOn(github, { now: () => now });
  const { number } = await github.openIssue("olivia", { title: "Broken", body: "" });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", number, "@errand go"));
});

afterEach(() => github.stop());

function aReply(): Delivery {
  const thread = { id: "thread-1", installation: message.installation, key: message.key };
  const notice = { kind: "message", purpose: "reply", text: "Hello." } as const;
  return { id: "delivery-1", thread, notice, maybeShown: false };
}

/** Calls GitHub as three runs would, ten times a second, and returns how many calls were sent in each minute. */
async function callsPerMinute(minutes: number): Promise<number[]> {
  const counts: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const before = github.calls().length;
    for (let tick = 0; tick < 600; tick += 1) {
      const attempts = [1, 2, 3].map(() => adapted.adapter.authorize(message));
      await Promise.allSettled(attempts);
      now += MINUTE_MS / 600;
    }
    counts.push(github.calls().length - before);
  }
  return counts;
}

test("while GitHub gives no tokens, it is asked four times in the first minute and once in two later", async () => {
  github.faults.until(AWAY);

  const counts = await callsPerMinute(7);

  expect(counts[0]).toBe(4);
  expect(Math.max(...counts.slice(1))).toBe(1);
  expect(counts.slice(3).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2);
});

test("callers that wait for a token share one request, and a token is used for half an hour", async () => {
  const all = () => Promise.all([1, 2, 3].map(() => adapted.adapter.authorize(message)));

  await all();
  now += 29 * MINUTE_MS;
  await all();
  expect(github.calls("POST", TOKENS)).toHaveLength(1);

  now += 2 * MINUTE_MS;
  await all();
  expect(github.calls("POST", TOKENS)).toHaveLength(2);
});

test("the pause ends with the first token, and the next failure begins with the shortest pause", async () => {
  const restore = github.faults.until(AWAY);
  await callsPerMinute(3);
  restore();
  now += 2 * MINUTE_MS;
  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });

  now += 31 * MINUTE_MS;
  github.faults.until(AWAY);
  expect((await callsPerMinute(1))[0]).toBe(4);
});

test("a pause of tokens also holds back the key for git", async () => {
  const access = await adapted.openRepository(`${new URL(github.apiUrl).origin}/acme/widgets.git`);
  github.faults.until(AWAY);
  await expect(adapted.adapter.authorize(message)).rejects.toMatchObject({ retryable: true });
  const before = github.calls().length;

  await expect(access?.authorization()).rejects.toMatchObject({ code: "resource_unavailable" });

  expect(github.calls()).toHaveLength(before);
});

test("a revoked token is replaced once, and the call is repeated", async () => {
  await adapted.adapter.authorize(message);
  github.revokeTokens();

  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });

  expect(github.calls("GET", PERMISSION).map(({ outcome }) => outcome)).toEqual(["200", "401", "200"]);
  expect(github.calls("POST", TOKENS)).toHaveLength(2);
});

test("when GitHub asks to wait, no call of that installation is sent before", async () => {
  await adapted.adapter.authorize(message);
  const limit = { kind: "secondary-limit", retryAfterSeconds: 90 } as const;
  github.faults.next({ method: "POST", path: /\/comments$/, ...limit });
  await expect(adapted.adapter.deliver(aReply())).rejects.toMatchObject({
    options: { retryAfterMs: 90_000 },
  });
  const before = github.calls().length;

  now += 30_000;
  await expect(adapted.adapter.authorize(message)).rejects.toMatchObject({
    retryable: true,
    options: { retryAfterMs: 60_000 },
  });
  expect(github.calls()).toHaveLength(before);

  now += 60_000;
  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });
});
