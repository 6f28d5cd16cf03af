import { z } from "zod";
import type { Receipt } from "../../core/threads/thread-adapter.ts";

/** Where a message of the bot is shown. */
export interface Shown {
  readonly channel: string;
  readonly ts: string;
}

const shownSchema = z.object({ channel: z.string(), ts: z.string() });

export function receiptOf({ channel, ts }: Shown): Receipt {
  return JSON.stringify({ channel, ts });
}

export function parseReceipt(receipt: Receipt): Shown {
  return shownSchema.parse(JSON.parse(receipt));
}
