import type { AppError } from "../../../src/core/basics/errors.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type {
  Collected,
  GoneFiles,
  LeftOutFile,
  PreparedWorkspace,
  ShownPath,
  StoredFiles,
  StoredTurn,
  StoredWithinTurn,
  UnreadRepository,
  Workspace,
  WorkspacePaths,
  WorkspacePlan,
  WorkspaceStep,
} from "../../../src/core/model/workspaces/workspace.ts";
import type {
  InitialContents,
  Preparation,
  WorkspaceProvider,
} from "../../../src/core/ports/workspace-provider.ts";

/** Workspaces without files, which have only names. */
export class InMemoryWorkspaces implements WorkspaceProvider {
  readonly checkpoints: string[] = [];
  readonly works: string[] = [];
  readonly forgotten: string[] = [];
  /** Each error fails one coming checkpoint. */
  readonly faults: Error[] = [];
  /** Each coming checkpoint awaits one of these. */
  readonly checkpointGates: ((signal?: AbortSignal) => Promise<void>)[] = [];
  /** Each error fails one coming checkpoint of the work alone. */
  readonly workFaults: Error[] = [];
  /** What the coming workspaces have lost. */
  gone: GoneFiles | undefined;
  /** The guessed repository that the coming workspaces lack. */
  unread: UnreadRepository | undefined;
  lacks: readonly string[] | undefined;
  /** The files that every checkpoint leaves out. */
  readonly unstorable: LeftOutFile[] = [];
  /** Each error fails one coming preparation. */
  readonly prepareFaults: Error[] = [];
  /** Each error is that of a failed setup command of one coming preparation. */
  readonly setupErrors: AppError[] = [];
  /** The workspaces of failed setups that became those of their runs, and those that were removed. */
  readonly usedSetups: RunId[] = [];
  readonly removedSetups: RunId[] = [];
  readonly preparations: Preparation[] = [];
  /** The steps that each preparation reports. */
  readonly steps: WorkspaceStep[] = [];
  /** Each preparation awaits one of these. */
  readonly gates: ((signal: AbortSignal) => Promise<void>)[] = [];

  /** The initial contents of the new workspaces. */
  readonly beginnings: InitialContents[] = [];
  /** The files that were added to workspaces. */
  readonly added: InitialContents["files"][number][] = [];
  /** The files that are collected at the coming ends of turns. */
  readonly found: Collected[] = [];
  /** The known files that each collection was called with. */
  readonly known: ReadonlyMap<string, string>[] = [];
  /** The paths that the coming workspaces have in their sandbox. */
  inside: WorkspacePaths | undefined;
  /** Whether the coming workspaces were on their worker already. */
  isOwnCopy = true;
  /** What the coming calls within a turn store. */
  readonly withinTurn: ((before: StoredFiles | undefined) => StoredWithinTurn)[] = [];
  readonly faultsWithinTurn: Error[] = [];
  readonly gatesWithinTurn: ((signal: AbortSignal) => Promise<void>)[] = [];
  /** The size of each workspace. */
  bytes = 0;
  readonly #journal: string[];

  constructor(journal: string[] = []) {
    this.#journal = journal;
  }

  async prepare(preparation: Preparation): Promise<PreparedWorkspace> {
    const { initialContents, stored, plan, runId, signal, report } = preparation;
    this.preparations.push(preparation);
    const begun = stored === undefined ? await initialContents() : undefined;
    for (const step of this.steps) {
      report(step);
    }
    await this.gates.shift()?.(signal);
    const fault = this.prepareFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    const setupError = this.setupErrors.shift();
    if (setupError !== undefined && preparation.keepsFailedSetup !== true) {
      throw setupError;
    }
    if (begun !== undefined) {
      this.beginnings.push(begun);
    }
    const { gone, inside, isOwnCopy, lacks, unread } = this;
    return {
      ...{ ...workspaceOf(runId, plan), gone, isOwnCopy, lacks, unread },
      ...(inside === undefined ? {} : { inside }),
      ...(setupError === undefined ? {} : { setupError }),
    };
  }

  async endFailedSetup(runId: RunId, isUsed: boolean): Promise<void> {
    (isUsed ? this.usedSetups : this.removedSetups).push(runId);
  }

  async addFiles(_runId: RunId, files: InitialContents["files"]): Promise<void> {
    this.added.push(...files);
  }

  async checkpoint(
    _runId: RunId,
    onLeftOut?: (file: LeftOutFile) => void,
    signal?: AbortSignal,
  ): Promise<string> {
    await this.checkpointGates.shift()?.(signal);
    const fault = this.faults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    this.checkpoints.push(`checkpoint-${this.checkpoints.length + 1}`);
    for (const file of this.unstorable) {
      onLeftOut?.(file);
    }
    this.#journal.push("workspace stored");
    return this.checkpoints.at(-1) ?? "";
  }

  async storeTurn(runId: RunId, before: StoredFiles | undefined): Promise<StoredTurn> {
    const changes = this.withinTurn.shift();
    if (changes !== undefined) {
      this.#journal.push("turn stored");
      return { ...changes(before), isQuick: true };
    }
    const leftOut: LeftOutFile[] = [];
    const checkpoint = await this.checkpoint(runId, (file) => leftOut.push(file));
    return { checkpoint, leftOut, isQuick: false };
  }

  async checkpointWork(): Promise<string> {
    const fault = this.workFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    this.works.push(`work-${this.works.length + 1}`);
    return this.works.at(-1) ?? "";
  }

  async storeWithinTurn(
    _runId: RunId,
    before: StoredFiles | undefined,
    signal: AbortSignal,
  ): Promise<StoredWithinTurn | undefined> {
    await this.gatesWithinTurn.shift()?.(signal);
    const fault = this.faultsWithinTurn.shift();
    if (fault !== undefined) {
      throw fault;
    }
    this.#journal.push("stored within the turn");
    return this.withinTurn.shift()?.(before);
  }

  async size(): Promise<number> {
    return this.bytes;
  }

  shownPaths(): readonly ShownPath[] {
    return [];
  }

  async collect(_runId: RunId, known: ReadonlyMap<string, string>): Promise<Collected> {
    this.known.push(known);
    return this.found.shift() ?? { files: [], leftOut: [] };
  }

  async removeCheckpoint(checkpoint: string): Promise<void> {
    this.forgotten.push(checkpoint);
  }
}

function workspaceOf(runId: RunId, { repositories }: WorkspacePlan): Workspace {
  const directory = `/runs/${runId}/workspace`;
  const [first, ...more] = repositories;
  const isAlone = first !== undefined && more.length === 0;
  const workingDirectory = isAlone ? `${directory}/${first.name}` : directory;
  return { directory, workingDirectory, home: `/runs/${runId}/home` };
}
