import { AppError } from "../core/errors.ts";
import type { Sandbox } from "./sandbox.ts";

export const SANDBOX_SETTINGS = ["auto", "docker", "bubblewrap", "local"] as const;
export type SandboxSetting = (typeof SANDBOX_SETTINGS)[number];

export interface SandboxChoices {
  readonly bubblewrap: Sandbox;
  readonly local: Sandbox;
}

const REMEDY =
  "Install bubblewrap, or set ERRAND_SANDBOX=local to run agents with this user's rights, files and network.";

/** The sandbox for an agent, by the operator's setting. Fails with `environment_setup_failed` and the remedy. */
export async function chooseSandbox(
  setting: SandboxSetting,
  agent: { readonly name: string; readonly isDemo: boolean },
  choices: SandboxChoices,
): Promise<Sandbox> {
  switch (setting) {
    case "local":
      return choices.local;
    case "docker":
      throw refusal(
        "The docker sandbox is not there yet.",
        "Set ERRAND_SANDBOX to auto, bubblewrap or local.",
      );
    case "bubblewrap":
      return await bubblewrapOrRefusal(choices);
    case "auto":
      return await automatic(agent, choices);
    default:
      return setting satisfies never;
  }
}

async function bubblewrapOrRefusal({ bubblewrap }: SandboxChoices): Promise<Sandbox> {
  const problem = await bubblewrap.unavailable();
  if (problem === undefined) {
    return bubblewrap;
  }
  throw refusal(`The bubblewrap sandbox cannot be used here: ${problem}`, REMEDY);
}

async function automatic(
  agent: { readonly name: string; readonly isDemo: boolean },
  { bubblewrap, local }: SandboxChoices,
): Promise<Sandbox> {
  const problem = await bubblewrap.unavailable();
  if (problem === undefined) {
    return bubblewrap;
  }
  if (agent.isDemo) {
    return local;
  }
  throw refusal(
    `The agent ${agent.name} is not run without a sandbox, and there is none: ${problem}`,
    REMEDY,
  );
}

function refusal(message: string, remedy: string): AppError {
  return new AppError("environment_setup_failed", message, { remedy });
}
