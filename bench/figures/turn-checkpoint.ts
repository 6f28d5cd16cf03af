import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RunId, TeamId } from "../../src/core/basics/ids.ts";
import type { StoredWithinTurn } from "../../src/core/model/workspaces/workspace.ts";
import type { Preparation, WorkspaceProvider } from "../../src/core/ports/workspace-provider.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import { createWorkspaceProvider } from "../../src/workspace/workspace-provider.ts";
import type { Figure } from "../bench.ts";
import { type Row, round } from "../report.ts";
import { ratioOf, spreadOf } from "../statistics.ts";

const run = promisify(execFile);
const FILES = 3_000;
const FILE_BYTES = 50 * 1_024;
const CHANGED = 20;
const ROUNDS = 10;
const RATIO_MAX = 3;
const WHOLE_MAX = 0.1;
const MAX_BYTES = 2 ** 30;
const NEVER = new AbortController().signal;

/**
 * P22: storing 20 changed files of a workspace with 3,000 files and 150 MiB, against GNU tar with an incremental list,
 * and against a whole checkpoint. The bytes are random, so that compression does not hide what is read.
 */
export const turnCheckpoint: Figure = {
  names: ["P22"],
  measure: async ({ folder, log }) => {
    log("P22: changes within a turn");
    const provider = openProvider(folder);
    const runId = randomUUID() as RunId;
    const { directory } = await provider.prepare(preparationOf(runId));
    await fill(directory);
    const list = await listFiles(folder, directory);
    let stored: StoredWithinTurn | undefined;
    const wholeMs = await timeOf(async () => {
      stored = await provider.storeWithinTurn(runId, undefined, NEVER);
    });
    const timesMs: Record<"ours" | "floor", number[]> = { ours: [], floor: [] };
    for (let index = 0; index < ROUNDS; index += 1) {
      await change(directory);
      timesMs.ours.push(await timeOf(() => provider.storeWithinTurn(runId, stored, NEVER)));
      await copyFile(list, `${list}.copy`);
      timesMs.floor.push(await timeOf(() => pack(folder, directory, `${list}.copy`)));
    }
    return rowsOf(timesMs, wholeMs);
  },
};

function openProvider(folder: string): WorkspaceProvider {
  const dataDir = join(folder, `workspaces-${randomUUID()}`);
  const silent = () => undefined;
  return createWorkspaceProvider({
    dataDir,
    blobs: { put: async () => randomUUID(), get: notUsed, remove: async () => undefined },
    sandbox: createLocalSandbox(dataDir),
    repositories: { find: notUsed, clone: notUsed },
    variablesOf: () => ({}),
    setup: { commandMs: 1, totalMs: 1 },
    log: { info: silent, warn: silent, error: silent },
    maxBytes: MAX_BYTES,
  });
}

function preparationOf(runId: RunId): Preparation {
  return {
    runId,
    teamId: randomUUID() as TeamId,
    initialContents: async () => ({ files: [] }),
    plan: { repositories: [], setupCommands: [] },
    // Nothing is cloned and no command runs, so nothing uses it.
    gateway: {} as Preparation["gateway"],
    variables: {},
    report: () => undefined,
    signal: NEVER,
  };
}

function notUsed(): never {
  throw new Error("The benchmark does not use this.");
}

async function fill(directory: string): Promise<void> {
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(directory, `folder-${index % 100}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${index}.bin`), randomBytes(FILE_BYTES));
  }
}

async function change(directory: string): Promise<void> {
  for (let index = 0; index < CHANGED; index += 1) {
    await writeFile(join(directory, `folder-${index}`, `${index}.bin`), randomBytes(FILE_BYTES));
  }
}

/** The list that tells GNU tar what it has packed before. */
async function listFiles(folder: string, directory: string): Promise<string> {
  const list = join(folder, `list-${randomUUID()}`);
  await pack(folder, directory, list);
  return list;
}

async function pack(folder: string, directory: string, list: string): Promise<void> {
  const archive = join(folder, "incremental.tar.gz");
  await run("tar", ["--listed-incremental", list, "-czf", archive, "-C", directory, "."]);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function rowsOf(
  { floor, ours }: Readonly<Record<"ours" | "floor", readonly number[]>>,
  wholeMs: number,
): Row[] {
  const { max, median, min } = ratioOf(ours, floor);
  const ofWhole = spreadOf(ours).median / wholeMs;
  return [
    {
      figure: "P22",
      what: "store 20 changed files of 3,000 with 150 MiB",
      ours: `${round(spreadOf(ours).median)} ms`,
      floor: `${round(spreadOf(floor).median)} ms`,
      ratio: `${round(median)} (${round(min)}–${round(max)})`,
      goal: `≤ ${RATIO_MAX}`,
      verdict: median <= RATIO_MAX ? "reached" : "MISSED",
    },
    {
      figure: "P22",
      what: "the same against a whole checkpoint",
      ours: `${round(spreadOf(ours).median)} ms`,
      floor: `${round(wholeMs)} ms`,
      ratio: round(ofWhole),
      goal: `≤ ${WHOLE_MAX}`,
      verdict: ofWhole <= WHOLE_MAX ? "reached" : "MISSED",
    },
  ];
}
