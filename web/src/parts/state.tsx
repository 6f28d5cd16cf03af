import type { RunState } from "@errand/client";
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
  BLOCKED: { word: "Needs you", icon: "stateNeeds", tone: "needs" },
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

/** The state in words, with an icon and a colour. `pill`: on a ground of its colour. `wordHidden`: only for screen readers. */
export function State({
  state,
  pill = false,
  wordHidden = false,
}: {
  readonly state: RunState;
  readonly pill?: boolean;
  readonly wordHidden?: boolean;
}) {
  const { word, icon, tone } = STATES[state];
  return (
    <span className={`state ${tone} ${pill ? "pill" : ""}`}>
      <Icon name={icon} className={icon === "stateWorking" ? "turning" : ""} />
      <span className={wordHidden ? "sr" : ""}>{word}</span>
    </span>
  );
}
