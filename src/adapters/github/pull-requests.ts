import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import type { PullRequest, PullRequestAccess } from "../../core/pull-requests/pull-requests.ts";
import type { RepositoryName } from "../../core/repositories/repository-name.ts";
import type { GithubClient } from "./client.ts";
import { oneLine } from "./plain-text.ts";
import type { GithubRepositories, Repository } from "./repositories.ts";
import { threadKeyOf } from "./thread-key.ts";

const MAX_TITLE = 256;

const pullAnswer = z.object({
  number: z.int(),
  html_url: z.url(),
  head: z.object({ ref: z.string() }),
  base: z.object({ repo: z.object({ id: z.number() }) }),
});
const pullsAnswer = z.array(pullAnswer);
const repositoryAnswer = z.object({ default_branch: z.string() });

type Draft = Parameters<PullRequestAccess["open"]>[0];

interface Place extends Repository {
  readonly client: GithubClient;
  readonly installation: string;
}

export async function openPullRequests(
  { owner, name: repo }: RepositoryName,
  { client, repositories }: { readonly client: GithubClient; readonly repositories: GithubRepositories },
): Promise<PullRequestAccess | undefined> {
  const id = await repositories.installationOf(owner, repo);
  if (id === undefined) {
    return undefined;
  }
  const place = { client, installation: String(id), owner, repo };
  return {
    installation: place.installation,
    open: async (draft) => (await find(place, draft.branch)) ?? create(place, draft),
    find: (branch) => find(place, branch),
  };
}

async function find(place: Place, branch: string): Promise<PullRequest | undefined> {
  const { client, installation, owner, repo } = place;
  const call = {
    route: "GET /repos/{owner}/{repo}/pulls",
    parameters: { owner, repo, head: `${owner}:${branch}`, state: "open", per_page: 1 },
    answer: pullsAnswer,
  };
  const [found] = await client.call(installation, call);
  // GitHub leaves out a filter that it does not understand.
  return found?.head.ref === branch ? pullRequestOf(place, found) : undefined;
}

async function create(place: Place, draft: Draft): Promise<PullRequest | undefined> {
  const base = draft.base ?? (await defaultBranchOf(place));
  if (base === draft.branch) {
    return undefined;
  }
  try {
    return await createOn(place, draft, base);
  } catch (error) {
    return createOtherwise(place, { draft, base }, error);
  }
}

/** Only the text of the error says why GitHub refused. */
async function createOtherwise(
  place: Place,
  { draft, base }: { readonly draft: Draft; readonly base: string },
  error: unknown,
): Promise<PullRequest | undefined> {
  if (!(error instanceof AppError) || error.code !== "invalid_request") {
    throw error;
  }
  if (/no commits between/i.test(error.message)) {
    return undefined;
  }
  // A repository whose plan has no drafts.
  if (draft.isDraft && /draft/i.test(error.message)) {
    return create(place, { ...draft, base, isDraft: false });
  }
  // Another request opened it first.
  const found = await find(place, draft.branch);
  if (found !== undefined) {
    return found;
  }
  // The base branch was merged and deleted meanwhile.
  const { base: wanted, ...rest } = draft;
  if (wanted !== undefined && /\bbase\b/.test(error.message)) {
    return create(place, rest);
  }
  throw error;
}

async function createOn(place: Place, draft: Draft, base: string): Promise<PullRequest> {
  const { client, installation, owner, repo } = place;
  const { body, branch: head, isDraft, title } = draft;
  const parameters = { owner, repo, title: oneLine(title, MAX_TITLE), head, base, body, draft: isDraft };
  const call = { route: "POST /repos/{owner}/{repo}/pulls", parameters, answer: pullAnswer };
  return pullRequestOf(place, await client.call(installation, call));
}

async function defaultBranchOf({ client, installation, owner, repo }: Place): Promise<string> {
  const call = { route: "GET /repos/{owner}/{repo}", parameters: { owner, repo }, answer: repositoryAnswer };
  return (await client.call(installation, call)).default_branch;
}

function pullRequestOf({ installation }: Place, pull: z.infer<typeof pullAnswer>): PullRequest {
  const { base, head, html_url: url, number } = pull;
  const key = threadKeyOf({ repositoryId: base.repo.id, number });
  return { url, branch: head.ref, thread: { adapter: "github", installation, key } };
}
