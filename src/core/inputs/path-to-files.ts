import type { Workspace } from "../workspaces/workspace.ts";

/** From where the agent works to where the files are that the run was given: empty, or a number of `../`. */
export function pathToFiles({
  directory,
  workingDirectory,
}: Pick<Workspace, "directory" | "workingDirectory">): string {
  if (!workingDirectory.startsWith(`${directory}/`)) return "";
  const below = workingDirectory.slice(directory.length).split("/");
  return "../".repeat(below.filter((part) => part !== "").length);
}
