import { defined } from "../../core/basics/defined.ts";
import type { ErrorCode } from "../../core/basics/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";
import type { RunItem } from "../schemas/run-item.ts";

/** What remains of a status, in the spelling of the API and of events. */
const STATUS_MEMBERS: ReadonlySet<string> = new Set(["error_code", "errorCode", "retryable"]);

/**
 * Returns a run's status for guests: only its error code and the title of that, because the rest may name people,
 * costs or settings of the team. Returns undefined if there is no error code.
 */
export function statusForGuest<Status extends { readonly message: string }>(
  status: Status | undefined,
  code: ErrorCode | undefined,
): Status | undefined {
  if (status === undefined || code === undefined) {
    return undefined;
  }
  const shown = Object.entries(status).filter(([member]) => STATUS_MEMBERS.has(member));
  return { ...Object.fromEntries(shown), message: ERROR_TABLE[code].title } as Status;
}

/** Returns the part of a run that guests of a share link may see. A member that is not named here is hidden. */
export function itemForGuest(item: RunItem): RunItem {
  const shown = Object.entries(item).flatMap(([member, value]) => {
    const visible = Object.hasOwn(VISIBLE_TO_GUESTS, member)
      ? VISIBLE_TO_GUESTS[member as keyof RunItem]
      : hidden;
    const part = value === undefined ? undefined : (visible as (value: unknown) => unknown)(value);
    return part === undefined ? [] : [[member, part]];
  });
  return Object.fromEntries(shown) as RunItem;
}

const whole = <T>(value: T): T => value;
const hidden = (): undefined => undefined;

/**
 * What guests see of each member: the progress of the run and the name of its creator, but not its configuration, its
 * costs, or who decided about it. The type makes sure that a new member is decided here.
 */
const VISIBLE_TO_GUESTS = {
  run_id: whole,
  task_id: whole,
  root_run_id: whole,
  title: whole,
  prompt: whole,
  state: whole,
  created_at: whole,
  updated_at: whole,
  is_sandbox_running: whole,
  source: whole,
  creator: ({ email: _email, photo_url: _photo, ...named }) => named,
  executor: hidden,
  agent: whole,
  started_at: whole,
  finished_at: whole,
  submitted_prompt: whole,
  run_time: whole,
  debug_agent_available: whole,
  status_message: (status) => statusForGuest(status, status.error_code),
  trigger_url: whole,
  session_id: whole,
  session_link: whole,
  conversation_id: whole,
  agent_config: ({ harness, model_id, name }) => defined({ harness, model_id, name }),
  agent_skill: whole,
  artifacts: whole,
  pull_request_status: whole,
  schedule: hidden,
  approval: hidden,
  permission: whole,
  waiting_for: hidden,
  result: whole,
  outcome: hidden,
  warnings: hidden,
  parent_run_id: whole,
  metadata: hidden,
  request_usage: hidden,
  scope: whole,
  execution_location: whole,
  provenance: hidden,
} satisfies {
  readonly [Member in keyof RunItem]-?: (
    value: Exclude<RunItem[Member], undefined>,
  ) => RunItem[Member] | undefined;
};
