import { systemClock } from "../../src/app/system.ts";
import type { RunId, TeamId } from "../../src/core/basics/ids.ts";
import type { WorkspaceStep } from "../../src/core/model/workspaces/workspace.ts";
import type { Preparation, WorkspaceProvider } from "../../src/core/ports/workspace-provider.ts";
import { type CloneOptions, RepositoryClones } from "../../src/git/repository-clones.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import {
  createWorkspaceProvider,
  type WorkspaceProviderOptions,
} from "../../src/workspace/workspace-provider.ts";
import { anIdleGateway } from "./idle-gateway.ts";
import { SILENT_LOG } from "./logs.ts";
import { createInMemoryBlobStore } from "./memory/storage/blob-store.ts";

const MINUTE_MS = 60_000;

export type WorkspaceProviderChanges = Partial<WorkspaceProviderOptions> &
  Partial<Pick<CloneOptions, "authorize">> & { readonly gitUrl?: string };

/** Creates a workspace provider for a test. Repositories are cloned from `gitUrl`. */
export function aWorkspaceProvider(
  dataDir: string,
  {
    authorize = async () => undefined,
    gitUrl: baseUrl = "file:///nowhere",
    ...changes
  }: WorkspaceProviderChanges = {},
): WorkspaceProvider {
  return createWorkspaceProvider({
    dataDir,
    blobs: createInMemoryBlobStore(systemClock),
    sandbox: createLocalSandbox(dataDir),
    repositories: new RepositoryClones({ dataDir, baseUrl, authorize, log: SILENT_LOG }),
    variablesOf: () => ({}),
    setup: { commandMs: MINUTE_MS, totalMs: MINUTE_MS },
    log: SILENT_LOG,
    ...changes,
  });
}

/** Finds commits at a host for a change tracker. */
export function commitsAt(
  dataDir: string,
  baseUrl: string,
  authorize: CloneOptions["authorize"] = async () => undefined,
): RepositoryClones["find"] {
  const clones = new RepositoryClones({ dataDir, baseUrl, authorize, log: SILENT_LOG });
  return clones.find.bind(clones);
}

export interface TestPreparation extends Preparation {
  /** All reported steps, in their order. */
  readonly reportedSteps: WorkspaceStep[];
}

/** Returns the preparation of a workspace whose environment has no repositories and no setup commands. */
export function aPreparation(
  runId: RunId,
  changes: Partial<Omit<Preparation, "plan">> & { readonly plan?: Partial<Preparation["plan"]> } = {},
): TestPreparation {
  const reportedSteps: WorkspaceStep[] = [];
  return {
    runId,
    teamId: "team-1" as TeamId,
    initialContents: async () => ({ files: [] }),
    gateway: anIdleGateway(),
    variables: {},
    report: (step) => void reportedSteps.push(step),
    signal: new AbortController().signal,
    reportedSteps,
    ...changes,
    plan: { repositories: [], setupCommands: [], ...changes.plan },
  };
}

/** Returns title, last status and whole output of each step. */
export function stepsOf(
  reportedSteps: readonly WorkspaceStep[],
): readonly (readonly [string, string, string])[] {
  const steps = new Map<string, [string, string, string]>();
  for (const { output = "", status, stepId, title } of reportedSteps) {
    steps.set(stepId, [title, status, (steps.get(stepId)?.[2] ?? "") + output]);
  }
  return [...steps.values()];
}
