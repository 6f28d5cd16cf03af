import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { RepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { NewCommit } from "../../core/ports/change-tracker.ts";
import type { PullRequest, PullRequestAccess, SuggestedWork } from "../../core/ports/pull-requests.ts";
import { threadKeyOf } from "./addresses.ts";
import type { GithubClient, GithubTokenClient } from "./client.ts";
import type { GitWrites } from "./commits/git-writes.ts";
import { makeCommit } from "./commits/make-commit.ts";
import { addLabels } from "./errand-file/labels.ts";
import { ErrandFiles } from "./errand-file/reader.ts";
import { type Draft, isDescribedBy, newText, renewedText } from "./pull-request-description.ts";
import { readPullRequest } from "./pull-request-status.ts";
import type { GithubRepositories, RepositoryNames } from "./repositories.ts";
import { takesSuggestions } from "./review/suggest-work.ts";
import type { CallRepository, Repository } from "./routes.ts";

const pullAnswer = z.object({
  number: z.int(),
  html_url: z.url(),
  title: z.string(),
  body: z.string().nullish(),
  draft: z.boolean().nullish(),
  head: z.object({ ref: z.string() }),
  base: z.object({ repo: z.object({ id: z.number() }) }),
});
const requesterSchema = z.object({ login: z.string().regex(/^[\w-]+$/) });
const anyAnswer = z.unknown();
const pullsAnswer = z.array(pullAnswer);
const repositoryAnswer = z.object({ default_branch: z.string() });

type Pull = z.infer<typeof pullAnswer>;

/** A repository, and calls of its API with the credentials of an installation or of a team. */
interface RepositoryApi extends Repository {
  readonly call: CallRepository;
  /** Undefined: no installation sends the comments of its pull requests. */
  readonly installation?: string;
  readonly appId?: number;
  /** As GitHub said it lately. */
  readonly defaultBranch?: string | undefined;
  readonly files: Pick<ErrandFiles, "read">;
  readonly writes?: GitWrites;
}

/** Asks something of the API of a repository. After a rename, asks again under the present name. */
type AskRepository = <Value>(ask: (api: RepositoryApi) => Promise<Value>) => Promise<Value>;

interface PullRequestDeps {
  readonly client: GithubClient;
  readonly files: Pick<ErrandFiles, "read">;
  readonly names: RepositoryNames;
  readonly repositories: GithubRepositories;
  readonly writes: GitWrites;
}

export async function openPullRequests(
  { owner, name }: RepositoryName,
  { client, files, names, repositories, writes }: PullRequestDeps,
): Promise<PullRequestAccess | undefined> {
  const found = await repositories.find(owner, name);
  if (found === undefined) {
    return undefined;
  }
  const { id, installation } = found;
  const at: AskRepository = (ask) => {
    const askAs = (repository: Repository) => {
      const call: CallRepository = (request) => client.callIn(installation, repository, request);
      const { defaultBranch } = names.of(repository.owner, repository.repo) ?? {};
      const { appId } = client;
      return ask({ ...repository, appId, call, defaultBranch, files, installation, writes });
    };
    return id === undefined ? askAs(found) : names.use(installation, id, askAs);
  };
  return { installation, ...pullRequestsOf(at) };
}

/** The same with a token instead of the App. */
export async function openPullRequestsWithToken(
  { owner, name: repo }: RepositoryName,
  client: Pick<GithubTokenClient, "callIn">,
): Promise<Omit<PullRequestAccess, "installation">> {
  const call: CallRepository = (request) => client.callIn({ owner, repo }, request);
  const files = new ErrandFiles(Date.now);
  return pullRequestsOf((ask) => ask({ call, files, owner, repo }));
}

function pullRequestsOf(at: AskRepository): Omit<PullRequestAccess, "installation"> {
  return {
    open: (draft) => at((api) => create(api, draft)),
    find: (branch) => at((api) => find(api, branch)),
    update: (draft) => at((api) => update(api, draft)),
    takesSuggestions: (work) => at((api) => takesWork(api, work)),
    makeCommit: (commit) => at((api) => makeSigned(api, commit)),
    settings: () => at((api) => api.files.read(api, api.call)),
    read: (number) => at((api) => readPullRequest(api, number)),
  };
}

async function find(api: RepositoryApi, branch: string): Promise<PullRequest | undefined> {
  const found = await findPull(api, branch);
  return found && pullRequestOf(api, found);
}

async function makeSigned({ call, installation, writes }: RepositoryApi, commit: NewCommit): Promise<string> {
  if (installation === undefined || writes === undefined) {
    const words = "GitHub signs only for an App, and Errand's App is not installed there";
    throw new AppError("operation_not_supported", words, { retryable: false });
  }
  const counted: CallRepository = (request) => {
    writes.take(installation);
    return call(request);
  };
  return makeCommit(counted, commit);
}

async function takesWork(api: RepositoryApi, { branch, ...work }: SuggestedWork): Promise<boolean> {
  const found = await findPull(api, branch);
  return found !== undefined && takesSuggestions(api.call, found.number, work);
}

/** The pull request of another run or person keeps its description. */
async function update(api: RepositoryApi, draft: Draft): Promise<PullRequest | undefined> {
  const found = await findPull(api, draft.branch);
  if (found === undefined) {
    return undefined;
  }
  const linksToRun = isDescribedBy(draft, found.body ?? "");
  if (linksToRun) {
    await refresh(api, found, draft);
  }
  return { ...pullRequestOf(api, found), linksToRun };
}

async function findPull(api: RepositoryApi, branch: string): Promise<Pull | undefined> {
  const [found] = await api.call({
    route: "GET /repos/{owner}/{repo}/pulls",
    parameters: { head: `${api.owner}:${branch}`, state: "open", per_page: 1 },
    answer: pullsAnswer,
  });
  // GitHub leaves out a filter that it does not understand.
  return found?.head.ref === branch ? found : undefined;
}

async function create(api: RepositoryApi, draft: Draft): Promise<PullRequest | undefined> {
  const base = draft.base ?? api.defaultBranch ?? (await defaultBranchOf(api));
  if (base === draft.branch) {
    return undefined;
  }
  try {
    return await createOn(api, draft, base);
  } catch (error) {
    return createOtherwise(api, { draft, base }, error);
  }
}

/** Only the text of the error says why GitHub refused. */
async function createOtherwise(
  api: RepositoryApi,
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
    return create(api, { ...draft, base, isDraft: false });
  }
  // An earlier turn or another request opened it.
  const found = await findPull(api, draft.branch);
  if (found !== undefined) {
    await refresh(api, found, draft);
    return { ...pullRequestOf(api, found), linksToRun: isDescribedBy(draft, found.body ?? "") };
  }
  // The base branch was merged and deleted meanwhile.
  const { base: wanted, ...rest } = draft;
  if (wanted !== undefined && /\bbase\b/.test(error.message)) {
    return create({ ...api, defaultBranch: undefined }, rest);
  }
  throw error;
}

async function createOn(api: RepositoryApi, draft: Draft, base: string): Promise<PullRequest> {
  const { branch: head, isDraft } = draft;
  const parameters = { ...newText(draft), head, base, draft: isDraft };
  const route = "POST /repos/{owner}/{repo}/pulls";
  const settings = await api.files.read(api, api.call);
  const opened = await api.call({ route, parameters, answer: pullAnswer });
  await askForReview(api, opened, draft);
  const isAwaited = settings?.isReadyWhenGreen === true && opened.draft === true;
  return {
    ...pullRequestOf(api, opened),
    linksToRun: true,
    ...defined({
      awaitsChecks: isAwaited ? (true as const) : undefined,
      remarks: settings && (await addLabels(api.call, opened.number, settings)),
    }),
  };
}

/** Not everybody who may ask for work can review it. The pull request counts without. */
async function askForReview({ call }: RepositoryApi, { number }: Pull, { requester }: Draft): Promise<void> {
  const { data: reviewer } = requesterSchema.safeParse(requester);
  if (reviewer === undefined) {
    return;
  }
  const parameters = { pull_number: number, reviewers: [reviewer.login] };
  const route = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers";
  await call({ route, parameters, answer: anyAnswer }).catch((error) => {
    if (!(error instanceof AppError)) {
      throw error;
    }
  });
}

/** Brings title and description up to date, as far as no person has written them. */
async function refresh({ call }: RepositoryApi, { body, number, title }: Pull, draft: Draft): Promise<void> {
  const changes = renewedText({ title, body: body ?? "" }, draft);
  if (changes !== undefined) {
    const route = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}";
    await call({ route, parameters: { pull_number: number, ...changes }, answer: anyAnswer });
  }
}

async function defaultBranchOf({ call }: RepositoryApi): Promise<string> {
  const route = "GET /repos/{owner}/{repo}";
  return (await call({ route, parameters: {}, answer: repositoryAnswer })).default_branch;
}

function pullRequestOf({ installation }: RepositoryApi, pull: Pull): PullRequest {
  const { base, head, html_url: url, number } = pull;
  if (installation === undefined) {
    return { url, branch: head.ref };
  }
  const key = threadKeyOf({ repositoryId: base.repo.id, number });
  return { url, branch: head.ref, thread: { adapter: "github", installation, key } };
}
