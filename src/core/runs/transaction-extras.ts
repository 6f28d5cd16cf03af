import type { AuditContext } from "../model/people/audit.ts";
import type { RequestOrigin } from "../model/policies/request-origin.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Run } from "../model/runs/run.ts";
import type { Notice } from "../model/threads/notice.ts";
import type { ThreadBinding } from "../model/threads/thread.ts";
import type { IdempotentResponse } from "../ports/stores/idempotency-store.ts";
import type { InboxResult } from "../ports/stores/inbox-store.ts";
import type { FollowUpEffect } from "./decide-follow-up.ts";
import type { RunEdit } from "./run-edit.ts";

/** The origin of a change, and what must be stored in the same transaction as the change. */
export interface TransactionExtras {
  /** Default: the API. */
  readonly from?: RequestOrigin;
  /** What the caller proved to be in the threads of the run. Asked for only if nothing else allows an approval. */
  readonly provenFrom?: () => Promise<readonly RequestOrigin[]>;
  readonly inboxResult?: Omit<InboxResult, "runId">;
  readonly binding?: ThreadBinding;
  /** Posted to the thread `threadId` only. */
  readonly threadNotices?: { readonly threadId: string; readonly notices: readonly Notice[] };
  /** Shown on the page of the run. */
  readonly warnings?: readonly string[] | undefined;
  /** If the change queues the run, the work begins this much later. */
  readonly startAfterMs?: number | undefined;
  /** The API key of the caller. If it was revoked, nothing is stored. */
  readonly apiKeyId?: string;
  /** The sign-in of the caller. If it has ended, nothing is stored. */
  readonly signInId?: string;
  /** Throws if the follow-up that is to be changed is not as the caller has seen it. */
  readonly checkBefore?: (followUp: FollowUp) => void;
  /** Named in audit entries. Default: the viewer. */
  readonly author?: AuditContext;
  /** Builds the response that is stored under the caller's idempotency key. */
  readonly responseFor?: (result: FollowUpResult) => IdempotentResponse;
  /** Posted to the thread of `threadNotices` too, after what the change did with a follow-up is known. */
  readonly noticesFor?: (effect: FollowUpEffect, run: Run) => readonly Notice[];
}

export interface FollowUpResult extends FollowUpEffect {
  /** The follow-up that was rewritten. */
  readonly followUp?: FollowUp;
  readonly run: Run;
}

/** Makes the extras parts of the change. `effect` is what the change did with a follow-up. */
export function addExtras(
  edit: RunEdit,
  extras: TransactionExtras,
  effect: Omit<FollowUpResult, "run"> = {},
): void {
  const { apiKeyId, binding, inboxResult, responseFor, signInId, startAfterMs = 0 } = extras;
  edit.attach({ apiKeyId, signInId });
  if (binding !== undefined) {
    edit.bind(binding);
  }
  edit.startAfterMs = startAfterMs;
  for (const warning of extras.warnings ?? []) {
    edit.warn(warning);
  }
  const { noticesFor, threadNotices } = extras;
  for (const notice of [...(threadNotices?.notices ?? []), ...(noticesFor?.(effect, edit.run) ?? [])]) {
    edit.notices.post(notice, threadNotices?.threadId);
  }
  if (inboxResult !== undefined) {
    edit.attach({ inboxResult: { ...inboxResult, runId: edit.run.id } });
  }
  edit.attach({ idempotentResponse: responseFor?.({ run: edit.run, ...effect }) });
}
