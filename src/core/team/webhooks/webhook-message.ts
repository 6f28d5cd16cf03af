import { defined } from "../../basics/defined.ts";
import type { RunDefinition, StatusMessage } from "../../model/runs/run.ts";
import { patchLink, type RunOutcome } from "../../model/runs/run-outcome.ts";
import {
  type StateChangeEvent,
  typeOf,
  type WebhookEndpoint,
  type WebhookMessage,
} from "../../model/webhooks/webhook.ts";
import type { VisibleEvent, VisibleRun } from "../../ports/stores/webhook-stores.ts";

export interface MessageTools {
  readonly sessionLink: (run: Pick<RunDefinition, "sessionId">) => string;
  readonly redact: (text: string) => string;
}

/** The member names are those of the API's `RunItem`, and the values are those at the time of the event. */
export function runMessage(
  run: VisibleRun,
  { at, body, seq }: VisibleEvent,
  tools: MessageTools,
): WebhookMessage {
  const [parentId] = run.ancestorIds;
  const data = {
    run_id: run.id,
    seq,
    ...movedTo(body, tools.sessionLink(run)),
    title: run.title,
    source: run.source,
    created_at: run.createdAt,
    session_link: tools.sessionLink(run),
    conversation_id: run.conversationId,
    ...defined({
      parent_run_id: parentId,
      trigger_url: run.triggerUrl,
      metadata: Object.keys(run.metadata).length === 0 ? undefined : run.metadata,
    }),
  };
  const { type, body: text } = message(typeOf(body), at, data);
  return { type, body: tools.redact(text) };
}

export function testMessage({ id }: WebhookEndpoint, now: Date): WebhookMessage {
  return message("webhook.test", now, { webhook_id: id });
}

export function disabledMessage({ id, url }: WebhookEndpoint, reason: string, now: Date): WebhookMessage {
  return message("webhook.disabled", now, { webhook_id: id, url, reason });
}

function message(type: WebhookMessage["type"], at: Date, data: object): WebhookMessage {
  return { type, body: JSON.stringify({ type, timestamp: at, data }) };
}

function movedTo(move: StateChangeEvent, sessionLink: string): object {
  if (move.kind === "run.created") {
    return { state: move.state };
  }
  const { from, outcome, status, to } = move;
  return defined({
    state: to,
    previous_state: from,
    status_message: status === undefined ? undefined : statusMessageOf(status),
    outcome: outcome === undefined ? undefined : outcomeItem(outcome, sessionLink),
  });
}

function outcomeItem({ changes, pullRequest, refused, summary }: RunOutcome, sessionLink: string): object {
  const parts = refused?.map((part) => ({ ...part, patch_url: patchLink(sessionLink) }));
  return { summary, pull_request: pullRequest, changes, refused: parts };
}

/** Texts of agents and of other servers may be long. */
const WORDS_MAX = 2_000;

function statusMessageOf({ message, errorCode, reason, remedy, retryable }: StatusMessage): object {
  const words = message.length > WORDS_MAX ? `${message.slice(0, WORDS_MAX).toWellFormed()}…` : message;
  return { message: words, error_code: errorCode, retryable, reason, remedy };
}
