import type { FollowUp, Run, RunMode } from "../../model/runs/run.ts";
import type { PromptMode } from "../../ports/agent-runner.ts";

const WORDS: Readonly<Record<Exclude<RunMode, "normal">, string>> = {
  plan: "Make a plan for the following; change nothing.",
  orchestrate:
    "Split the following into parts, have each done by a helper of yours if you can start any, and put the results together.",
};

/**
 * The mode of a turn: that of its last follow-up with a mode. Without one, the first turn uses the mode of the run.
 */
export function modeOf(run: Run, followUps: readonly FollowUp[]): RunMode {
  const asked = followUps.findLast(({ mode }) => mode !== undefined)?.mode;
  return asked ?? (run.turn === 1 ? run.mode : undefined) ?? "normal";
}

export function promptModeOf(mode: RunMode): PromptMode {
  return mode === "normal" ? { name: mode, words: "" } : { name: mode, words: WORDS[mode] };
}
