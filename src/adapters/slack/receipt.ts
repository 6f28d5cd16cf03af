import { z } from "zod";
import type { Receipt } from "../../core/ports/thread-adapter.ts";

/** Where a message of the bot is shown. */
export interface Shown {
  readonly channel: string;
  readonly ts: string;
  /** The name of the reaction, if the notice is shown as one. */
  readonly reaction?: string | undefined;
  /** The fingerprint of what a card shows. */
  readonly hash?: string | undefined;
}

const shownSchema = z.object({
  channel: z.string(),
  ts: z.string(),
  reaction: z.string().optional(),
  hash: z.string().optional(),
});

export function receiptOf({ channel, hash, reaction, ts }: Shown): Receipt {
  return JSON.stringify({ channel, ts, reaction, hash });
}

export function parseReceipt(receipt: Receipt): Shown {
  return shownSchema.parse(JSON.parse(receipt));
}
