import type { RunId } from "../ids.ts";
import type { ShareLink } from "../people/share-link.ts";

export interface ShareLinkStore {
  add(link: ShareLink, tokenHash: string): Promise<void>;
  findByHash(tokenHash: string): Promise<ShareLink | undefined>;
  /** The oldest first, also those that are over. */
  list(runId: RunId): Promise<readonly ShareLink[]>;
  /** False when the run has no such link. */
  remove(runId: RunId, id: string): Promise<boolean>;
}
