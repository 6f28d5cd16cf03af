import { afterEach, beforeEach, expect, test } from "vitest";
import type { LostEvents, RecoveryStep } from "../../../../src/core/threads/inbox/event-recovery.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { aListedDelivery } from "../../../support/github/github-app-settings.ts";
import { adapterOn } from "./github-fixture.ts";

const HOUR_MS = 3_600_000;
const DELIVERY = /\/deliveries\/\d+$/;

let github: EmulatedGithub;
let lostEvents: LostEvents;
let now: number;
let issue: Written;

beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00Z");
  github = await startEmulatedGithub();
  lostEvents = adapterOn(github, { now: () => now }).lostEvents;
  issue = await github.openIssue("olivia", { title: "Broken", body: "" });
});

afterEach(() => github.stop());

async function lose(body: string, hoursAgo = 1): Promise<string> {
  const written = await github.commentAs("wendy", issue.number, body);
  return github.loseWebhook(written, new Date(now - hoursAgo * HOUR_MS));
}

async function search(cursor?: string, stored: readonly string[] = []): Promise<RecoveryStep[]> {
  const steps: RecoveryStep[] = [];
  for await (const step of lostEvents.find(cursor, async () => new Set(stored))) {
    steps.push(step);
  }
  return steps;
}

function deliveriesIn(steps: readonly RecoveryStep[]): string[] {
  return steps.flatMap(({ events }) => events.map(({ deliveryId }) => deliveryId));
}

test("deliveries that failed become events, oldest first, with the ordering key and body of the webhook", async () => {
  const first = await lose("@errand one", 2);
  const second = await lose("@errand two", 1);

  const [step, ...others] = await search();

  expect(others).toEqual([]);
  expect(step?.events).toMatchObject([
    { adapter: "github", deliveryId: first, name: "issue_comment" },
    { deliveryId: second, orderingKey: `github:${github.repo.id}/issues/${issue.number}` },
  ]);
  const payload = JSON.parse(step?.events[1]?.body ?? "");
  expect(payload).toMatchObject({ action: "created", comment: { body: "@errand two" } });
});

test("deliveries that are stored, or that the webhook would not store, are not read", async () => {
  const stored = await lose("@errand one");
  const missing = await lose("@errand two");
  const unused = aListedDelivery(502, { event: "star", action: "created", guid: "a star" });
  github.settings.deliveries = [unused, ...github.settings.deliveries];

  expect(deliveriesIn(await search(undefined, [stored]))).toEqual([missing]);

  expect(github.calls("GET", DELIVERY)).toHaveLength(1);
});

test("pushes and commit statuses, whose events have no action, are found again as well", async () => {
  const repository = { id: github.repo.id };
  const pushed = { event: "push", payload: { ref: "refs/heads/main", repository } } as const;
  const failed = {
    event: "status",
    payload: { sha: "c0ffee", state: "failure", branches: [], repository },
  } as const;
  const guids = [pushed, failed].map((event) => github.loseWebhook(event, new Date(now - HOUR_MS)));

  expect(deliveriesIn(await search())).toEqual(guids);
});

test("several attempts of one delivery are read once", async () => {
  const guid = await lose("@errand one");
  const [attempt = {}] = github.settings.deliveries;
  github.settings.deliveries = [{ ...attempt, id: "9107199254740993" }, ...github.settings.deliveries];

  expect(deliveriesIn(await search())).toEqual([guid]);
});

test("the next search reads only what failed since, except for a quarter of an hour", async () => {
  const before = await lose("@errand one", 1);
  const [step] = await search();
  now += HOUR_MS;
  const since = await lose("@errand two", 0);

  const steps = await search(step?.cursor, [before]);

  expect(deliveriesIn(steps)).toEqual([since]);
  await lose("@errand too late", 1.5);
  expect(deliveriesIn(await search(steps.at(-1)?.cursor, [since]))).toEqual([]);
});

test("a long list is read page by page, and an interrupted search continues at its page", async () => {
  const lost: string[] = [];
  for (let count = 0; count < 70; count += 1) {
    lost.push(await lose(`@errand ${count}`));
  }
  const [first, ...others] = await search();
  expect(first?.events).toHaveLength(30);
  expect(others).toHaveLength(2);

  const rest = await search(first?.cursor);

  expect(deliveriesIn(rest)).toEqual([...lost.slice(10, 40), ...lost.slice(0, 10)]);
  // Complete: only the last quarter of an hour is searched again.
  expect(deliveriesIn(await search(rest.at(-1)?.cursor))).toEqual([]);
});

test("a cursor that GitHub no longer knows, and one that cannot be read, begin the search again", async () => {
  const guid = await lose("@errand one");
  const current = { begunAtMs: now, page: "v1_1" };

  expect(deliveriesIn(await search(JSON.stringify({ sinceMs: 0, current })))).toEqual([guid]);
  expect(deliveriesIn(await search("{"))).toEqual([guid]);
});

test("a delivery that GitHub has deleted meanwhile does not stop the others", async () => {
  const guid = await lose("@errand one");
  await lose("@errand two");
  const [gone, kept] = github.settings.deliveries;
  const listed = [gone, kept].map((delivery) => ({ ...delivery, payload: undefined }));
  github.settings.deliveries = [{ ...listed[0], action: "created", payload: {} }, kept ?? {}];

  expect(deliveriesIn(await search())).toEqual([guid]);
});

test("when GitHub is away, the search fails and the cursor stays", async () => {
  await lose("@errand one");
  github.faults.next({ method: "GET", path: DELIVERY, kind: "502" });

  await expect(search()).rejects.toMatchObject({ code: "resource_unavailable" });
});
