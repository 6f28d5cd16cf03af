import type { RunFollowup, RunItem } from "@errand/client";
import { createContext, useContext, useState } from "react";
import type { RunLog } from "./run-log.ts";

/** What the entries of a conversation need to know about their run. */
export interface RunContext {
  readonly run: RunItem | undefined;
  readonly runId: string;
  readonly log: RunLog;
  readonly agent: string;
  /** The names of the MCP servers of the run. */
  readonly servers: readonly string[];
  /** By id. A guest does not get them. */
  readonly followUps: ReadonlyMap<string, RunFollowup>;
  readonly hasEnded: boolean;
  readonly isGuest: boolean;
  /** The signed-in person. */
  readonly ownUid: string | undefined;
  /** Which bodies the reader opened or closed. It outlives rows that are scrolled out of sight. */
  readonly opened: Map<string, boolean>;
}

const Context = createContext<RunContext | undefined>(undefined);
export const RunContextProvider = Context.Provider;

export function useRun(): RunContext {
  const value = useContext(Context);
  if (value === undefined) {
    throw new Error("There is no run around this element.");
  }
  return value;
}

/** Whether a body is open. The choice of the reader precedes `isOpenFirst`. */
export function useOpened(key: string, isOpenFirst: boolean): readonly [boolean, (isOpen: boolean) => void] {
  const { opened } = useRun();
  const [chosen, setChosen] = useState(opened.get(key));
  const choose = (isOpen: boolean) => {
    opened.set(key, isOpen);
    setChosen(isOpen);
  };
  return [chosen ?? isOpenFirst, choose];
}
