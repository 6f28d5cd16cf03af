import type { RunWorkspace } from "../core/ports/workspace-provider.ts";
import { runScript, type ScriptEnd } from "./changes/sandboxed-script.ts";
import type { Step } from "./steps.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import type { ClonedRepository } from "./workspace-record.ts";

export interface ClonePartOptions {
  readonly deps: Pick<WorkspaceDeps, "sandbox" | "setup" | "variablesOf">;
  readonly runWorkspace: RunWorkspace;
  readonly runPath: string;
  readonly repository: Pick<ClonedRepository, "folder" | "isUntrusted" | "name" | "owner">;
}

/** What a clone contains only by name, until it is fetched in the sandbox, through the gateway. */
export interface ClonePart {
  title(repository: string): string;
  /** Ends the step. Returns what the clone lacks and why, in a sentence for people and for the agent. */
  fetch(options: ClonePartOptions, step: Step): Promise<string | undefined>;
}

/** Runs a script, whose argument is the folder of the clone, in the sandbox. It reaches the gateway. */
export function runInClone(
  { deps, repository, runPath, runWorkspace }: ClonePartOptions,
  script: string,
  maxOutputBytes: number,
): Promise<ScriptEnd> {
  return runScript(
    {
      sandbox: deps.sandbox,
      runWorkspace,
      script,
      args: [repository.folder],
      env: deps.variablesOf(runWorkspace.gateway),
      hasPortForward: true,
      writable: [],
      maxOutputBytes,
      timeoutMs: deps.setup.commandMs,
    },
    runPath,
  );
}
