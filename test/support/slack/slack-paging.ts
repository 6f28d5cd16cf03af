import type { JsonRecord } from "../json.ts";

const DEFAULT_LIMIT = 100;

/**
 * Implements `oldest`, `latest`, `inclusive`, `limit` and `cursor` of the reading methods, most of which emulate
 * ignores.
 */
export function pageOf(messages: readonly JsonRecord[], args: Readonly<Record<string, string>>): JsonRecord {
  const wanted = messages.filter((message) => isWithin(String(message.ts), args));
  const start = Number(args.cursor ?? 0);
  const end = start + Number(args.limit ?? DEFAULT_LIMIT);
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

function isWithin(ts: string, { oldest, latest, inclusive }: Readonly<Record<string, string>>): boolean {
  if (inclusive === "true" && (ts === oldest || ts === latest)) {
    return true;
  }
  return (!oldest || ts > oldest) && (!latest || ts < latest);
}
