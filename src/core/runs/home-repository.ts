import type { RepositoryName } from "../repositories/repository-name.ts";
import type { Run } from "./run.ts";

/** The repository of the issue or pull request in which a run was requested. */
export interface HomeRepository extends RepositoryName {
  /** The branch of the pull request, if it is a branch of this repository. */
  readonly branch?: string;
  /** The number of the issue. Absent: the run was requested in a pull request. */
  readonly issue?: number;
}

/** The repository that the adapter proved when the run was requested. Undefined for other runs. */
export function homeRepositoryOf({ provenance }: Pick<Run, "provenance">): HomeRepository | undefined {
  const [owner, name, ...more] = textIn(provenance.repository, "full_name")?.split("/") ?? [];
  if (!owner || !name || more.length > 0) {
    return undefined;
  }
  const branch = textIn(provenance.head, "branch");
  const issue = issueIn(provenance.object);
  return {
    owner,
    name,
    ...(branch === undefined ? {} : { branch }),
    ...(issue === undefined ? {} : { issue }),
  };
}

function issueIn(object: unknown): number | undefined {
  if (textIn(object, "in") !== "issue" || typeof object !== "object" || object === null) {
    return undefined;
  }
  return "number" in object && Number.isSafeInteger(object.number) ? Number(object.number) : undefined;
}

function textIn(value: unknown, member: string): string | undefined {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  const text = Object.entries(value).find(([name]) => name === member)?.[1];
  return typeof text === "string" && text !== "" ? text : undefined;
}
