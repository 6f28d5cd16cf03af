import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { Figure } from "../bench.ts";
import { type Row, round } from "../report.ts";
import { ratioOf, spreadOf } from "../statistics.ts";

const run = promisify(execFile);
const STARTS = 20;
const RATIO_MAX = 3;
const PROGRAM = resolve(import.meta.dirname, "../../cli/bin/errand.js");

/** P20: `errand --version`, against a Node process that does nothing. */
export const cliStart: Figure = {
  names: ["P20"],
  measure: async ({ log }) => {
    log("P20: errand --version");
    const timeMs = async (...args: readonly string[]) => {
      const begun = performance.now();
      await run(process.execPath, [...args]);
      return performance.now() - begun;
    };
    await timeMs(PROGRAM, "--version");
    const timesMs: Record<"cli" | "floor", number[]> = { cli: [], floor: [] };
    for (let index = 0; index < STARTS; index += 1) {
      timesMs.cli.push(await timeMs(PROGRAM, "--version"));
      timesMs.floor.push(await timeMs("-e", "0"));
    }
    return [rowOf(timesMs)];
  },
};

function rowOf({ cli, floor }: Readonly<Record<"cli" | "floor", readonly number[]>>): Row {
  const { max, median, min } = ratioOf(cli, floor);
  return {
    figure: "P20",
    what: "errand --version",
    ours: `${round(spreadOf(cli).median)} ms`,
    floor: `${round(spreadOf(floor).median)} ms`,
    ratio: `${round(median)} (${round(min)}–${round(max)})`,
    goal: `≤ ${RATIO_MAX}`,
    verdict: median <= RATIO_MAX ? "reached" : "MISSED",
  };
}
