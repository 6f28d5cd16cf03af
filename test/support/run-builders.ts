import { randomUUID } from "node:crypto";
import { sha256 } from "../../src/app/system.ts";
import { newId, type PrincipalId, type RunId, type ThreadKey } from "../../src/core/basics/ids.ts";
import type { Principal } from "../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import type { FollowUp } from "../../src/core/model/runs/follow-up.ts";
import type { Approval, Run, RunDefinition } from "../../src/core/model/runs/run.ts";
import type { Notice } from "../../src/core/model/threads/notice.ts";
import type { ThreadBinding } from "../../src/core/model/threads/thread.ts";
import type { RunChange } from "../../src/core/ports/stores/run-change.ts";
import type { InboxEvent } from "../../src/core/ports/thread-adapter.ts";
import { newRunAggregate } from "../../src/core/requests/prepare/new-run.ts";

/** Values with defaults. A test names only the members that it is about. */
export function anOrigin(changes: Partial<RunDefinition> = {}): RunDefinition {
  const createdAt = changes.createdAt ?? new Date("2026-03-01T12:00:00.000Z");
  return {
    id: newId<RunId>(createdAt),
    teamId: FIRST_TEAM,
    title: "Fix the parser",
    prompt: "Fix the parser, please",
    source: "API",
    creatorId: newId<PrincipalId>(createdAt),
    teamOwned: true,
    config: {},
    agent: "demo",
    metadata: {},
    ancestorIds: [],
    conversationId: newId(createdAt),
    sessionId: newId(createdAt),
    provenance: {},
    createdAt,
    ...changes,
  };
}

export function aPrincipal(changes: Partial<Principal> = {}): Principal {
  const createdAt = new Date("2026-03-01T12:00:00.000Z");
  const id = newId<PrincipalId>(createdAt);
  const plain = { type: "user", administrator: false, disabled: false } as const;
  return { id, teamId: FIRST_TEAM, ...plain, createdAt, ...changes };
}

export function aRun(changes: Partial<Run> = {}): Run {
  return { ...newRunAggregate(anOrigin()).run, ...changes };
}

export function anApproval(changes: Partial<Approval> = {}): Approval {
  const inputs = [{ text: "Fix the parser, please", attachments: [] }];
  const reason = "Production needs a second look.";
  return {
    id: randomUUID(),
    policyId: randomUUID(),
    reason,
    inputsHash: randomUUID(),
    inputs,
    authorIds: [],
    ...changes,
  };
}

/** For decisions about words whose author does not matter. */
export const APPROVAL_TOOLS = { digest: sha256, authorIds: [] } as const;

/** A change that stores only what the test names. */
export function aChange(run: Run, changes: Partial<RunChange> = {}): RunChange {
  return {
    progress: run,
    lease: undefined,
    events: [],
    followUps: [],
    takenFollowUps: undefined,
    notices: [],
    jobs: [],
    binding: undefined,
    inboxResult: undefined,
    idempotentResponse: undefined,
    ...changes,
  };
}

export function aFollowUp(run: Run, changes: Partial<FollowUp> = {}): Omit<FollowUp, "seq"> {
  return {
    id: randomUUID(),
    runId: run.id,
    message: "And the lexer",
    delivery: "queue",
    private: false,
    source: "API",
    authorId: run.creatorId,
    createdAt: new Date("2026-03-01T12:00:01.000Z"),
    ...changes,
  };
}

export function aThread(changes: Partial<ThreadBinding["thread"]> = {}): ThreadBinding["thread"] {
  const id = randomUUID();
  return { id, adapter: "memory", installation: "here", key: `thread-${id}` as ThreadKey, ...changes };
}

export function anInboxEvent(changes: Partial<InboxEvent> = {}): InboxEvent {
  const id = randomUUID();
  const receivedAt = new Date("2026-03-01T12:00:00.000Z");
  return {
    id,
    adapter: "memory",
    orderingKey: id,
    deliveryId: id,
    name: "message",
    body: "{}",
    receivedAt,
    ...changes,
  };
}

export function aReply(text: string): Notice {
  return { kind: "message", purpose: "reply", text };
}

export function aCard(run: Run, changes: Partial<Extract<Notice, { kind: "card" }>["card"]> = {}): Notice {
  const { id: runId, title, state, turn } = run;
  return {
    kind: "card",
    card: { runId, title, state, turn, sessionLink: "http://here/session", ...changes },
  };
}
