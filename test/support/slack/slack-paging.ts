import type { JsonRecord } from "../json.ts";

const LIMIT_MAX = 1_000;
const DEFAULT_LIMITS: Readonly<Record<string, number>> = {
  "conversations.history": 100,
  "conversations.replies": LIMIT_MAX,
};
const TIMESTAMP = /^\d+(\.\d+)?$/;

export interface Reading {
  readonly method: string;
  readonly args: Readonly<Record<string, string>>;
}

/** What Slack refuses about `oldest`, `latest` and `cursor`. */
export function pagingError({ cursor, latest, oldest }: Reading["args"]): string | undefined {
  if (cursor && !/^\d+$/.test(cursor)) {
    return "invalid_cursor";
  }
  if (latest && !TIMESTAMP.test(latest)) {
    return "invalid_ts_latest";
  }
  return oldest && !TIMESTAMP.test(oldest) ? "invalid_ts_oldest" : undefined;
}

/**
 * Implements `oldest`, `latest`, `inclusive`, `limit` and `cursor` of the reading methods, most of which emulate
 * ignores. A thread begins with its first message also if that is older than `oldest`:
 * https://docs.slack.dev/reference/methods/conversations.replies
 */
export function pageOf(messages: readonly JsonRecord[], { args, method }: Reading): JsonRecord {
  const isThread = method === "conversations.replies";
  const wanted = messages.filter(
    (message, index) => (isThread && index === 0) || isWithin(String(message.ts), args),
  );
  const start = Number(args.cursor || 0);
  const end = start + Math.min(Number(args.limit ?? DEFAULT_LIMITS[method]), LIMIT_MAX);
  const hasMore = end < wanted.length;
  return {
    messages: wanted.slice(start, end),
    has_more: hasMore,
    response_metadata: { next_cursor: hasMore ? String(end) : "" },
  };
}

export function withoutMetadata({ metadata: _hidden, ...message }: JsonRecord): JsonRecord {
  return message;
}

function isWithin(ts: string, { oldest, latest, inclusive }: Reading["args"]): boolean {
  if (inclusive === "true" && (ts === oldest || ts === latest)) {
    return true;
  }
  return (!oldest || Number(ts) > Number(oldest)) && (!latest || Number(ts) < Number(latest));
}
