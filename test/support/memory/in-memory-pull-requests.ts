import type { ThreadKey } from "../../../src/core/basics/ids.ts";
import type { RepositoryName } from "../../../src/core/model/repositories/repository-name.ts";
import type { RepositorySettings } from "../../../src/core/model/repositories/repository-settings.ts";
import type { NewCommit } from "../../../src/core/ports/change-tracker.ts";
import type {
  PullRequest,
  PullRequestDraft,
  PullRequestReading,
  PullRequests,
  SuggestedWork,
} from "../../../src/core/ports/pull-requests.ts";

/** Pull requests on a system that does not exist. */
export class InMemoryPullRequests implements PullRequests {
  readonly drafts: PullRequestDraft[] = [];
  /** The drafts by which open ones were brought up to date. */
  readonly updates: PullRequestDraft[] = [];
  /** Each error fails one coming opening or search. */
  readonly faults: Error[] = [];
  /** Awaited before one is opened, and again before its opening is reported. */
  readonly gates: Promise<void>[] = [];
  readonly openedGates: Promise<void>[] = [];
  /** The addresses that were read, and what the platform says about them. */
  readonly reads: string[] = [];
  readonly statuses = new Map<string, PullRequestReading>();
  /** Awaited before a status is reported. */
  readonly readGates: Promise<void>[] = [];
  /** What each repository says. */
  repositorySettings: RepositorySettings | undefined;
  /** Whether work fits into suggestions, and the work that was asked about. */
  takesWork = false;
  readonly offered: SuggestedWork[] = [];
  /** True: no installation allows to open any. */
  isClosed = false;
  readonly commits: NewCommit[] = [];
  /** Each error fails one coming commit. */
  readonly commitFaults: Error[] = [];
  readonly #open = new Map<string, PullRequest>();

  async isAllowed(): Promise<boolean> {
    return !this.isClosed;
  }

  async open(draft: PullRequestDraft): Promise<PullRequest | undefined> {
    this.#strike();
    this.drafts.push(draft);
    if (this.isClosed) {
      return undefined;
    }
    await this.gates.shift();
    const opened = this.openedByOther(draft.repository, draft.branch);
    await this.openedGates.shift();
    return opened;
  }

  async find(_teamId: unknown, repository: RepositoryName, branch: string): Promise<PullRequest | undefined> {
    this.#strike();
    return this.#open.get(keyOf(repository, branch));
  }

  async update(draft: PullRequestDraft): Promise<PullRequest | undefined> {
    this.#strike();
    const found = this.#open.get(keyOf(draft.repository, draft.branch));
    if (found !== undefined) {
      this.updates.push(draft);
    }
    return found;
  }

  async takesSuggestions(
    _access: unknown,
    _repository: RepositoryName,
    work: SuggestedWork,
  ): Promise<boolean> {
    this.offered.push(work);
    return this.takesWork;
  }

  async settings(): Promise<RepositorySettings | undefined> {
    return this.repositorySettings;
  }

  async makeCommit(
    _access: unknown,
    _repository: RepositoryName,
    commit: NewCommit,
  ): Promise<string | undefined> {
    const fault = this.commitFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    this.commits.push(commit);
    return this.isClosed ? undefined : `made-${commit.id}`;
  }

  async read(_access: unknown, url: string): Promise<PullRequestReading | undefined> {
    this.#strike();
    this.reads.push(url);
    await this.readGates.shift();
    return this.statuses.get(url);
  }

  /** The number of pull requests. */
  get count(): number {
    return this.#open.size;
  }

  /** It is merged or closed, and its branch has no open one any more. */
  end({ branch, url }: PullRequest, state: "closed" | "merged", base: string): void {
    this.statuses.set(url, { url, state, base, checks: [] });
    for (const [key, open] of this.#open) {
      if (open.branch === branch) {
        this.#open.delete(key);
      }
    }
  }

  openedByOther(repository: RepositoryName, branch: string): PullRequest {
    const key = keyOf(repository, branch);
    const number = this.#open.size + this.statuses.size + 1;
    const known = this.#open.get(key) ?? {
      url: `https://forge.example/${repository.owner}/${repository.name}/pull/${number}`,
      branch,
      thread: { adapter: "memory", installation: "here", key: `pull-${number}` as ThreadKey },
    };
    this.#open.set(key, known);
    return known;
  }

  #strike(): void {
    const fault = this.faults.shift();
    if (fault !== undefined) {
      throw fault;
    }
  }
}

function keyOf({ owner, name }: RepositoryName, branch: string): string {
  return `${owner}/${name}:${branch}`;
}
