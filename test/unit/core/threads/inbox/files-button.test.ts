import { beforeEach, expect, test } from "vitest";
import { MEBIBYTE } from "../../../../../src/core/basics/byte-units.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { AttachedFile } from "../../../../../src/core/model/threads/notice.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

test("the answer of a turn that made files offers them, and that of another turn does not", async () => {
  const runId = await aRunWithFiles(["report.md", 5]);
  await harness.receive({ text: "And the lexer" });

  const answers = messages().filter(({ purpose }) => purpose === "answer");

  expect(answers.map(({ offersFiles }) => offersFiles)).toEqual([{ runId, turn: 1 }, undefined]);
});

test("the button shows the files of its turn in the thread, once for any number of presses", async () => {
  const runId = await aRunWithFiles(["report.md", 5], ["chart.png", 3]);

  const ends = [await press(runId), await press(runId)];

  expect(ends).toEqual(["answered", "answered"]);
  const shown = messages().filter(({ attached }) => attached !== undefined);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({ purpose: "reply", text: 'Files of turn 1 of "Fix it".' });
  expect(names(shown[0]?.attached?.files)).toEqual(["chart.png", "report.md"]);
});

test("the button shows no files of another turn", async () => {
  const runId = await aRunWithFiles(["report.md", 5]);
  await aRunWithFiles(["chart.png", 3]);

  expect((await harness.currentRun()).turn).toBe(2);
  await press(runId);

  expect(names(messages().find(({ attached }) => attached !== undefined)?.attached?.files)).toEqual([
    "report.md",
  ]);
});

test("of many files the first ten are shown", async () => {
  const runId = await aRunWithFiles(
    ...Array.from({ length: 12 }, (_, index) => [`${index}.bin`, MEBIBYTE] as const),
  );

  await press(runId);

  const shown = messages().find(({ attached }) => attached !== undefined);
  expect(shown?.attached?.files).toHaveLength(10);
  expect(shown?.text).toMatch(/ 2 more are in the session/);
});

test("only as many files are shown as the limits allow, and the text says where the others are", async () => {
  const runId = await aRunWithFiles(["a.bin", 30 * MEBIBYTE], ["b.bin", 30 * MEBIBYTE], ["c.bin", MEBIBYTE]);

  await press(runId);

  const shown = messages().find(({ attached }) => attached !== undefined);
  expect(names(shown?.attached?.files)).toEqual(["a.bin", "c.bin"]);
  expect(shown?.text).toMatch(/ 1 more are in the session: http:\/\/here\/sessions\//);
});

test("the button of a turn without files says so", async () => {
  const runId = await aRunWithFiles();

  expect(await press(runId)).toBe("replied");
  expect(harness.repliesShown().at(-1)).toMatch(/^There is no file of this turn/);
});

test("the button does nothing for a run of another thread", async () => {
  await aRunWithFiles(["report.md", 5]);
  const { id } = await harness.create();

  expect(await press(id)).toBe("replied");
  expect(messages().some(({ attached }) => attached !== undefined)).toBe(false);
});

async function aRunWithFiles(
  ...files: readonly (readonly [name: string, sizeBytes: number])[]
): Promise<RunId> {
  const collected = files.map(([name, sizeBytes]) => {
    return { path: `artifacts/${name}`, blobId: `blob of ${name}`, sizeBytes, hash: name };
  });
  harness.workspaces.found.push({ files: collected, leftOut: [] });
  harness.agents.scripts.push(async ({ say }) => {
    say("Done.");
    return END_TURN;
  });
  await harness.receive({ text: "Fix it" });
  return (await harness.currentRun()).id;
}

function press(runId: RunId): Promise<string> {
  return harness.receive({ text: "", buttonAction: { kind: "files", runId, turn: 1 } });
}

function messages() {
  return harness.adapter.thread(KEY).flatMap(({ notice }) => (notice.kind === "message" ? [notice] : []));
}

function names(files: readonly AttachedFile[] = []): string[] {
  return files.map(({ name }) => name).toSorted();
}
