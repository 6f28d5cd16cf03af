import type { RunId } from "../../basics/ids.ts";
import type { ShareLink } from "../../model/people/share-link.ts";

export interface ShareLinkStore {
  add(link: ShareLink, tokenHash: string): Promise<void>;
  /** Also undefined when the key that made the link was revoked or deleted. */
  findByHash(tokenHash: string): Promise<ShareLink | undefined>;
  /** Stores the hash of the link's token under another secret key. */
  rehash(id: string, tokenHash: string): Promise<void>;
  /** Oldest first, expired links included. */
  list(runId: RunId): Promise<readonly ShareLink[]>;
  /** False when the run has no such link. */
  remove(runId: RunId, id: string): Promise<boolean>;
  /** Deletes some links that expired long ago and returns how many. 0: there are no more. */
  prune(): Promise<number>;
}
