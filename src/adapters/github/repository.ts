import { z } from "zod";
import type { GithubClient } from "./client.ts";

export interface Repository {
  readonly owner: string;
  readonly repo: string;
}

const repositoryAnswer = z.object({ name: z.string(), owner: z.object({ login: z.string() }) });

/** What a repository is called now. Asked each time: a name that was given up can be another repository's. */
export async function findRepository(
  client: GithubClient,
  installation: string,
  id: number,
): Promise<Repository> {
  const call = { route: "GET /repositories/{id}", parameters: { id }, answer: repositoryAnswer };
  const { name, owner } = await client.call(installation, call);
  return { owner: owner.login, repo: name };
}
