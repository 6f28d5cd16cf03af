import { createHash } from "node:crypto";
import type { Clock } from "../core/basics/clock.ts";
import type { Log } from "../core/basics/log.ts";
import type { TeamRepository } from "../core/model/repositories/repository-name.ts";

export interface MirrorOptions {
  readonly dataDir: string;
  /** Repositories are at `<baseUrl>/<owner>/<name>.git`. */
  readonly baseUrl: string;
  /** The value of the `Authorization` header with which the team may read the repository; undefined: none. */
  readonly authorize: (repository: TeamRepository, url: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  /** The git program, by name or path. */
  readonly program?: string;
  readonly limits?: Partial<MirrorLimits>;
}

export interface MirrorLimits {
  /** The maximum age of a cached state, unless the caller wants the current one. */
  readonly maxAgeMs: number;
  /** How long a caller waits. The fetch continues after that, so that a later call finds it done. */
  readonly waitMs: number;
  readonly fetchMs: number;
  readonly maxPackBytes: number;
  readonly maxMirrors: number;
}

export const DEFAULT_LIMITS: MirrorLimits = {
  maxAgeMs: 60_000,
  waitMs: 20_000,
  fetchMs: 120_000,
  maxPackBytes: 256 * 2 ** 20,
  maxMirrors: 100,
};

/** Names the mirror of a repository. Runs with another access have another mirror, because they may read less. */
export function mirrorKeyOf({ teamId, owner, name, withoutTeamToken }: TeamRepository): string {
  const access = withoutTeamToken === true ? `${teamId}/without-token` : teamId;
  return createHash("sha256").update(`${access}/${owner}/${name}`).digest("hex").slice(0, 32);
}
