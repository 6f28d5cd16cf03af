import type { KeyHolder } from "../../core/model/people/api-key.ts";
import type { ShareAccess } from "../../core/model/people/share-link.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { PreparedRun } from "../../core/requests/prepare/run-preparer.ts";
import type { TransactionExtras } from "../../core/runs/transaction-extras.ts";
import { ShareLinkService } from "../../core/team/keys/share-link-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { shareUrl } from "../auth/guests.ts";
import { expiryOf } from "../schemas/share-link.ts";

type SharingDeps = Pick<ApiDeps, "clock" | "hashKey" | "publicUrl" | "runs" | "storage">;

/** Stores a new run, together with the share link that its configuration asks for. */
export class RunSharing {
  readonly url: string;
  readonly #deps: SharingDeps;
  readonly #creator: KeyHolder;
  readonly #access: ShareAccess;
  readonly #token = newToken();

  constructor(deps: SharingDeps, creator: KeyHolder, sessionId: string, access: ShareAccess) {
    this.#deps = deps;
    this.#creator = creator;
    this.#access = access;
    this.url = shareUrl(deps.publicUrl(), sessionId, this.#token);
  }

  async store(run: PreparedRun, extras: TransactionExtras): Promise<Run> {
    const { clock, hashKey, runs, storage } = this.#deps;
    const tokenHash = hashKey(this.#token);
    const newLink = { tokenHash, access: this.#access, expires: expiryOf({}, clock.now()) };
    return storage.atomically(async (stores) => {
      const stored = await runs.within(stores).store(run, extras);
      await new ShareLinkService({ storage: stores, clock }).createForNewRun(this.#creator, stored, newLink);
      return stored;
    }, extras.author);
  }
}
