import { AppError } from "../core/errors.ts";
import type { Sandbox } from "./sandbox.ts";

export const SANDBOX_SETTINGS = ["auto", "docker", "bubblewrap", "local"] as const;
export type SandboxSetting = (typeof SANDBOX_SETTINGS)[number];

export interface SandboxChoices {
  readonly docker: Sandbox;
  readonly bubblewrap: Sandbox;
  readonly local: Sandbox;
}

/** What a worker runs commands in, for as long as it lives. */
export interface ChosenSandbox {
  readonly sandbox: Sandbox;
  /** For the operator, at the start: what it does not keep agents from. */
  readonly warnings: readonly string[];
  /** The same: why those were not chosen that `auto` would have preferred. */
  readonly notes: readonly string[];
  /** Fails with `environment_setup_failed` and the remedy for an agent that is not run in this sandbox. */
  requireFor(agent: { readonly name: string; readonly isDemo: boolean }): void;
  /** Ends what killed workers of this data directory left, whatever sandbox they had; how many processes or containers. */
  sweep(): Promise<number>;
}

const REMEDY =
  "Install bubblewrap or docker, or set ERRAND_SANDBOX=local to run agents with this user's rights, files and network.";

/** The sandbox of the operator's setting. Fails with `environment_setup_failed` where the one that is named cannot be used. */
export async function chooseSandbox(
  setting: SandboxSetting,
  choices: SandboxChoices,
): Promise<ChosenSandbox> {
  switch (setting) {
    case "local":
      return await choose(choices, choices.local);
    case "docker":
    case "bubblewrap":
      return await named(choices, choices[setting]);
    case "auto":
      return await automatic(choices);
    default:
      return setting satisfies never;
  }
}

async function named(choices: SandboxChoices, sandbox: Sandbox): Promise<ChosenSandbox> {
  const problem = await sandbox.unavailable();
  if (problem === undefined) return await choose(choices, sandbox);
  throw refusal(`The ${sandbox.name} sandbox cannot be used here: ${problem}`);
}

async function automatic(choices: SandboxChoices): Promise<ChosenSandbox> {
  const problems: string[] = [];
  for (const sandbox of [choices.docker, choices.bubblewrap]) {
    const problem = await sandbox.unavailable();
    if (problem === undefined) return await choose(choices, sandbox, problems);
    problems.push(`The ${sandbox.name} sandbox cannot be used here: ${problem}`);
  }
  const last = await choose(choices, choices.local, problems);
  return { ...last, requireFor: (agent) => requireDemo(agent, problems) };
}

async function choose(
  choices: SandboxChoices,
  sandbox: Sandbox,
  problems: readonly string[] = [],
): Promise<ChosenSandbox> {
  return {
    sandbox,
    warnings: await sandbox.weaknesses(),
    notes: problems,
    requireFor: () => undefined,
    sweep: () => sweepAll(choices),
  };
}

/** Nobody asked for less than a sandbox, and the demo agent alone is known to do no harm. */
function requireDemo({ isDemo, name }: { name: string; isDemo: boolean }, problems: readonly string[]): void {
  if (isDemo) return;
  throw refusal(`The agent ${name} is not run without a sandbox, and there is none. ${problems.join(" ")}`);
}

/** One after the other: they look at the same processes. */
async function sweepAll({ bubblewrap, docker, local }: SandboxChoices): Promise<number> {
  let count = 0;
  for (const sandbox of [local, bubblewrap, docker]) count += await sandbox.sweep();
  return count;
}

function refusal(message: string): AppError {
  return new AppError("environment_setup_failed", message, { remedy: REMEDY });
}
