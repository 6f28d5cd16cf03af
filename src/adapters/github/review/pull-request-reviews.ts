import { z } from "zod";
import { defined } from "../../../core/basics/defined.ts";
import type { Shown } from "../addresses.ts";
import type { GithubClient } from "../client.ts";
import type { BotIdentity } from "../identity.ts";
import type { RepositoryNames } from "../repositories.ts";
import type { CallRepository, ParametersOf } from "../routes.ts";
import type { PullRequestPlace } from "./finding-threads.ts";

const PAGE_LENGTH = 100;

const pullAnswer = z.object({ head: z.object({ sha: z.string() }) });
const reviewAnswer = z.object({
  id: z.number(),
  body: z.string().nullish(),
  html_url: z.string().optional(),
  user: z.object({ id: z.number() }).nullish(),
});
type OwnReview = z.infer<typeof reviewAnswer>;

export interface ReviewDeps {
  readonly client: GithubClient;
  readonly identity: BotIdentity;
  readonly names: RepositoryNames;
  readonly trigger: string;
}

const CREATE = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews";

export interface NewReview {
  readonly commit: string;
  readonly body: string;
  readonly comments: NonNullable<ParametersOf<typeof CREATE>["comments"]>;
}

/** The newest commit of a pull request. */
export async function headOf(call: CallRepository, number: number): Promise<string> {
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  return (await call({ route, parameters: { pull_number: number }, answer: pullAnswer })).head.sha;
}

/** The reviews of the bot, the oldest first. Of very many, those in the middle are not read. */
export async function ownReviews(
  place: PullRequestPlace,
  deps: Pick<ReviewDeps, "client" | "identity">,
): Promise<readonly OwnReview[]> {
  const { client, identity } = deps;
  const read = (page: number) =>
    client.listIn(place.installation, place, {
      route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
      parameters: { pull_number: place.number, per_page: PAGE_LENGTH, page },
      answer: z.array(reviewAnswer),
    });
  const first = await read(1);
  const last = first.lastPage > 1 ? await read(first.lastPage) : undefined;
  const own: OwnReview[] = [];
  for (const review of [...first.value, ...(last?.value ?? [])]) {
    if (review.body?.startsWith("<!-- errand:") && (await identity.isOurs(place.installation, review))) {
      own.push(review);
    }
  }
  return own;
}

export async function sendReview(
  place: PullRequestPlace,
  { body, comments, commit }: NewReview,
  { client }: Pick<ReviewDeps, "client">,
): Promise<Shown> {
  const parameters = {
    pull_number: place.number,
    commit_id: commit,
    event: "COMMENT" as const,
    body,
    comments: [...comments],
  };
  const call = { route: CREATE, parameters, answer: reviewAnswer } as const;
  return shownAs(await client.callIn(place.installation, place, call));
}

export async function rewriteReview(
  place: PullRequestPlace,
  { body, id }: { readonly id: number; readonly body: string },
  { client }: Pick<ReviewDeps, "client">,
): Promise<Shown> {
  const parameters = { pull_number: place.number, review_id: id, body };
  const route = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}";
  return shownAs(await client.callIn(place.installation, place, { route, parameters, answer: reviewAnswer }));
}

export function shownAs({ html_url: url, id }: OwnReview): Shown {
  return defined({ kind: "review" as const, id, url });
}
