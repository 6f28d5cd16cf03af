import type { Workspace } from "../workspaces/workspace.ts";

/** The relative path from the agent's working directory to the input files: empty, or several `../`. */
export function pathToFiles({
  directory,
  workingDirectory,
}: Pick<Workspace, "directory" | "workingDirectory">): string {
  if (!workingDirectory.startsWith(`${directory}/`)) {
    return "";
  }
  const below = workingDirectory.slice(directory.length).split("/");
  return "../".repeat(below.filter((part) => part !== "").length);
}
