import type { RunId } from "../../basics/ids.ts";
import type { StoredThread, ThreadAddress, Verbosity } from "../../model/threads/thread.ts";

/** The outside threads in which runs were requested. `RunChange` binds them to runs. */
export interface ThreadStore {
  find(address: ThreadAddress): Promise<StoredThread | undefined>;
  findById(id: string): Promise<StoredThread | undefined>;
  /** All threads that were ever bound to the run. */
  listOf(runId: RunId): Promise<readonly StoredThread[]>;
  /** People whom the author of the current run mentioned. */
  addParticipants(id: string, subjects: readonly string[]): Promise<void>;
  setNeedsMention(id: string, needsMention: boolean): Promise<void>;
  setVerbosity(id: string, verbosity: Verbosity): Promise<void>;
}
