import type { RepositoryName } from "../repositories/repository-name.ts";
import type { Run } from "./run.ts";

/** The repository in whose issue or pull request a run was asked for. */
export interface HomeRepository extends RepositoryName {
  /** The branch of the pull request it was asked for in, where that is one of this repository. */
  readonly branch?: string;
}

/** As the adapter proved it when the run was asked for; of a run from elsewhere, undefined. */
export function homeRepositoryOf({ provenance }: Pick<Run, "provenance">): HomeRepository | undefined {
  const [owner, name, ...more] = textIn(provenance.repository, "full_name")?.split("/") ?? [];
  if (!owner || !name || more.length > 0) return undefined;
  const branch = textIn(provenance.head, "branch");
  return { owner, name, ...(branch === undefined ? {} : { branch }) };
}

function textIn(value: unknown, member: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = Object.entries(value).find(([name]) => name === member)?.[1];
  return typeof text === "string" && text !== "" ? text : undefined;
}
