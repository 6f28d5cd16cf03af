import type { RunId } from "../ids.ts";
import type { StoredThread, ThreadAddress, Verbosity } from "./thread.ts";

/** The threads outside in which runs were asked for. They are bound to runs by `RunChange`. */
export interface ThreadStore {
  find(address: ThreadAddress): Promise<StoredThread | undefined>;
  findById(id: string): Promise<StoredThread | undefined>;
  /** All threads that were ever bound to the run. */
  listOf(runId: RunId): Promise<readonly StoredThread[]>;
  setVerbosity(id: string, verbosity: Verbosity): Promise<void>;
}
