import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../core/basics/defined.ts";
import { AppError, messageWithRemedy, StorageUnavailable } from "../core/basics/errors.ts";
import { isSameRepository, type RepositoryName } from "../core/model/repositories/repository-name.ts";
import type { SkillPlace } from "../core/model/skills/skill.ts";
import type { PlannedRepository, UnreadRepository } from "../core/model/workspaces/workspace.ts";
import type { InitialContents, Preparation, RunWorkspace } from "../core/ports/workspace-provider.ts";
import { EMPTY_TREE, type RefTarget } from "../git/remote-refs.ts";
import type { FoundCommit } from "../git/repository-clones.ts";
import type { SparseCheckout } from "../git/sparse-checkout.ts";
import { writeManifest } from "./base-manifest.ts";
import { findGivenState } from "./changes/given-state.ts";
import type { ClonePart } from "./clone-parts.ts";
import { removeTree } from "./file-trees.ts";
import { writeInputFiles, writeSkillFiles } from "./input-files.ts";
import { LARGE_FILES } from "./large-files.ts";
import { environmentKey } from "./prepared-environments.ts";
import { foldersFor } from "./repository-folders.ts";
import type { RunDirectory } from "./run-directory.ts";
import { findSetupScripts, type PlannedCommand, setUp } from "./setup.ts";
import { sparseText, withoutFolders } from "./sparse-text.ts";
import type { Step, Steps } from "./steps.ts";
import { hasSubmodules, SUBMODULES } from "./submodules.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import { type ClonedRepository, setupOf, type WorkspaceRecord } from "./workspace-record.ts";

/** Unlike any setup, so that a run that continues from these files repeats it. */
const FAILED_SETUP = "failed";
/** A host that does not answer delays a run no longer for a repository that nobody named. */
const GUESS_MS = 30_000;

interface Planned {
  readonly repository: ClonedRepository;
  readonly step: Step;
  readonly isGuessed: boolean;
}

export interface NewWorkspaceOptions {
  readonly deps: WorkspaceDeps;
  readonly preparation: Preparation;
  readonly initialContents: InitialContents;
  readonly run: RunDirectory;
  readonly steps: Steps;
  /** Used instead of those of the plan: the repositories as they were once cloned. */
  readonly repositories?: readonly ClonedRepository[];
}

/** Builds a new workspace: repositories, input files, and what the setup commands of the environment make of them. */
export class NewWorkspace {
  readonly #options: NewWorkspaceOptions;
  readonly #planned: Planned[] = [];
  /** What clones contain only by name. */
  readonly #parts: { readonly part: ClonePart; readonly repository: ClonedRepository }[] = [];
  readonly #lacks: string[] = [];
  readonly #checkedOut: SparseCheckout[] = [];
  #unread: UnreadRepository | undefined;
  #setupError: AppError | undefined;

  constructor(options: NewWorkspaceOptions) {
    this.#options = options;
  }

  /** The guessed repository that could not be read. */
  get unread(): UnreadRepository | undefined {
    return this.#unread;
  }

  /** What the clones lack, in sentences for people and for the agent. */
  get lacks(): readonly string[] {
    return this.#lacks;
  }

  /** Why the setup failed, if the workspace is kept nevertheless. */
  get setupError(): AppError | undefined {
    return this.#setupError;
  }

  /** Fills the run directory. `before`: it already contains the files of another run, described by this record. */
  async make(before: WorkspaceRecord | undefined): Promise<WorkspaceRecord> {
    try {
      await this.#find(before);
      const record = before === undefined ? await this.#makeNew() : await this.#build(before, undefined);
      // Last, so that neither the prepared environment nor the base has files of this run in its home.
      await this.#writeSkills("home");
      return record;
    } catch (error) {
      for (const { step } of this.#planned) {
        step.end("failed");
      }
      throw error;
    }
  }

  async #makeNew(): Promise<WorkspaceRecord> {
    // Without either there is nothing to set up that another run could reuse.
    const mayHaveCommands =
      this.#planned.length > 0 || this.#options.preparation.plan.setupCommands.length > 0;
    const key = mayHaveCommands ? this.#key() : undefined;
    const reused = key === undefined ? undefined : await this.#reuse(key);
    const record = reused ?? (await this.#build(undefined, key));
    // Nothing can be made again by a setup that fails.
    if (this.#setupError === undefined) {
      await this.#noteBase(record);
    }
    return record;
  }

  /**
   * Finds the commit of each repository. The host is asked even when a local copy exists, because access may have
   * been revoked.
   */
  async #find(before: WorkspaceRecord | undefined): Promise<void> {
    const { preparation, repositories: again } = this.#options;
    for (const repository of again ?? []) {
      await this.#findAgain(repository);
    }
    const { plan } = preparation;
    const known = before?.repositories ?? [];
    const wanted = withoutDuplicates(plan.repositories);
    const folders = wanted.length === 0 ? [] : foldersFor(wanted);
    for (const [index, planned] of wanted.entries()) {
      if (known.some((each) => isSameRepository(each, planned))) {
        continue;
      }
      await this.#findNew(planned, await this.#freeFolder(folders[index] ?? planned.name));
    }
  }

  async #findNew(planned: PlannedRepository, folder: string): Promise<void> {
    const { isGuessed = false, isUntrusted, name, owner, ref } = planned;
    const { signal } = this.#options.preparation;
    // The step of a guess is shown only if the guess was right.
    const guessed = isGuessed ? await this.#findGuessed(planned) : undefined;
    if (isGuessed && guessed === undefined) {
      return;
    }
    const step = this.#options.steps.begin(`Clone ${owner}/${name}`);
    // The commit is not known yet, but the step must be ended in any case.
    this.#planned.push({ repository: { owner, name, folder, commit: "" }, step, isGuessed });
    const found = guessed ?? (await this.#findCommit(planned, signal));
    const { sparse } = this.#options.preparation.plan;
    const repository = {
      ...found,
      folder,
      ...defined({ isUntrusted, sparse }),
    };
    this.#planned.splice(-1, 1, { repository, step, isGuessed });
    step.say(stateOf({ ...found, branch: found.branch ?? ref }));
    if (isUntrusted) {
      step.say(", without the files that configure agents");
    }
  }

  #findCommit({ name, owner, ref }: PlannedRepository, signal: AbortSignal): Promise<FoundCommit> {
    const { teamId, withoutTeamToken = false } = this.#options.preparation;
    return this.#options.deps.repositories.find({ teamId, withoutTeamToken, owner, name }, ref, signal);
  }

  async #findGuessed(planned: PlannedRepository): Promise<FoundCommit | undefined> {
    const limited = AbortSignal.any([this.#options.preparation.signal, AbortSignal.timeout(GUESS_MS)]);
    return this.#findCommit(planned, limited).catch((error) => this.#leaveOut(planned, error));
  }

  /** No guess fails a run. */
  #leaveOut({ name, owner }: RepositoryName, error: unknown): undefined {
    const isExpected = error instanceof AppError && !(error instanceof StorageUnavailable);
    if (!isExpected || this.#options.preparation.signal.aborted) {
      throw error;
    }
    this.#unread = { repository: `${owner}/${name}`, reason: messageWithRemedy(error) };
  }

  async #findAgain(repository: ClonedRepository): Promise<void> {
    const { deps, preparation, steps } = this.#options;
    const { signal, teamId, withoutTeamToken = false } = preparation;
    const { name, owner } = repository;
    const step = steps.begin(`Clone ${owner}/${name}`);
    this.#planned.push({ repository, step, isGuessed: false });
    await deps.repositories.find({ teamId, withoutTeamToken, owner, name }, undefined, signal);
    step.say(stateOf(repository));
  }

  /** A file of another run, or another repository, may have the same name. */
  async #freeFolder(wanted: string): Promise<string> {
    const taken = new Set(this.#planned.map(({ repository }) => repository.folder));
    for (let folder = wanted, number = 2; ; folder = `${wanted}-${number}`, number += 1) {
      const found = await lstat(join(this.#options.run.directory, folder)).catch(() => undefined);
      if (found === undefined && !taken.has(folder)) {
        return folder;
      }
    }
  }

  #key(): string {
    const { deps, preparation } = this.#options;
    return environmentKey(preparation, this.#cloned(), deps.sandbox.name);
  }

  #cloned(): readonly ClonedRepository[] {
    return this.#planned.map(({ repository }) => repository);
  }

  /** The setup commands of the environment, else the scripts of the cloned repositories. */
  async #commands({ repositories }: WorkspaceRecord): Promise<readonly PlannedCommand[]> {
    const { preparation, run } = this.#options;
    const { setupCommands } = preparation.plan;
    const cloned = this.#cloned();
    if (setupCommands.length > 0 || cloned.length === 0) {
      return setupCommands.map((command) => ({ command, title: command }));
    }
    return findSetupScripts(run.directory, cloned, repositories.length === 1);
  }

  /** Undefined: there is none, for example because nothing was set up in it. */
  async #reuse(key: string): Promise<WorkspaceRecord | undefined> {
    const { deps, preparation, run, steps } = this.#options;
    if (preparation.isFresh === true) {
      return undefined;
    }
    const record = await deps.prepared.copyTo(run.path, key);
    if (record === undefined) {
      return undefined;
    }
    for (const { step } of this.#planned) {
      endWith(step, ", reused");
    }
    for (const { title } of await this.#commands(record)) {
      endWith(steps.begin(title), "reused");
    }
    await this.#writeBeginning();
    return record;
  }

  async #build(before: WorkspaceRecord | undefined, key: string | undefined): Promise<WorkspaceRecord> {
    const { deps, preparation, run } = this.#options;
    const cloned: ClonedRepository[] = [];
    for (const each of this.#planned) {
      const repository = each.isGuessed ? await this.#cloneGuessed(each) : await this.#clone(each);
      cloned.push(...(repository === undefined ? [] : [repository]));
    }
    const repositories = [...(before?.repositories ?? []), ...cloned];
    const record = { place: run.placeFor(deps.sandbox), setup: setupOf(preparation), repositories };
    if (repositories.length > 0) {
      await mkdir(join(run.directory, "artifacts"), { recursive: true });
    }
    const commands = await this.#commands(record);
    await this.#writeBeginning();
    this.#lacks.push(...withoutFolders(this.#checkedOut));
    await this.#fetchParts(record);
    if (before?.setup === record.setup && cloned.length === 0) {
      return record;
    }
    if (commands.length > 0) {
      await this.#setUp(record, commands);
    }
    const repositoriesNow = await this.#noteGiven(record);
    if (this.#setupError !== undefined) {
      return { ...record, setup: FAILED_SETUP, repositories: repositoriesNow };
    }
    const ready = { ...record, repositories: repositoriesNow };
    const isWhole = cloned.length === this.#planned.length && this.#lacks.length === 0;
    if (key !== undefined && commands.length > 0 && isWhole) {
      await deps.prepared.keep(run.path, key, ready, this.#givenPlaces());
    }
    return ready;
  }

  async #setUp(record: WorkspaceRecord, commands: readonly PlannedCommand[]): Promise<void> {
    const { deps, preparation, run, steps } = this.#options;
    try {
      await setUp(deps, preparation, await run.workspaceOf(record, deps.sandbox), steps, commands);
    } catch (error) {
      const isKept = preparation.keepsFailedSetup === true && !preparation.signal.aborted;
      if (!isKept || !(error instanceof AppError)) {
        throw error;
      }
      this.#setupError = error;
    }
  }

  async #runWorkspace(record: WorkspaceRecord): Promise<RunWorkspace> {
    const { deps, preparation, run } = this.#options;
    const { gateway, plan, runId } = preparation;
    const workspace = await run.workspaceOf(record, deps.sandbox);
    return defined({ runId, workspace, gateway, image: plan.image });
  }

  /** The run works without what cannot be fetched, and says so. */
  async #fetchParts(record: WorkspaceRecord): Promise<void> {
    const { deps, run, steps } = this.#options;
    for (const { part, repository } of this.#parts) {
      const step = steps.begin(part.title(`${repository.owner}/${repository.name}`));
      const runWorkspace = await this.#runWorkspace(record);
      const problem = await part.fetch({ deps, runWorkspace, runPath: run.path, repository }, step);
      this.#lacks.push(...(problem === undefined ? [] : [problem]));
    }
  }

  /** What differs from the commits before the agent starts is not its work. In an older workspace that is not known. */
  async #noteGiven(record: WorkspaceRecord): Promise<ClonedRepository[]> {
    const { deps, run } = this.#options;
    const runWorkspace = await this.#runWorkspace(record);
    const fresh = new Set(this.#cloned().map(({ folder }) => folder));
    const noted: ClonedRepository[] = [];
    for (const repository of record.repositories) {
      const isNew = fresh.has(repository.folder) && repository.given === undefined;
      const given = isNew
        ? await findGivenState(deps.sandbox, runWorkspace, repository, run.path)
        : undefined;
      noted.push(given === undefined ? repository : { ...repository, given });
    }
    return noted;
  }

  async #clone({ repository, step }: Planned): Promise<ClonedRepository> {
    const { deps, preparation, run } = this.#options;
    const { folder, ...found } = repository;
    const { signal, teamId, withoutTeamToken = false } = preparation;
    const { hasPointers, isShallow, sparse, template } = await deps.repositories.clone({
      repository: { teamId, withoutTeamToken, owner: found.owner, name: found.name },
      found,
      directory: join(run.directory, folder),
      onProgress: (line) => step.say(`\n${line}`),
      signal,
    });
    this.#checkedOut.push(...(sparse === undefined ? [] : [sparse]));
    const history = isShallow ? ", without its history, which is too large" : "";
    endWith(step, `${history}${sparse === undefined ? "" : sparseText(sparse)}`);
    const parts = [
      ...(hasPointers ? [LARGE_FILES] : []),
      ...((await hasSubmodules(join(run.directory, folder))) ? [SUBMODULES] : []),
    ];
    this.#parts.push(...parts.map((part) => ({ part, repository })));
    // The author of a fork must not write into a pull request.
    return {
      ...repository,
      ...defined({ template: template === undefined || repository.isUntrusted ? undefined : template }),
    };
  }

  async #cloneGuessed(planned: Planned): Promise<ClonedRepository | undefined> {
    try {
      return await this.#clone(planned);
    } catch (error) {
      planned.step.end("failed");
      await removeTree(join(this.#options.run.directory, planned.repository.folder));
      return this.#leaveOut(planned.repository, error);
    }
  }

  async #writeBeginning(): Promise<void> {
    const { initialContents, run } = this.#options;
    await this.#writeSkills("directory");
    if (initialContents.files.length > 0) {
      await writeInputFiles(run.directory, initialContents.files);
    }
  }

  async #writeSkills(root: SkillPlace["root"]): Promise<void> {
    const { initialContents, run } = this.#options;
    const { skills = [] } = initialContents;
    for (const skill of skills.filter((each) => each.root === root)) {
      await writeSkillFiles(root === "home" ? run.home : run.directory, skill);
    }
  }

  /** Records the base, so that a checkpoint can leave out what every workspace of this environment has. */
  async #noteBase({ repositories }: WorkspaceRecord): Promise<void> {
    const { preparation, run } = this.#options;
    const { image, setupCommands } = preparation.plan;
    const base = { repositories, setupCommands: [...setupCommands] };
    await writeManifest(run.path, image === undefined ? base : { ...base, image }, this.#givenPlaces());
  }

  /** What belongs only to this run, as the first folder of its path. */
  #givenPlaces(): readonly string[] {
    const { files, skills = [] } = this.#options.initialContents;
    const inDirectory = skills.filter(({ root }) => root === "directory");
    const paths = [...files.map(({ path }) => path), ...inDirectory.map(({ directory }) => directory)];
    return [...new Set(paths.flatMap((path) => path.split("/").slice(0, 1)))];
  }
}

function stateOf({ branch = "HEAD", commit }: RefTarget): string {
  return commit === EMPTY_TREE ? "It has no commit yet" : `${branch} at ${commit}`;
}

function withoutDuplicates(repositories: readonly PlannedRepository[]): readonly PlannedRepository[] {
  return repositories.filter(
    (repository, index) => repositories.findIndex((each) => isSameRepository(each, repository)) === index,
  );
}

function endWith(step: Step, text: string): void {
  step.say(text);
  step.end("completed");
}
