import { AppError } from "../core/basics/errors.ts";
import type { Sandbox } from "./sandbox.ts";

export const SANDBOX_SETTINGS = ["auto", "docker", "bubblewrap", "seatbelt", "local"] as const;
export type SandboxSetting = (typeof SANDBOX_SETTINGS)[number];

export interface SandboxChoices {
  readonly docker: Sandbox;
  readonly bubblewrap: Sandbox;
  readonly seatbelt: Sandbox;
  readonly local: Sandbox;
  /** What `auto` uses where no sandbox works. It cannot be named. */
  readonly restricted: Sandbox;
}

/** The sandbox of a worker during its lifetime. */
export interface ChosenSandbox {
  readonly sandbox: Sandbox;
  /** Warnings for the operator at the start: what the sandbox does not prevent. */
  readonly warnings: readonly string[];
  /** Notes for the operator at the start: why sandboxes that `auto` prefers were not chosen. */
  readonly notes: readonly string[];
  /** Fails with `environment_setup_failed` and a remedy for an agent that may not run in this sandbox. */
  requireFor(agent: { readonly name: string; readonly isDemo: boolean }): void;
  /**
   * Ends what killed workers of this data directory left, in whatever sandbox. Returns the number of processes or
   * containers.
   */
  sweep(): Promise<number>;
}

const REMEDY =
  "Install bubblewrap or docker, or set ERRAND_SANDBOX=local to run agents with this user's rights, files and network.";

/** The sandbox of the operator's setting. Fails with `environment_setup_failed` when the named one cannot be used. */
export async function chooseSandbox(
  setting: SandboxSetting,
  choices: SandboxChoices,
  platform: NodeJS.Platform = process.platform,
): Promise<ChosenSandbox> {
  switch (setting) {
    case "local":
      return await choose(choices, choices.local);
    case "docker":
    case "bubblewrap":
    case "seatbelt":
      return await named(choices, choices[setting]);
    case "auto":
      return await automatic(choices, platform);
    default:
      return setting satisfies never;
  }
}

async function named(choices: SandboxChoices, sandbox: Sandbox): Promise<ChosenSandbox> {
  const problem = await sandbox.unavailable();
  if (problem === undefined) {
    return await choose(choices, sandbox);
  }
  throw refusal(`The ${sandbox.name} sandbox cannot be used here: ${problem}`);
}

async function automatic(choices: SandboxChoices, platform: NodeJS.Platform): Promise<ChosenSandbox> {
  const problems: string[] = [];
  const { bubblewrap, docker, seatbelt } = choices;
  for (const sandbox of [docker, platform === "darwin" ? seatbelt : bubblewrap]) {
    const problem = await sandbox.unavailable();
    if (problem === undefined) {
      const instead = `The ${sandbox.name} sandbox is used instead.`;
      return await choose(
        choices,
        sandbox,
        problems.map((each) => `${each} ${instead}`),
      );
    }
    problems.push(`The ${sandbox.name} sandbox cannot be used here: ${problem}`);
  }
  const last = await choose(choices, choices.restricted, problems);
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

/** Without the operator's explicit choice, only the demo agent may run without a sandbox. */
function requireDemo({ isDemo, name }: { name: string; isDemo: boolean }, problems: readonly string[]): void {
  if (isDemo) {
    return;
  }
  throw refusal(`The agent ${name} is not run without a sandbox, and there is none. ${problems.join(" ")}`);
}

/** One after another, because they inspect the same processes. */
async function sweepAll({ bubblewrap, docker, local }: SandboxChoices): Promise<number> {
  let count = 0;
  for (const sandbox of [local, bubblewrap, docker]) {
    count += await sandbox.sweep();
  }
  return count;
}

function refusal(message: string): AppError {
  return new AppError("environment_setup_failed", message, { remedy: REMEDY });
}
