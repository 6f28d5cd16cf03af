import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { newId, type RunId } from "../../basics/ids.ts";
import { type KeyHolder, viewerWith } from "../../model/people/api-key.ts";
import type { Viewer } from "../../model/people/principal.ts";
import {
  allowsSharing,
  type OpenShareLink,
  type ShareAccess,
  type ShareLink,
} from "../../model/people/share-link.ts";
import { isVisible, requireVisible } from "../../model/policies/visibility.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Storage } from "../../ports/stores/storage.ts";

export interface ShareLinkDeps {
  readonly storage: Pick<Storage, "people" | "runs" | "shareLinks" | "teams">;
  readonly clock: Clock;
}

/** The links of one run, expired ones included while they are listed. */
const LINKS_MAX = 100;

export interface NewShareLink {
  readonly tokenHash: string;
  readonly access: ShareAccess;
  readonly expires: { readonly at: Date } | { readonly afterMs: number };
}

/** Manages links that open one run to people without an account. Principals who may write to the run create them. */
export class ShareLinkService {
  readonly #deps: ShareLinkDeps;

  constructor(deps: ShareLinkDeps) {
    this.#deps = deps;
  }

  async list(viewer: Viewer, runId: RunId): Promise<readonly ShareLink[]> {
    const { id } = await this.#getRun(viewer, runId);
    return this.#deps.storage.shareLinks.list(id);
  }

  async create(
    maker: KeyHolder,
    runId: RunId,
    newLink: NewShareLink,
  ): Promise<{ readonly link: ShareLink; readonly run: Run }> {
    const run = await this.#getRun(viewerWith(maker), runId);
    await this.#requireAccess(run, newLink.access);
    return this.createForNewRun(maker, run, newLink, maker.principal.id);
  }

  /**
   * The link that the configuration of a new run asks for. It belongs to the run's creator, because a caller that
   * requests a private run in the name of another member does not see that run.
   */
  async createForNewRun(
    maker: KeyHolder,
    run: Run,
    { access, expires, tokenHash }: NewShareLink,
    creatorId = run.creatorId,
  ): Promise<{ readonly link: ShareLink; readonly run: Run }> {
    const { clock, storage } = this.#deps;
    // Otherwise several requests at the same time could exceed the limit.
    await storage.teams.lock(run.teamId);
    if ((await storage.shareLinks.list(run.id)).length >= LINKS_MAX) {
      throw tooMany();
    }
    const createdAt = clock.now();
    const expiresAt = "at" in expires ? expires.at : new Date(createdAt.getTime() + expires.afterMs);
    const whose = defined({
      teamId: run.teamId,
      runId: run.id,
      creatorId,
      keyId: maker.key ? maker.key.id : undefined,
    });
    const link = { id: newId(createdAt), ...whose, access, createdAt, expiresAt };
    await storage.shareLinks.add(link, tokenHash);
    return { link, run };
  }

  async remove(viewer: Viewer, runId: RunId, id: string): Promise<void> {
    const run = await this.#getRun(viewer, runId);
    if (await this.#deps.storage.shareLinks.remove(run.id, id)) {
      return;
    }
    throw new AppError("resource_not_found", "There is no such link.");
  }

  /**
   * The link with this token if it is valid: not expired, its creator may still see the run, and the key that made it
   * has neither been revoked nor expired.
   */
  async open(tokenHash: string): Promise<OpenShareLink | undefined> {
    const { clock, storage } = this.#deps;
    const link = await storage.shareLinks.findByHash(tokenHash);
    if (link === undefined || link.expiresAt <= clock.now()) {
      return undefined;
    }
    const [creator] = await storage.people.getMany([link.creatorId]);
    if (creator === undefined || creator.disabled) {
      return undefined;
    }
    const run = await storage.runs.find({ id: link.runId });
    if (run === undefined || !isVisible(run, creator)) {
      return undefined;
    }
    return { ...link, creator, mayFollowUp: link.access === "EDITOR" && (await this.#mayEdit(link)) };
  }

  /** Keeps a link valid when the secret key is removed under which its token was stored. */
  async rehash({ id }: Pick<ShareLink, "id">, tokenHash: string): Promise<void> {
    await this.#deps.storage.shareLinks.rehash(id, tokenHash);
  }

  async #requireAccess(run: Run, access: ShareAccess): Promise<void> {
    if (access === "EDITOR" && !(await this.#mayEdit(run))) {
      throw new AppError("feature_not_available", "Your team does not share runs for editing.", {
        remedy:
          "Ask an administrator to set `sharing` of the team to `editor`, or create a link for viewing.",
      });
    }
  }

  async #mayEdit({ teamId }: Pick<ShareLink, "teamId">): Promise<boolean> {
    const team = await this.#deps.storage.teams.find(teamId);
    return team !== undefined && allowsSharing(team, "EDITOR");
  }

  async #getRun(viewer: Viewer, id: RunId): Promise<Run> {
    return requireVisible(await this.#deps.storage.runs.find({ id }), viewer);
  }
}

function tooMany(): AppError {
  return new AppError("invalid_request", `This run has ${LINKS_MAX} links already.`, {
    remedy: "Delete one that is not needed any more.",
  });
}
