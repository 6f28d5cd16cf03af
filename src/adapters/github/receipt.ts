import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { Receipt } from "../../core/ports/thread-adapter.ts";

const receiptSchema = z.object({
  kind: z.enum(["issue_comment", "review_comment", "reaction"]),
  id: z.number(),
  /** The address of the comment. */
  url: z.string().optional(),
});
/** Where a notice is shown. */
export type Shown = z.infer<typeof receiptSchema>;

export function receiptOf(shown: Shown): Receipt {
  return JSON.stringify(shown);
}

export function parseReceipt(receipt: Receipt): Shown {
  try {
    return receiptSchema.parse(JSON.parse(receipt));
  } catch (cause) {
    throw new AppError("invalid_request", "This is no receipt of GitHub's.", { cause });
  }
}
