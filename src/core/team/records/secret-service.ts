import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import { newId } from "../../basics/ids.ts";
import { isTeamOwned, type Owned, ownerOf } from "../../model/people/ownership.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { TeamAccess } from "../../model/repositories/repository-name.ts";
import {
  isGitToken,
  openSecret,
  PERSONAL_SECRETS_BYTES_MAX,
  problemOfName,
  type Secret,
  sealOwner,
  TEAM_SECRETS_BYTES_MAX,
} from "../../model/secrets/secret.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import { type Storage, UniqueConflict } from "../../ports/stores/storage.ts";
import { requireWithinLimits } from "./record-limits.ts";

export interface SecretServiceDeps {
  readonly storage: Pick<Storage, "secrets" | "teams">;
  readonly box: Pick<SecretBox, "bytesOf" | "seal">;
  readonly clock: Clock;
}

/** A secret by its name: one of the team, or one of the caller. */
export interface SecretKey {
  readonly name: string;
  readonly isTeamOwned: boolean;
}

/**
 * Manages secrets: they are written, listed and deleted, but never shown. Only their owner manages personal secrets.
 * Writes run inside a transaction.
 */
export class SecretService {
  readonly #deps: SecretServiceDeps;

  constructor(deps: SecretServiceDeps) {
    this.#deps = deps;
  }

  /** By name; the team's secrets come first. */
  async list(viewer: Viewer): Promise<readonly Secret[]> {
    const all = await this.#deps.storage.secrets.list(viewer.teamId);
    return all.filter((secret) => isTeamOwned(secret) || secret.ownerId === viewer.id).sort(inOrder);
  }

  async get(viewer: Viewer, key: SecretKey): Promise<Secret> {
    const secret = await this.#find(viewer, key);
    if (secret === undefined) {
      throw unknownSecret();
    }
    return secret;
  }

  /** Creates or replaces the secret. */
  async put(editor: Viewer, key: SecretKey, value: string): Promise<Secret> {
    requireName(key.name);
    const before = await this.#find(editor, key);
    if (before !== undefined) {
      return this.#replace(before, editor, value);
    }
    try {
      return await this.#add(editor, key, value);
    } catch (error) {
      if (!(error instanceof UniqueConflict)) {
        throw error;
      }
    }
    // Another request created it at the same time.
    return this.#replace(await this.get(editor, key), editor, value);
  }

  async remove(viewer: Viewer, key: SecretKey): Promise<void> {
    const { id, teamId } = await this.get(viewer, key);
    if (!(await this.#deps.storage.secrets.remove(teamId, id))) {
      throw unknownSecret();
    }
  }

  async #find(viewer: Viewer, { name, isTeamOwned }: SecretKey): Promise<Secret | undefined> {
    const ownerId = ownerOf(viewer, isTeamOwned);
    const all = await this.#deps.storage.secrets.list(viewer.teamId);
    return all.find((secret) => secret.ownerId === ownerId && secret.name === name);
  }

  async #add(editor: Viewer, { name, isTeamOwned }: SecretKey, value: string): Promise<Secret> {
    const createdAt = this.#deps.clock.now();
    const { id: editorId, teamId } = editor;
    const place = { teamId, ownerId: ownerOf(editor, isTeamOwned), name };
    const id = newId(createdAt);
    const sealed = this.#seal(place, value);
    const secret = { id, ...place, sealed, editorId, createdAt, updatedAt: createdAt };
    await this.#requireWithinLimits(secret, 0);
    await this.#deps.storage.secrets.add(secret);
    return secret;
  }

  async #replace(before: Secret, editor: Viewer, value: string): Promise<Secret> {
    const sealed = this.#seal(before, value);
    const secret = { ...before, sealed, editorId: editor.id, updatedAt: this.#deps.clock.now() };
    await this.#requireWithinLimits(secret, this.#bytesOf(before));
    if (!(await this.#deps.storage.secrets.replace(secret))) {
      throw unknownSecret();
    }
    return secret;
  }

  /** Refuses what no run could take. A secret may always become shorter. */
  async #requireWithinLimits(secret: Secret, bytesBefore: number): Promise<void> {
    const { storage } = this.#deps;
    await requireWithinLimits(storage, "secrets", secret);
    const bytes = this.#bytesOf(secret);
    if (bytes <= bytesBefore || isGitToken(secret)) {
      return;
    }
    const others = (await storage.secrets.list(secret.teamId)).filter(
      ({ id, ownerId }) => ownerId === secret.ownerId && id !== secret.id,
    );
    const total = others.reduce((sum, other) => sum + this.#bytesOf(other), bytes);
    const max = isTeamOwned(secret) ? TEAM_SECRETS_BYTES_MAX : PERSONAL_SECRETS_BYTES_MAX;
    if (total > max) {
      const whose = isTeamOwned(secret) ? "The secrets of a team" : "Your own secrets";
      throw new AppError(
        "invalid_request",
        `${whose} can have at most ${max / 2 ** 10} KiB together, because each run gets them in its environment.`,
        { remedy: "Make them shorter, or delete those that are not needed any more." },
      );
    }
  }

  #bytesOf({ name, sealed }: Secret): number {
    return name.length + this.#deps.box.bytesOf(sealed);
  }

  #seal(place: Owned & { readonly name: string }, value: string): string {
    return this.#deps.box.seal(value, sealOwner(place));
  }
}

function requireName(name: string): void {
  const problem = problemOfName(name);
  if (problem === undefined) {
    return;
  }
  throw new AppError("invalid_request", `The secret's name ${problem}.`, {
    issues: [{ path: "name", message: problem }],
    remedy: "Choose another name.",
  });
}

function inOrder(left: Secret, right: Secret): number {
  if (left.name !== right.name) {
    return left.name < right.name ? -1 : 1;
  }
  return Number(isTeamOwned(right)) - Number(isTeamOwned(left));
}

function unknownSecret(): AppError {
  return new AppError("resource_not_found", "There is no such secret.");
}

/** The token of a team; undefined if it has none, or must not use it. */
export type FindGitToken = (access: TeamAccess) => Promise<string | undefined>;

export function createGitTokens(
  secrets: Pick<RecordStore<Secret>, "list">,
  box: Pick<SecretBox, "open">,
): FindGitToken {
  return async ({ teamId, withoutTeamToken }) => {
    if (withoutTeamToken === true) {
      return undefined;
    }
    const secret = (await secrets.list(teamId)).find(isGitToken);
    return secret && openSecret(box, secret);
  };
}
