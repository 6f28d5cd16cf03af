import type { PullRequestStatus } from "../model/repositories/pull-request-status.ts";
import type { RepositoryName, TeamAccess, TeamRepository } from "../model/repositories/repository-name.ts";
import type { RepositorySettings } from "../model/repositories/repository-settings.ts";
import type { ThreadAddress } from "../model/threads/thread.ts";
import type { NewCommit } from "./change-tracker.ts";

/** Pull requests on the platform that hosts a repository, opened with the credentials of the team. */
export interface PullRequests {
  /** Whether the team has credentials for the pull requests of this repository. */
  isAllowed(repository: TeamRepository): Promise<boolean>;
  /**
   * Opens a pull request, or finds the open one of this branch and brings title and description up to date, so it can be
   * repeated. Undefined: the team has no credentials for it, or the branch has no commit that its base lacks.
   */
  open(request: PullRequestDraft): Promise<PullRequest | undefined>;
  /** The open pull request of a branch. A run or a person may have opened it. */
  find(access: TeamAccess, repository: RepositoryName, branch: string): Promise<PullRequest | undefined>;
  /** Like `find`. If this run wrote its description, title and description are brought up to date. */
  update(request: PullRequestDraft): Promise<PullRequest | undefined>;
  /** Whether the pull request of a branch can show the whole work as suggestions on its lines. */
  takesSuggestions(access: TeamAccess, repository: RepositoryName, work: SuggestedWork): Promise<boolean>;
  /** What the repository says about work in it. Undefined: nothing, or the team has no credentials for it. */
  settings(access: TeamAccess, repository: RepositoryName): Promise<RepositorySettings | undefined>;
  /** Makes a commit at the host, which signs it, and returns its id. Undefined: the team has no credentials for it. */
  makeCommit(access: TeamAccess, repository: RepositoryName, commit: NewCommit): Promise<string | undefined>;
  /** The state and the checks of the pull request at this address. Undefined: the team may not read it. */
  read(access: TeamAccess, url: string): Promise<PullRequestReading | undefined>;
}

export interface SuggestedWork {
  readonly branch: string;
  readonly patch: string;
  /** The commit that the patch changes. */
  readonly base: string;
}

export interface PullRequestReading extends PullRequestStatus {
  /** The branch that it is to be merged into, or was. */
  readonly base?: string;
}

export interface PullRequestDraft extends TeamAccess {
  readonly repository: RepositoryName;
  readonly branch: string;
  /** The branch to merge into. Default: the default branch of the repository. */
  readonly base?: string;
  readonly title: string;
  /** What the agent says about its work: untrusted Markdown, which stands first in the description. */
  readonly summary?: string;
  /** The repository's template, into which a new description is filled. */
  readonly template?: string;
  /** Errand's own text, after the summary. The first paragraph names the run. */
  readonly body: string;
  readonly isDraft: boolean;
  /** The number of the issue that asked for the work. To merge the pull request closes it. */
  readonly closes?: number;
  /** The `actor` of the run's provenance, who is asked to review. Only the adapter that wrote it reads it. */
  readonly requester?: Readonly<Record<string, unknown>>;
}

export interface PullRequest {
  readonly url: string;
  readonly branch: string;
  /** True if this run wrote the description, which links to its session. */
  readonly linksToRun?: boolean;
  /**
   * The thread of the pull request. It is bound to the run that opened the pull request. Undefined: no installation
   * sends the comments of the pull request to Errand.
   */
  readonly thread?: ThreadAddress;
  /** It was opened as a draft now, and becomes ready once its checks pass. */
  readonly awaitsChecks?: true;
  /** What the repository wanted of it and could not be done, one sentence each. */
  readonly remarks?: readonly string[];
}

/** Undefined: the platform does not host the repository, or no installation may access it. */
export type OpenPullRequests = (repository: RepositoryName) => Promise<PullRequestAccess | undefined>;

/** The pull requests of one repository, with a token of the team. */
export type OpenPullRequestsWithToken = (
  repository: RepositoryName,
  token: string,
) => Promise<Omit<PullRequestAccess, "installation">>;

/** The pull requests of one repository, with the key of one installation. */
export interface PullRequestAccess {
  /** The platform's id of the installation whose key is used. */
  readonly installation: string;
  /** Like `PullRequests.open`. */
  open(draft: Omit<PullRequestDraft, keyof TeamAccess | "repository">): Promise<PullRequest | undefined>;
  find(branch: string): Promise<PullRequest | undefined>;
  /** Like `PullRequests.update`. */
  update(draft: Omit<PullRequestDraft, keyof TeamAccess | "repository">): Promise<PullRequest | undefined>;
  takesSuggestions(work: SuggestedWork): Promise<boolean>;
  settings(): Promise<RepositorySettings | undefined>;
  /** Like `PullRequests.makeCommit`. */
  makeCommit(commit: NewCommit): Promise<string>;
  /** By the number of the pull request. */
  read(number: number): Promise<PullRequestReading>;
}
