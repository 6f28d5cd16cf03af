import type { ErrorCode } from "../../core/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";
import type { RunItem } from "../schemas/run-item.ts";

/**
 * Returns a run's status for guests: only the title of its error code, because message and remedy may name people,
 * costs or settings of the team. Returns undefined if there is no error code.
 */
export function statusForGuest<
  Status extends { readonly message: string; readonly remedy?: string | undefined },
>(status: Status | undefined, code: ErrorCode | undefined): Status | undefined {
  if (status === undefined || code === undefined) {
    return undefined;
  }
  const { remedy: _, ...shown } = status;
  return { ...shown, message: ERROR_TABLE[code].title } as Status;
}

/**
 * Returns the part of a run that guests of a share link may see: its progress and the name of its creator, but not
 * its configuration.
 */
export function itemForGuest(item: RunItem): RunItem {
  const {
    agent_config,
    approval,
    creator,
    executor,
    metadata,
    provenance,
    request_usage,
    schedule,
    status_message,
    waiting_for,
    warnings,
    ...shown
  } = item;
  const { email, photo_url, ...named } = creator;
  const { harness, model_id, name } = agent_config ?? {};
  const status = statusForGuest(status_message, status_message?.error_code);
  return {
    ...shown,
    creator: named,
    agent_config: withoutUndefined({ harness, model_id, name }),
    ...(status === undefined ? {} : { status_message: status }),
  };
}

function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as T;
}
