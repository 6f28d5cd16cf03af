import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import { asRecord } from "../json.ts";
import { GITHUB_APP, type GithubFixture } from "./github-fixture.ts";

const BOT = `${GITHUB_APP.slug}[bot]`;

type Result = { readonly data: object } | { readonly type: string; readonly message: string };

/** One operation of GraphQL. Undefined: it is another one. */
export type GraphqlOperation = (query: string, variables: Record<string, unknown>) => Result | undefined;

/** What only GitHub's GraphQL API offers. It answers 200 also where it refuses. */
export function answerGraphql(
  request: FrontRequest,
  actor: string | undefined,
  operations: readonly GraphqlOperation[],
): FrontAnswer | undefined {
  if (request.method !== "POST" || request.path !== "/graphql") {
    return undefined;
  }
  if (actor !== BOT) {
    return jsonAnswer(401, { message: "Bad credentials" });
  }
  const { query, variables } = asRecord(JSON.parse(request.body.toString()));
  for (const operation of operations) {
    const result = operation(String(query), asRecord(variables ?? {}));
    if (result !== undefined) {
      return jsonAnswer(200, "data" in result ? result : { data: null, errors: [result] });
    }
  }
  return jsonAnswer(200, { errors: [{ type: "undefinedField", message: "There is no such field." }] });
}

/** https://docs.github.com/graphql/reference/mutations#markpullrequestreadyforreview */
export function markReady(fixture: GithubFixture): GraphqlOperation {
  return (query, { id }) => {
    if (!query.includes("markPullRequestReadyForReview(")) {
      return undefined;
    }
    const pull = fixture.pullRequests().find((each) => each.node_id === id);
    if (pull === undefined) {
      return { type: "NOT_FOUND", message: `Could not resolve to a node with the global id of '${id}'.` };
    }
    if (pull.state !== "open" || !pull.draft) {
      return { type: "UNPROCESSABLE", message: "Pull request is not a draft that is open." };
    }
    fixture.setDraft(pull.number, false);
    return { data: { markPullRequestReadyForReview: { pullRequest: { isDraft: false } } } };
  };
}
