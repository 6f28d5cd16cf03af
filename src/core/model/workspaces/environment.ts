import type { PrincipalId } from "../../basics/ids.ts";
import type { Owned } from "../people/ownership.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { PullRequestSetting } from "../repositories/pull-request-setting.ts";
import { isSameRepository, type RepositoryName } from "../repositories/repository-name.ts";

/** What an agent works in. `id` has 22 alphanumeric characters. */
export interface Environment extends TeamRecord, Owned {
  readonly config: EnvironmentConfig;
  /** Whether the setup commands failed the last time. */
  readonly setupFailed: boolean;
  readonly creatorId: PrincipalId;
  readonly lastEditorId: PrincipalId;
}

export interface EnvironmentConfig {
  readonly name: string;
  readonly description?: string;
  readonly image?: string;
  readonly repositories: readonly RepositoryName[];
  /** As in `WorkspacePlan`. Absent: all folders. */
  readonly sparse?: readonly string[];
  readonly setupCommands: readonly string[];
  readonly network: NetworkAccess;
  /** What happens to changes in its repositories if neither a request nor a routing rule says it. */
  readonly pullRequest?: PullRequestSetting;
  /** The only team secrets that its runs get if neither a request nor a named agent says it. Absent: all of them. */
  readonly secretNames?: readonly string[];
  /** How long a failed run keeps its agent and files for a follow-up. Absent: it does not. */
  readonly debugMinutes?: number;
}

export const NETWORK_ACCESSES = ["none", "internet"] as const;
export type NetworkAccess = (typeof NETWORK_ACCESSES)[number];

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const UID_LENGTH = 22;
/** Larger bytes are skipped, because they would make the first characters more likely than the last. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

export function newEnvironmentUid(): string {
  let uid = "";
  while (uid.length < UID_LENGTH) {
    const fair = crypto.getRandomValues(new Uint8Array(UID_LENGTH)).filter((byte) => byte < FAIR_BYTES);
    uid += Array.from(fair, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
  }
  return uid.slice(0, UID_LENGTH);
}

/** The repositories of all these environments after those `added`, without duplicates. */
export function repositoriesOf(
  environments: readonly Environment[],
  added: readonly RepositoryName[] = [],
): readonly RepositoryName[] {
  const all = [...added, ...environments.flatMap(({ config }) => config.repositories)];
  return all.filter(
    (repository, index) => all.findIndex((each) => isSameRepository(each, repository)) === index,
  );
}
