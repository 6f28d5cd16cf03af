import type { RunEvent } from "../core/model/runs/events.ts";
import type { FollowUp } from "../core/model/runs/follow-up.ts";
import type { StoredThread } from "../core/model/threads/thread.ts";
import { parseEventBody } from "./event-body.ts";
import type {
  FollowUp as FollowUpRow,
  RunEvent as RunEventRow,
  Thread as ThreadRow,
} from "./generated/client.ts";
import { APPROVAL, FOLLOW_UP_FILES, LINE_COMMENTS, OTHER_MEMBERS } from "./json-columns.ts";
import { parseJsonColumn, withoutNulls } from "./rows.ts";

/** Rows that belong to runs, as the domain's types. */
export function eventOf(row: RunEventRow): RunEvent {
  const { runId, seq, turn, at } = row;
  return { runId, seq, turn, at, body: parseEventBody(row.body, runId, seq) };
}

export function followUpOf(row: FollowUpRow): FollowUp {
  return withoutNulls<FollowUp>({
    id: row.id,
    runId: row.runId,
    seq: row.seq,
    message: row.message,
    context: row.context,
    comments:
      row.comments === null
        ? null
        : parseJsonColumn(LINE_COMMENTS, row.comments, {
            table: "follow_ups",
            id: row.id,
            column: "comments",
          }),
    files:
      row.files === null
        ? null
        : parseJsonColumn(FOLLOW_UP_FILES, row.files, { table: "follow_ups", id: row.id, column: "files" }),
    messageRef: row.messageRef,
    threadId: row.threadId,
    mode: row.mode,
    delivery: row.delivery,
    private: row.private,
    authorId: row.authorId,
    byGuest: row.byGuest ? true : null,
    actor:
      row.actor === null
        ? null
        : parseJsonColumn(OTHER_MEMBERS, row.actor, { table: "follow_ups", id: row.id, column: "actor" }),
    source: row.source,
    createdAt: row.createdAt,
    turn: row.turn,
    editedAt: row.editedAt,
    withdrawnAt: row.withdrawnAt,
    resumes: row.resumes || null,
    isAnswer: row.isAnswer || null,
    isReport: row.isReport || null,
    asksForPullRequest: row.asksForPullRequest || null,
    approval:
      row.approval === null
        ? null
        : parseJsonColumn(APPROVAL, row.approval, { table: "follow_ups", id: row.id, column: "approval" }),
  });
}

export function threadOf(row: ThreadRow): StoredThread {
  const { id, adapter, createdAt, installation, needsMention, participants, showsCard } = row;
  return withoutNulls<StoredThread>({
    id,
    adapter,
    installation,
    key: row.key,
    runId: row.runId,
    verbosity: row.verbosity,
    participants,
    needsMention,
    showsCard,
    createdAt,
  });
}
