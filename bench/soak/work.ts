import type { ApiClient } from "../../test/support/api-client.ts";

export const REPOSITORY = "acme/shop";
const ENDED = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"];

interface Work {
  readonly prompt: string;
  readonly followUp?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly isCancelled?: boolean;
  /** How the run ends. */
  readonly state: string;
}

/** What the runs of a day do, in turns. */
const KINDS_OF_WORK: readonly Work[] = [
  { prompt: "write note.txt of the day\nsay done", state: "SUCCEEDED" },
  { prompt: "shell seq 1 200000", state: "SUCCEEDED" },
  {
    prompt: "read README.md\nshell head -c 2000000 /dev/urandom > build.bin",
    config: { repository: REPOSITORY, pull_request: "off" },
    state: "SUCCEEDED",
  },
  { prompt: "write note.txt first", followUp: "read note.txt\nwrite note.txt second", state: "SUCCEEDED" },
  { prompt: "flood 2000", state: "SUCCEEDED" },
  { prompt: "shell sleep 900", isCancelled: true, state: "CANCELLED" },
  { prompt: "Please look at the files.", state: "SUCCEEDED" },
  { prompt: "write note.txt in vain\nfail", state: "ERROR" },
];

export const KINDS_COUNT = KINDS_OF_WORK.length;

/** Does the work with this number and returns its run, which has ended. */
export async function doWork(api: ApiClient, index: number, patienceMs: number): Promise<string> {
  const work = KINDS_OF_WORK[index % KINDS_COUNT];
  if (work === undefined) {
    throw new Error("There is no work.");
  }
  const runId = await api.createRun(work.prompt, work.config === undefined ? {} : { config: work.config });
  const ended = () => api.waitForState(runId, ENDED, patienceMs);
  if (work.isCancelled) {
    await api.waitForState(runId, "INPROGRESS", patienceMs);
    await api.cancel(runId);
  }
  const run = await ended();
  if (run.state !== work.state) {
    throw new Error(`"${work.prompt}" is ${run.state}: ${run.status_message?.message}`);
  }
  if (work.followUp !== undefined) {
    await continueRun(api, { runId, message: work.followUp, patienceMs });
  }
  return runId;
}

/** Sends a follow-up to a run that has ended, and waits for the end of its turn. */
export async function continueRun(
  api: ApiClient,
  { runId, message, patienceMs }: { runId: string; message: string; patienceMs: number },
): Promise<void> {
  await api.followUp(runId, message);
  const { state } = await api.waitForState(runId, ENDED, patienceMs);
  if (state !== "SUCCEEDED") {
    throw new Error(`"${message}" is ${state}.`);
  }
}
