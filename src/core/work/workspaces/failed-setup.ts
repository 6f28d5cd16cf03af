import type { PreparedWorkspace, WorkspacePlan } from "../../model/workspaces/workspace.ts";

/** Names a failed setup among what the workspace lacks. Its output is in the log already. */
export function withFailedSetup({
  setupError,
  ...workspace
}: PreparedWorkspace): Omit<PreparedWorkspace, "setupError"> {
  if (setupError === undefined) {
    return workspace;
  }
  const [what = ""] = setupError.message.split("\n");
  const lack = `The run continues in a workspace whose setup failed: ${what}`;
  return { ...workspace, lacks: [...(workspace.lacks ?? []), lack] };
}

/** What an agent must know that is to look into a failed setup. The first turn also contains the request of the run. */
export function failedSetupText(
  { lacks = [], setupError }: Pick<PreparedWorkspace, "lacks" | "setupError">,
  { setupCommands }: WorkspacePlan,
): string {
  const output = setupError?.message.replaceAll(/\n\s*\n/g, "\n") ?? "";
  const commands = setupCommands.length === 0 ? [] : ["Its setup commands are:", ...setupCommands];
  return [
    "The setup of this workspace failed before you started, and the files are as it left them.",
    output,
    ...commands,
    ...lacks,
    "The follow-ups below came after that failure. Do what they ask. Do the request before them only if they ask for it.",
  ].join("\n");
}
