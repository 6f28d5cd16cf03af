import { type FrontAnswer, type FrontRequest, jsonAnswer, jsonOf } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";

const STATUSES = /^\/repos\/[^/]+\/[^/]+\/statuses\/([^/]+)$/;
const COMBINED = /^\/repos\/[^/]+\/[^/]+\/commits\/([^/]+)\/status$/;
const PULLS = /^(\/repos\/[^/]+\/[^/]+)\/commits\/([^/]+)\/pulls$/;

/** Commit statuses, and the pull requests of a commit. emulate has no routes for them. */
export class GithubStatuses {
  /** By commit, oldest first. */
  readonly #statuses = new Map<string, readonly JsonRecord[]>();

  /** Undefined: emulate answers. */
  async answer(
    request: FrontRequest,
    forward: (request: FrontRequest) => Promise<FrontAnswer>,
  ): Promise<FrontAnswer | undefined> {
    const { body, method, path } = request;
    const [, created] = (method === "POST" && STATUSES.exec(path)) || [];
    if (created !== undefined) {
      const status = asRecord(JSON.parse(body.toString()));
      this.#statuses.set(created, [...(this.#statuses.get(created) ?? []), status]);
      return jsonAnswer(201, status);
    }
    const [, sha] = (method === "GET" && COMBINED.exec(path)) || [];
    if (sha !== undefined) {
      return jsonAnswer(200, this.#combined(sha));
    }
    const [, repository, commit] = (method === "GET" && PULLS.exec(path)) || [];
    if (repository === undefined) {
      return undefined;
    }
    const pulls = await forward({ ...request, path: `${repository}/pulls`, search: "?state=all" });
    const all = pulls.status === 200 ? (jsonOf(pulls) as readonly JsonRecord[]) : [];
    return jsonAnswer(
      200,
      all.filter(({ head }) => asRecord(head).sha === commit),
    );
  }

  /** The newest status of each context. */
  #combined(sha: string): JsonRecord {
    const statuses = this.#statuses.get(sha) ?? [];
    const newest = [...new Map(statuses.map((status) => [status.context, status])).values()];
    return { sha, state: "pending", statuses: newest, total_count: newest.length };
  }
}
