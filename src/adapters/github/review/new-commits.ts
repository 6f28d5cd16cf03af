import { z } from "zod";
import type { Run } from "../../../core/model/runs/run.ts";
import type { InboundMessage, WorkReport } from "../../../core/ports/thread-adapter.ts";
import type { GithubClient } from "../client.ts";
import type { RepositoryNames } from "../repositories.ts";

const requesterSchema = z.object({ id: z.number(), login: z.string() });
const findingsSchema = z.object({
  repository: z.object({ id: z.int(), full_name: z.string() }),
  number: z.int(),
  isPush: z.literal(true).optional(),
});
const pullAnswer = z.object({ html_url: z.url(), state: z.string(), head: z.object({ sha: z.string() }) });

/** What a review is asked when the pull request changed: another review of the new commits, in the requester's name. */
export async function reviewAgain(
  { findings, ...address }: WorkReport,
  { provenance: { actor, integration } }: Pick<Run, "provenance">,
  { client, names }: { readonly client: GithubClient; readonly names: RepositoryNames },
): Promise<InboundMessage | string> {
  const { isPush, number, repository } = findingsSchema.parse(findings);
  if (isPush !== true) {
    return "The run only reviews, and there are no new commits.";
  }
  const requester = integration === "github" ? requesterSchema.safeParse(actor).data : undefined;
  if (requester === undefined) {
    return "The review was not asked for on GitHub, so nobody's permission can be checked.";
  }
  const { installation } = address;
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  const pull = await names.use(installation, repository.id, (named) =>
    client.callIn(installation, named, { route, parameters: { pull_number: number }, answer: pullAnswer }),
  );
  const { sha } = pull.head;
  return pull.state === "open"
    ? messageOf(address, { number, repository, requester, sha, url: pull.html_url })
    : "The pull request is closed.";
}

interface NewCommits extends Omit<z.infer<typeof findingsSchema>, "isPush"> {
  readonly requester: z.infer<typeof requesterSchema>;
  readonly sha: string;
  readonly url: string;
}

function messageOf(
  address: Omit<WorkReport, "findings">,
  { number, repository, requester, sha, url }: NewCommits,
): InboundMessage {
  const { adapter, installation, key } = address;
  return {
    adapter,
    installation,
    key,
    dedupeKey: ["github", installation, "new_commits", repository.id, number, sha].join(":"),
    addressed: "mention",
    requestKind: "new_commits",
    asksForReview: true,
    author: { subject: `github:${requester.id}`, displayName: requester.login },
    text: [
      `The pull request has new commits, up to ${sha}.`,
      `Get them with \`git fetch origin refs/pull/${number}/head\` and \`git checkout ${sha}\`, and review again.`,
    ].join(" "),
    messageRef: "",
    permalink: url,
    place: repository.full_name,
    provenance: {
      integration: "github",
      installation: Number(installation),
      repository,
      actor: requester,
      commit: sha,
      object: { kind: "new_commits", action: "reported", in: "pull_request", number },
    },
  };
}
