import type { KeyHolder } from "../../core/model/people/api-key.ts";
import type { ShareAccess } from "../../core/model/people/share-link.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { PreparedRun } from "../../core/requests/prepare/run-preparer.ts";
import type { TransactionExtras } from "../../core/runs/transaction-extras.ts";
import { ShareLinkService } from "../../core/team/keys/share-link-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { shareUrl } from "../auth/share-token.ts";
import { expiryOf } from "../schemas/share-link.ts";

type SharingDeps = Pick<ApiDeps, "clock" | "hashKey" | "publicUrl" | "runs" | "storage">;

/** Stores a new run, together with the share link that its configuration asks for. */
export class RunSharing {
  readonly #deps: SharingDeps;
  readonly #creator: KeyHolder;
  readonly #sessionId: string;
  readonly #link: { readonly access: ShareAccess; readonly token: string } | undefined;

  constructor(
    deps: SharingDeps,
    creator: KeyHolder,
    { definition, shares }: Pick<PreparedRun, "definition" | "shares">,
  ) {
    this.#deps = deps;
    this.#creator = creator;
    this.#sessionId = definition.sessionId;
    this.#link = shares && { access: shares, token: newToken() };
  }

  /** The member of the response. */
  get member(): { readonly share_url?: string } {
    return this.#link === undefined
      ? {}
      : { share_url: shareUrl(this.#deps.publicUrl(), this.#sessionId, this.#link.token) };
  }

  async store(run: PreparedRun, extras: TransactionExtras): Promise<Run> {
    const { clock, hashKey, runs, storage } = this.#deps;
    if (this.#link === undefined) {
      return runs.store(run, extras);
    }
    const { access, token } = this.#link;
    const newLink = { tokenHash: hashKey(token), access, expires: expiryOf({}, clock.now()) };
    return storage.atomically(async (stores) => {
      const stored = await runs.within(stores).store(run, extras);
      await new ShareLinkService({ storage: stores, clock }).createForNewRun(this.#creator, stored, newLink);
      return stored;
    }, extras.author);
  }
}
