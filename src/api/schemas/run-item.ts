import { z } from "zod";
import { ERROR_CODES } from "../../core/errors.ts";
import type { PrincipalId } from "../../core/ids.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import { RUN_SOURCES } from "../../core/runs/sources.ts";
import { AmbientAgentConfig } from "./run-config.ts";
import { RunState } from "./run-requests.ts";
import { Timestamp } from "./text.ts";

export const RunSourceType = z.enum(RUN_SOURCES).meta({ id: "RunSourceType" });

const RunStatusMessage = z
  .object({
    message: z.string(),
    error_code: z.enum(ERROR_CODES).optional(),
    retryable: z.boolean().optional(),
  })
  .meta({ id: "RunStatusMessage", description: "Why the run ended as it did, or what it waits for." });

const RunCreatorInfo = z
  .object({
    uid: z.string(),
    type: z.enum(["user", "service_account"]),
    display_name: z.string().optional(),
    email: z.string().optional(),
    photo_url: z.string().optional(),
  })
  .meta({ id: "RunCreatorInfo" });

export const RunItem = z
  .object({
    run_id: z.uuid(),
    task_id: z.uuid().describe("The same as `run_id`."),
    title: z.string(),
    prompt: z.string(),
    state: RunState,
    created_at: Timestamp,
    updated_at: Timestamp,
    is_sandbox_running: z.boolean(),
    source: RunSourceType,
    creator: RunCreatorInfo,
    started_at: Timestamp.nullable().optional(),
    run_time: z.string().optional().describe("ISO 8601 duration from the start to the end, or to now."),
    status_message: RunStatusMessage.optional(),
    trigger_url: z.string().optional(),
    session_id: z.uuid().optional(),
    session_link: z.string().optional(),
    conversation_id: z.uuid().optional(),
    agent_config: AmbientAgentConfig.optional(),
    parent_run_id: z.uuid().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    scope: z.object({ type: z.enum(["User", "Team"]), uid: z.string().optional() }).optional(),
    execution_location: z.enum(["LOCAL", "REMOTE"]).optional(),
    provenance: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Where the run came from, as proven then."),
  })
  .meta({ id: "RunItem" });
export type RunItem = z.output<typeof RunItem>;

const PageInfo = z
  .object({ has_next_page: z.boolean(), next_cursor: z.string().optional() })
  .meta({ id: "PageInfo" });

export const ListRunsResponse = z
  .object({ runs: z.array(RunItem), page_info: PageInfo })
  .meta({ id: "ListRunsResponse" });
export type ListRunsResponse = z.output<typeof ListRunsResponse>;

export interface RunItemContext {
  readonly creator: Principal | undefined;
  readonly sessionLink: string;
  readonly now: Date;
}

/** A run as the contract (§4) shows it: optional members are left out, `started_at` alone may be null. */
export function runItemOf(run: Run, { creator, sessionLink, now }: RunItemContext): RunItem {
  return {
    run_id: run.id,
    task_id: run.id,
    title: run.title,
    prompt: run.prompt,
    state: run.state,
    created_at: run.createdAt.toISOString(),
    updated_at: run.updatedAt.toISOString(),
    is_sandbox_running: run.lease !== undefined,
    source: run.source,
    creator: creatorInfo(run.creatorId, creator),
    started_at: run.startedAt?.toISOString() ?? null,
    session_id: run.sessionId,
    session_link: sessionLink,
    conversation_id: run.conversationId,
    agent_config: { ...run.config, harness: { ...run.config.harness, type: run.agent } },
    scope: run.teamOwned ? { type: "Team" } : { type: "User", uid: run.creatorId },
    execution_location: run.source === "LOCAL" ? "LOCAL" : "REMOTE",
    ...optionalMembers(run, now),
  };
}

function optionalMembers(run: Run, now: Date): Partial<RunItem> {
  const [parentId] = run.ancestorIds;
  const { startedAt, statusMessage, triggerUrl, metadata, provenance } = run;
  return {
    ...(startedAt === undefined ? {} : { run_time: durationOf(startedAt, run.endedAt ?? now) }),
    ...(statusMessage === undefined ? {} : { status_message: statusOf(statusMessage) }),
    ...(triggerUrl === undefined ? {} : { trigger_url: triggerUrl }),
    ...(parentId === undefined ? {} : { parent_run_id: parentId }),
    ...(isEmpty(metadata) ? {} : { metadata }),
    ...(isEmpty(provenance) ? {} : { provenance }),
  };
}

function statusOf({
  message,
  errorCode,
  retryable,
}: NonNullable<Run["statusMessage"]>): RunItem["status_message"] {
  return {
    message,
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    ...(retryable === undefined ? {} : { retryable }),
  };
}

/** A principal that is gone leaves its id: the member is always there. */
function creatorInfo(uid: PrincipalId, creator: Principal | undefined): RunItem["creator"] {
  const { type = "user", displayName, email, photoUrl } = creator ?? {};
  return {
    uid,
    type,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(email === undefined ? {} : { email }),
    ...(photoUrl === undefined ? {} : { photo_url: photoUrl }),
  };
}

function durationOf(from: Date, to: Date): string {
  return `PT${Math.max(0, to.getTime() - from.getTime()) / 1_000}S`;
}

function isEmpty(members: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(members).length === 0;
}
