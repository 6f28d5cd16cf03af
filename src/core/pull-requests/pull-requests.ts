import type { TeamId } from "../ids.ts";
import type { RepositoryName } from "../repositories/repository-name.ts";
import type { ThreadAddress } from "../threads/thread.ts";

/** Pull requests on the system that a repository is on, opened with the key of the team's installation there. */
export interface PullRequests {
  /**
   * Opens it, or finds the open one of this branch: repeatable. Undefined: no installation of the team's lets us, or there
   * is nothing on the branch that its base does not have.
   */
  open(request: PullRequestDraft): Promise<PullRequest | undefined>;
  /** The open one of a branch that somebody else has opened. */
  find(teamId: TeamId, repository: RepositoryName, branch: string): Promise<PullRequest | undefined>;
}

export interface PullRequestDraft {
  readonly teamId: TeamId;
  readonly repository: RepositoryName;
  readonly branch: string;
  /** The branch that it is to go into. Default: the repository's own default branch. */
  readonly base?: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

export interface PullRequest {
  readonly url: string;
  readonly branch: string;
  /** Under which what is said on it arrives: the run that opened it is bound to it. */
  readonly thread: ThreadAddress;
}

/** Undefined: the repository is not the system's, or nobody there lets us. */
export type OpenPullRequests = (repository: RepositoryName) => Promise<PullRequestAccess | undefined>;

/** The pull requests of one repository, with the key of one installation. */
export interface PullRequestAccess {
  /** The platform's id of the installation that lets us. */
  readonly installation: string;
  /** As `PullRequests` does. */
  open(draft: Omit<PullRequestDraft, "teamId" | "repository">): Promise<PullRequest | undefined>;
  find(branch: string): Promise<PullRequest | undefined>;
}
