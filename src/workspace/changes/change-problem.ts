import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { RepositoryName } from "../../core/model/repositories/repository-name.ts";
import { SCRIPT_ENDS } from "./change-scripts.ts";
import type { ScriptEnd } from "./sandboxed-script.ts";

/**
 * Why the changes of a repository are unknown. The run is not to blame: the caller records the problem and continues.
 */
export function changeProblem(
  { name, owner }: RepositoryName,
  { errorText, exit }: ScriptEnd,
  largeFiles: readonly string[] = [],
): AppError {
  const said = errorText === "" ? "" : ` ${errorText}`;
  const problem = (why: string, remedy?: string) =>
    new AppError("operation_not_supported", `${why}${said}`, defined({ retryable: false, remedy }));
  const repository = `${owner}/${name}`;
  if (exit === "time-out") {
    return problem(`The changes in ${repository} were not found in time.`);
  }
  if (exit === "cut") {
    return problem(`The list of the changes in ${repository} could not be understood.`);
  }
  switch (exit.code) {
    case SCRIPT_ENDS.noGit:
      return problem("There is no git where the run works.", "Put git into the environment's image.");
    case SCRIPT_ENDS.noRepository:
      return problem(`The repository ${repository} is no longer in the workspace, or broken.`);
    case SCRIPT_ENDS.notPushed:
      return largeFiles.length === 0
        ? problem(`The changes in ${repository} could not be pushed.`)
        : problem(
            `The changes in ${repository} could not be pushed. Their commits have large files: ${largeFiles.join(", ")}.`,
            "If the host refuses files of this size, ask the agent to take them out of its commits.",
          );
    case SCRIPT_ENDS.notOurs:
      return problem(
        `The branch in ${repository} has commits of other people that the run does not have.`,
        "Ask the agent to fetch the branch and to merge it into its own.",
      );
    case SCRIPT_ENDS.notFetched:
      return problem(`The newest commits of ${repository} could not be fetched.`);
    default:
      return problem(`The changes in ${repository} cannot be read. ${exit.reason ?? ""}`.trim(), exit.remedy);
  }
}
