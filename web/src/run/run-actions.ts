import type { RunItem, RunState } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { copy } from "../parts/copy.ts";
import type { IconName } from "../parts/icon.tsx";
import { hasEnded } from "../parts/state.tsx";
import { say, sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { runInAddress, VISITOR } from "../server/page.ts";
import { queries } from "../server/queries.ts";
import { useMay } from "../server/rights.ts";

interface Look {
  readonly name: string;
  readonly icon: IconName;
  /** The key that does it on the page of the run. */
  readonly key?: string;
  /** The name while the server has not answered. */
  readonly busy?: string;
}

/** All actions, the most urgent first. */
const LOOKS = {
  answer: { name: "Answer", icon: "needs", key: "a" },
  review: { name: "Review", icon: "needs", key: "a" },
  pause: { name: "Pause", icon: "clock", busy: "Pausing…" },
  stop: { name: "Stop", icon: "stateStopped", key: "e", busy: "Stopping…" },
  retry: { name: "Retry", icon: "retry", busy: "Starting…" },
  changes: { name: "Compare the changes", icon: "code" },
  link: { name: "Copy the link", icon: "link" },
  share: { name: "Share", icon: "share" },
  again: { name: "Run again with changes", icon: "edit" },
  transcript: { name: "Download the event log", icon: "file" },
} as const satisfies Record<string, Look>;

export type ActionId = keyof typeof LOOKS;
const IDS = Object.keys(LOOKS) as readonly ActionId[];

/** Something that can be done with a run now. */
export interface RunAction extends Look {
  readonly id: ActionId;
  readonly isPending: boolean;
  readonly perform: () => void;
}

/** What can be done with the run in this state. */
export function useRunActions(run: RunItem, state: RunState, onShare: () => void): readonly RunAction[] {
  const { run_id: id } = run;
  const isMember = VISITOR === "member";
  const mayWrite = useMay("runs:write") !== false && isMember;
  const isOver = hasEnded(state);
  const navigate = useNavigate();
  const answer = useGoToQuestion(id);
  const pause = useStep(id, () => client.runs.interrupt(id), "The turn ends. Write what to do next.");
  const stop = useStep(id, () => client.runs.cancel(id), "The run is stopped.");
  const retry = useRetry(id);
  const question = state === "BLOCKED" && run.waiting_for?.may_decide === true ? questionKey(run) : undefined;
  const isApproval = run.waiting_for?.reason === "approval";
  const mayPause = state === "INPROGRESS" || (state === "BLOCKED" && run.permission !== undefined);
  const offered: Readonly<Record<ActionId, false | (() => void)>> = {
    answer: question !== undefined && !isApproval && (() => answer(question)),
    review: question !== undefined && isApproval && (() => answer(question)),
    pause: mayWrite && mayPause && pause.mutate,
    stop: mayWrite && !isOver && stop.mutate,
    retry: mayWrite && isOver && retry.mutate,
    changes: () => void navigate({ to: "/runs/$id", params: { id }, search: { tab: "changes" } as never }),
    link: () => void copy(linkTo(id), "Link"),
    share: mayWrite && onShare,
    again: mayWrite && (() => void navigate({ to: "/new", search: { from: id } })),
    transcript: isMember && (() => window.location.assign(`/api/v1/agent/runs/${id}/transcript`)),
  };
  const steps: Partial<Record<ActionId, { readonly isPending: boolean }>> = { pause, stop, retry };
  return IDS.flatMap((each) => {
    const perform = offered[each];
    const isPending = steps[each]?.isPending ?? false;
    return perform === false ? [] : [{ id: each, ...LOOKS[each], isPending, perform: () => perform() }];
  });
}

/** Starts the same run again and opens it. */
export function useRetry(runId: string) {
  return useMutation({
    mutationFn: () => client.runs.retry(runId),
    onSuccess: ({ run_id: id }) => window.location.assign(`/runs/${id}`),
    onError: sayProblem,
  });
}

function useStep(runId: string, step: () => Promise<unknown>, done: string) {
  return useMutation({
    mutationFn: step,
    onSuccess: () => say(done),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
}

/** The key of the entry in which a person decides. Undefined: the run waits for no decision. */
function questionKey({ approval, permission }: RunItem): string | undefined {
  if (permission !== undefined) {
    return `question-${permission.permission_id}`;
  }
  return approval && `approval-${approval.id}`;
}

function useGoToQuestion(id: string): (key: string) => void {
  const navigate = useNavigate();
  return async (key) => {
    if (runInAddress(window.location.pathname) !== id) {
      await navigate({ to: "/runs/$id", params: { id }, hash: key });
      return;
    }
    await navigate({ to: ".", search: (before: object) => ({ ...before, tab: undefined }) as never });
    // The open conversation listens for this change.
    window.location.hash = "";
    window.location.hash = key;
  };
}

/** The address that is open may have more than the run: an entry, a tab, or the right of a guest. */
function linkTo(id: string): string {
  const { href, origin, pathname } = window.location;
  return runInAddress(pathname) === id ? href : `${origin}/runs/${id}`;
}
