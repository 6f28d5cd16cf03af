import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../../src/core/basics/errors.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const AGENT = "/api/v1/agent";
const MINUTE = 60_000;

async function linkOf(runId: string, key = harness.key): Promise<URL> {
  const answer = await call(harness, `${AGENT}/runs/${runId}/transcript`, { key });
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get("location") ?? "", harness.url);
}

function open({ pathname, search }: URL): Promise<Answer> {
  return call(harness, pathname + search, { key: null });
}

test("a transcript link opens without a key and returns the whole log, one event per line", async () => {
  const runId = await createRun(harness);
  await harness.edit(runId, (edit) => {
    for (let index = 0; index < 450; index += 1) {
      edit.record({ kind: "agent.message", text: `line\n${index}` });
    }
  });

  const answer = await open(await linkOf(runId));

  const lines = answer.text.trimEnd().split("\n");
  expect(answer.status).toBe(200);
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, index) => index + 1));
  expect(lines).toHaveLength(451);
  expect(JSON.parse(lines[450] ?? "")).toMatchObject({ kind: "agent.message", text: "line\n449" });
  expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  expect(answer.headers.get("content-disposition")).toContain(`attachment; filename="run-${runId}.jsonl"`);
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("a transcript link expires after five minutes", async () => {
  const link = await linkOf(await createRun(harness));

  harness.clock.aheadMs = 5 * MINUTE + 1_000;
  const answer = await open(link);
  harness.clock.aheadMs = 0;

  expect([answer.status, answer.body.code]).toEqual([403, "not_authorized"]);
  expect((await open(link)).status).toBe(200);
});

test.each(["run", "team", "expires", "signature"])(
  "a transcript link whose %s was changed opens nothing",
  async (name) => {
    const link = await linkOf(await createRun(harness));
    const other = await linkOf(await createRun(harness));
    const changed = { run: other.searchParams.get("run"), expires: "99999999999" }[name] ?? "x";
    link.searchParams.set(name, changed);

    expect((await open(link)).status).toBe(403);
  },
);

test("a transcript link without its signature is an invalid request", async () => {
  const link = await linkOf(await createRun(harness));
  link.searchParams.delete("signature");

  expect((await open(link)).status).toBe(400);
});

test("the signature of a transcript does not open an artifact", async () => {
  const link = await linkOf(await createRun(harness));
  const uid = link.searchParams.get("run");

  const answer = await call(harness, `${AGENT}/artifacts/${uid}/file${link.search}`, { key: null });

  expect(answer.status).toBe(403);
});

test("a caller who may not see the run gets no transcript link", async () => {
  const runId = await createRun(harness, { team: false });
  const key = await harness.addUser("eve");

  const statuses = await Promise.all([
    call(harness, `${AGENT}/runs/${runId}/transcript`, { key }),
    call(harness, `${AGENT}/runs/${runId}/transcript`, { key: null }),
    call(harness, `${AGENT}/runs/x/transcript`),
  ]);

  expect(statuses.map(({ status }) => status)).toEqual([404, 401, 404]);
});

test("the server logs no signature of a transcript link", async () => {
  const link = await linkOf(await createRun(harness));
  await open(link);

  expect(harness.logged.join("")).not.toContain(link.searchParams.get("signature"));
});

test("a transcript that cannot be read is answered with an error and no file", async () => {
  const link = await linkOf(await createRun(harness));
  const { readEvents } = harness.runs;
  harness.runs.readEvents = () => Promise.reject(new AppError("resource_unavailable", "Away."));

  const response = await fetch(link);
  harness.runs.readEvents = readEvents;

  expect(response.status).toBe(503);
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(response.headers.get("content-disposition")).toBeNull();
});

test("a slow reader of a transcript delays the reading and does not fill the memory", async () => {
  const runId = await createRun(harness);
  const text = "x".repeat(30_000);
  // About 30 pages of a mebibyte, of which the buffers of a socket hold a few.
  await harness.edit(runId, (edit) => {
    for (let index = 0; index < 1_000; index += 1) {
      edit.record({ kind: "agent.message", text });
    }
  });
  let pages = 0;
  const { readEvents } = harness.runs;
  harness.runs.readEvents = (...args) => {
    pages += 1;
    return readEvents.apply(harness.runs, args);
  };

  const response = await fetch(await linkOf(runId));
  const reader = response.body?.getReader();
  await reader?.read();
  const pagesBefore = pages;
  await reader?.cancel();
  harness.runs.readEvents = readEvents;

  expect(pagesBefore).toBeLessThan(20);
});
