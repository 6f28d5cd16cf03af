import type { RepositoryName } from "../../../src/core/model/repositories/repository-name.ts";
import type {
  BranchPush,
  ChangeTracker,
  LeftOutWork,
  PushedWork,
  Restart,
  Restarted,
  RestartRequest,
  WorkspaceChanges,
} from "../../../src/core/ports/change-tracker.ts";
import type { RunWorkspace } from "../../../src/core/ports/workspace-provider.ts";

/** A change tracker whose diffs a test sets. */
export class InMemoryChanges implements ChangeTracker {
  readonly host = "forge.example";
  /** The diffs since the mark, by `owner/name`. */
  readonly sinceSnapshot = new Map<string, string>();
  readonly sinceClone = new Map<string, string>();
  readonly leftOut: LeftOutWork[] = [];
  /** What the next calls of `fastForward` return. */
  readonly elsewhere: LeftOutWork[][] = [];
  /** The files that tools wrote, as the last call of `diff` got them. */
  written: readonly string[] | undefined;
  readonly pushes: BranchPush[] = [];
  /** What the next calls of `outside` return. */
  readonly outsideFiles: string[][] = [];
  readonly restarts: RestartRequest[] = [];
  /** Each error fails one coming call of its kind. */
  readonly diffFaults: Error[] = [];
  readonly markFaults: Error[] = [];
  readonly pushFaults: Error[] = [];
  /** Each is why the host does not sign the commits of one coming push. */
  readonly signingProblems: string[] = [];
  /** Each call awaits one of these first. */
  readonly markGates: Promise<void>[] = [];
  readonly pushGates: Promise<void>[] = [];
  /** The subject of the agent's first commit. Undefined: it commits nothing. */
  subject: string | undefined;
  marks = 0;
  /** The repositories that had no commit, by `owner/name`. */
  readonly emptyAtFirst = new Set<string>();
  /** The templates of pull requests, by `owner/name`. */
  readonly templates = new Map<string, string>();
  readonly #journal: string[];

  constructor(journal: string[] = []) {
    this.#journal = journal;
  }

  async takeSnapshot(): Promise<void> {
    await this.markGates.shift();
    const fault = this.markFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    this.marks += 1;
  }

  async wasEmpty(_site: RunWorkspace, { name, owner }: RepositoryName): Promise<boolean> {
    return this.emptyAtFirst.has(`${owner}/${name}`);
  }

  async templateOf(_site: RunWorkspace, { name, owner }: RepositoryName): Promise<string | undefined> {
    return this.templates.get(`${owner}/${name}`);
  }

  async restart(_site: RunWorkspace, request: RestartRequest): Promise<Restarted | undefined> {
    if (this.restarts.some(({ after }) => after === request.after)) {
      return undefined;
    }
    this.restarts.push(request);
    return { base: request.base ?? "main", commit: "ba5eba5eba5eba5e" };
  }

  async restartOf(): Promise<Restart | undefined> {
    const { base = "main", branchNumber } = this.restarts.at(-1) ?? {};
    return branchNumber === undefined ? undefined : { base, branchNumber };
  }

  async outside(): Promise<readonly string[]> {
    return this.outsideFiles.shift() ?? [];
  }

  async fastForward(): Promise<readonly LeftOutWork[]> {
    return this.elsewhere.shift() ?? [];
  }

  async diff(
    _site: RunWorkspace,
    since: "snapshot" | "clone",
    written?: readonly string[],
  ): Promise<WorkspaceChanges> {
    this.written = written;
    this.#journal.push(`diff since ${since}`);
    const fault = this.diffFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    const texts = since === "snapshot" ? this.sinceSnapshot : this.sinceClone;
    const diffs = Array.from(texts, ([name, text]) => ({
      repository: repositoryNamed(name),
      patch: new TextEncoder().encode(text),
      isCut: false,
      filesChanged: 1,
      base: "ba5e",
      files: [{ path: "file.txt", status: "modified" as const, additions: 1, deletions: 0 }],
    }));
    return { diffs, leftOut: this.leftOut };
  }

  async push(_site: RunWorkspace, push: BranchPush): Promise<PushedWork | undefined> {
    this.pushes.push(push);
    this.#journal.push(`pushed ${push.branch}`);
    await this.pushGates.shift();
    const problem = this.signingProblems.shift();
    if (problem !== undefined) {
      push.signing?.notSigned(problem);
    }
    const fault = this.pushFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    const { name, owner } = push.repository;
    if (!this.sinceClone.has(`${owner}/${name}`)) {
      return undefined;
    }
    const subject = this.subject ?? push.message.split("\n", 1)[0] ?? "";
    return { pushed: { owner, name, branch: push.branch, commit: "c0ffee" }, subject };
  }
}

function repositoryNamed(fullName: string): RepositoryName {
  const [owner = "", name = ""] = fullName.split("/");
  return { owner, name };
}
