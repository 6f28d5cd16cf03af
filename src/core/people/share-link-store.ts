import type { RunId } from "../ids.ts";
import type { ShareLink } from "./share-link.ts";

export interface ShareLinkStore {
  add(link: ShareLink, tokenHash: string): Promise<void>;
  /** Undefined also when the key that made it was revoked or is gone. */
  findByHash(tokenHash: string): Promise<ShareLink | undefined>;
  /** The oldest first, also those that are over. */
  list(runId: RunId): Promise<readonly ShareLink[]>;
  /** False when the run has no such link. */
  remove(runId: RunId, id: string): Promise<boolean>;
  /** Drops some of those that have long been over. How many; none: there are no more. */
  prune(): Promise<number>;
}
