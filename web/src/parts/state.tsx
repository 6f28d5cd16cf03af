import type { RunItem, RunState } from "@errand/client";
import { decidersText, needsWord } from "./deciders.ts";
import { Icon, type IconName } from "./icon.tsx";

interface Look {
  readonly word: string;
  readonly icon: IconName;
  /** The class that gives the colour. */
  readonly tone: "" | "work" | "needs" | "done" | "fail" | "error";
}

/** How people read the states of a run. */
export const STATES: Readonly<Record<RunState, Look>> = {
  QUEUED: { word: "Waiting", icon: "stateWaiting", tone: "" },
  PENDING: { word: "Preparing", icon: "statePreparing", tone: "" },
  CLAIMED: { word: "Starting", icon: "stateStarting", tone: "" },
  INPROGRESS: { word: "Working", icon: "stateWorking", tone: "work" },
  BLOCKED: { word: "Needs a person", icon: "stateNeeds", tone: "needs" },
  SUCCEEDED: { word: "Done", icon: "stateDone", tone: "done" },
  FAILED: { word: "Failed", icon: "stateFailed", tone: "fail" },
  ERROR: { word: "Error", icon: "stateError", tone: "error" },
  CANCELLED: { word: "Stopped", icon: "stateStopped", tone: "" },
};

export const RUNNING_STATES: readonly RunState[] = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"];
const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

export function hasEnded(state: RunState): boolean {
  return ENDED.has(state);
}

type Shown = Pick<RunItem, "waiting_for" | "outcome">;

/** What a run that succeeded did not do. Undefined: nothing is missing. */
function shortfall(state: RunState, { outcome }: Shown): string | undefined {
  const kinds = new Set((outcome?.refused ?? []).map(({ what }) => what));
  if (state !== "SUCCEEDED" || kinds.size === 0) {
    return undefined;
  }
  if (kinds.has("push")) {
    return "Done, not pushed";
  }
  return kinds.has("pull_request") ? "Done, no pull request" : "Done, files missing";
}

/** How the reader reads the state of this run, such as `Needs you` or `Needs Dana`. */
export function stateWord(state: RunState, run: Shown): string {
  const missing = shortfall(state, run);
  if (missing !== undefined) {
    return missing;
  }
  if (state === "BLOCKED") {
    return run.waiting_for?.reason === "instructions" ? "Paused" : needsWord(run);
  }
  return STATES[state].word;
}

/** The state in words, with an icon and a colour. `pill`: on a ground of its colour. */
export function State({
  state,
  run,
  pill = false,
}: {
  readonly state: RunState;
  readonly run: Shown;
  readonly pill?: boolean;
}) {
  const { icon, tone } = STATES[shortfall(state, run) === undefined ? state : "ERROR"];
  const names = state === "BLOCKED" ? decidersText(run) : "";
  return (
    <span
      className={`state ${tone} ${pill ? "pill" : ""}`}
      title={names === "" ? undefined : `${names} may decide.`}
    >
      <Icon name={icon} className={icon === "stateWorking" ? "turning" : ""} />
      <span className="one" dir="auto">
        {stateWord(state, run)}
      </span>
    </span>
  );
}
