import { z } from "zod";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { Receipt } from "../../core/ports/thread-adapter.ts";

/** Where a message is. */
export interface Location {
  readonly teamId: string;
  readonly channel: string;
  readonly ts: string;
  /** Set only on replies in a thread. */
  readonly threadTs: string | undefined;
}

/** A direct conversation is one thread, whose messages are not replies of each other. */
export function threadKeyOf({ teamId, channel, ts, threadTs }: Location): ThreadKey {
  return `${teamId}/${channel}/${isDirect(channel) ? "" : (threadTs ?? ts)}` as ThreadKey;
}

/** The ids of direct conversations begin with D. */
export function isDirect(channel: string): boolean {
  return channel.startsWith("D");
}

/** A time stamp is unique only within its channel. A shared channel has the same id in each of its workspaces. */
export function messageIdOf({
  channel,
  isShared,
  teamId,
  ts,
}: Omit<Location, "threadTs"> & { readonly isShared?: boolean | undefined }): string {
  return isShared === true ? `slack:${channel}/${ts}` : `slack:${teamId}/${channel}/${ts}`;
}

/** Without `threadTs`, the thread is a direct conversation. */
export function parseThreadKey(key: ThreadKey): {
  readonly channel: string;
  readonly threadTs: string | undefined;
} {
  const [, channel = "", threadTs] = key.split("/");
  return { channel, threadTs: threadTs || undefined };
}

/** The location of a shown message. The first message of a thread is not a reply. */
export function locationOf(
  { channel, ts }: Pick<Location, "channel" | "ts">,
  teamId: string,
  key: ThreadKey,
): Location {
  const { threadTs } = parseThreadKey(key);
  return { teamId, channel, ts, threadTs: threadTs === ts ? undefined : threadTs };
}

export function authorSubject(teamId: string, userId: string): string {
  return `slack:${teamId}:${userId}`;
}

export function userIdOf(subject: string): string {
  return subject.split(":")[2] ?? "";
}

/** Builds the same address as chat.getPermalink, without a call for each message. */
export function permalinkOf(
  { channel, ts, threadTs }: Location,
  workspaceUrl: string | undefined,
): string | undefined {
  if (ts === "" || workspaceUrl === undefined || !URL.canParse(workspaceUrl)) {
    return undefined;
  }
  const link = new URL(`archives/${channel}/p${ts.replace(".", "")}`, workspaceUrl);
  if (threadTs !== undefined) {
    link.search = new URLSearchParams({ thread_ts: threadTs, cid: channel }).toString();
  }
  return link.href;
}

/** Where a message of the bot is shown. */
export interface Shown {
  readonly channel: string;
  readonly ts: string;
  /** The name of the reaction, if the notice is shown as one. */
  readonly reaction?: string | undefined;
  /** The fingerprint of what a card shows. */
  readonly hash?: string | undefined;
  /** The status of the thread's session that the card has set. */
  readonly session?: string | undefined;
}

const shownSchema = z.object({
  channel: z.string(),
  ts: z.string(),
  reaction: z.string().optional(),
  hash: z.string().optional(),
  session: z.string().optional(),
});

export function receiptOf({ channel, hash, reaction, session, ts }: Shown): Receipt {
  return JSON.stringify({ channel, ts, reaction, hash, session });
}

export function parseReceipt(receipt: Receipt): Shown {
  return shownSchema.parse(JSON.parse(receipt));
}
