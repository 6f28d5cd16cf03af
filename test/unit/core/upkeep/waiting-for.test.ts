import { expect, test } from "vitest";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type { Availability } from "../../../../src/core/upkeep/capacity.ts";
import { newRunWaitsFor, waitingFor } from "../../../../src/core/upkeep/waiting-for.ts";
import { anApproval, aRun } from "../../../support/run-builders.ts";

const SINCE = new Date("2026-03-01T12:00:00.000Z");
const NOW = new Date("2026-03-01T12:01:00.000Z");
const QUESTION = { permissionId: "p", title: "May I?", options: [], askedAt: SINCE };
const ANSWERED = { ...QUESTION, answer: null };
const APPROVAL = anApproval({ reason: "Costs." });

test.each<[string, Partial<Run>, Availability | undefined, string | undefined]>([
  ["needs approval", { state: "BLOCKED", approval: APPROVAL }, undefined, "approval"],
  [
    "asks after its approval",
    { state: "BLOCKED", approval: APPROVAL, permission: QUESTION },
    "busy",
    "question",
  ],
  ["names an absent host", { config: { worker_host: "big" } }, "absent", "worker_host"],
  ["names a busy host", { config: { worker_host: "big" } }, "busy", "capacity"],
  ["finds all workers busy", {}, "busy", "capacity"],
  ["finds no worker", {}, "absent", "capacity"],
  ["belongs to a team at its quota", {}, "limited", "quota"],
  ["finds a free worker", {}, "free", undefined],
  ["finds workers of unknown load", {}, undefined, undefined],
  ["is held by a worker", { lease: { token: "t" as never, worker: "w" } }, "busy", undefined],
  [
    "has an answer that its agent has not got",
    { state: "INPROGRESS", permission: ANSWERED },
    "free",
    "capacity",
  ],
  ["is worked on", { state: "INPROGRESS" }, "busy", undefined],
])("a run that %s waits as expected", (_what, changes, availability, reason) => {
  const waits = waitingFor(aRun({ stateSince: SINCE, ...changes }), availability, NOW);

  expect(waits?.reason).toBe(reason);
  expect(waits?.since).toEqual(reason && SINCE);
});

test("a run whose question was answered just now does not wait for a slot", () => {
  const run = aRun({ state: "INPROGRESS", permission: ANSWERED, stateSince: SINCE });

  expect(waitingFor(run, "busy", new Date(SINCE.getTime() + 1_000))).toBeUndefined();
});

test("a run that was queued just now does not wait for capacity, unless it was created just now", () => {
  const run = aRun({ stateSince: SINCE });

  expect(waitingFor(run, "busy", new Date(SINCE.getTime() + 1_000))).toBeUndefined();
  expect(newRunWaitsFor(run, "busy")).toMatchObject({ reason: "capacity", since: SINCE });
});
