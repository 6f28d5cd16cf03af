import type { KeyHolder } from "../../core/people/api-key.ts";
import { ShareLinkService } from "../../core/people/share-link-service.ts";
import type { Run } from "../../core/runs/run.ts";
import type { PreparedRun, TransactionExtras } from "../../core/runs/run-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { shareUrl } from "../pages/share-token.ts";
import { expiryOf } from "../schemas/share-link.ts";

type SharingDeps = Pick<ApiDeps, "clock" | "hashKey" | "publicUrl" | "runs" | "storage">;

/** Stores a new run, together with the share link that its configuration asks for. */
export class RunSharing {
  readonly #deps: SharingDeps;
  readonly #creator: KeyHolder;
  readonly #prepared: Pick<PreparedRun, "definition" | "shares">;
  readonly #token = newToken();

  constructor(deps: SharingDeps, creator: KeyHolder, prepared: Pick<PreparedRun, "definition" | "shares">) {
    this.#deps = deps;
    this.#creator = creator;
    this.#prepared = prepared;
  }

  /** The member of the response. */
  get member(): { readonly share_url?: string } {
    const { definition: origin, shares } = this.#prepared;
    return shares === undefined
      ? {}
      : { share_url: shareUrl(this.#deps.publicUrl(), origin.sessionId, this.#token) };
  }

  async store(run: PreparedRun, extras: TransactionExtras): Promise<Run> {
    const { clock, hashKey, runs, storage } = this.#deps;
    const { shares: access } = this.#prepared;
    if (access === undefined) {
      return runs.store(run, extras);
    }
    const newLink = { tokenHash: hashKey(this.#token), access, expires: expiryOf({}, clock.now()) };
    return storage.atomically(async (stores) => {
      const stored = await runs.within(stores).store(run, extras);
      await new ShareLinkService({ storage: stores, clock }).createForNewRun(this.#creator, stored, newLink);
      return stored;
    }, extras.author);
  }
}
