import { createHash } from "node:crypto";

/**
 * The fingerprint of a text, the same in all adapters. The calculation must not change: a stored message is recognised
 * by it when it is delivered again.
 */
export function contentHash({
  title = "",
  body,
}: {
  readonly title?: string;
  readonly body: string;
}): string {
  return createHash("sha256")
    .update(JSON.stringify([title, body]))
    .digest("hex");
}
