import { createHash } from "node:crypto";

/**
 * What somebody wrote, as a fingerprint: the same words have the same one, whichever adapter heard them. It is not to be
 * reckoned otherwise: stored messages are known by it when they are delivered again.
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
