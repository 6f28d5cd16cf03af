import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import { asRecord } from "../json.ts";
import type { GithubRepo } from "./github-fixture.ts";

/** A repository with another name than in emulate. Its former addresses redirect to the one with its id. */
export class GithubRename {
  /** The present name. Undefined: it was not renamed. */
  name: string | undefined;
  readonly #repo: GithubRepo;

  constructor(repo: GithubRepo) {
    this.#repo = repo;
  }

  async answer(
    request: FrontRequest,
    respond: (request: FrontRequest) => Promise<FrontAnswer>,
  ): Promise<FrontAnswer> {
    const { name } = this;
    if (name === undefined) {
      return respond(request);
    }
    const { fullName, id, name: formerName, owner } = this.#repo;
    const [former, present, byId] = [
      `/repos/${fullName}`,
      `/repos/${owner}/${name}`,
      `/repositories/${id}/installation`,
    ];
    if (request.path === byId) {
      return respond({ ...request, path: `${former}/installation` });
    }
    if (TOKENS.test(request.path)) {
      return respond({ ...request, body: this.#namedAsFormerly(request.body) });
    }
    const rest = restOf(request.path, former);
    if (rest !== undefined) {
      const location = `https://api.github.com/repositories/${id}${rest}`;
      const status = request.method === "GET" ? 301 : 307;
      return jsonAnswer(status, { message: "Moved Permanently", url: location }, { location });
    }
    const renamedRest = restOf(request.path, present);
    const path = renamedRest === undefined ? request.path : `${former}${renamedRest}`;
    const answer = await respond({ ...request, path });
    const body = answer.body
      .toString()
      .replaceAll(`"name":"${formerName}"`, `"name":"${name}"`)
      .replaceAll(fullName, `${owner}/${name}`);
    return { ...answer, body };
  }

  /** The former name is no name of a repository here, although it redirects elsewhere. */
  #namedAsFormerly(body: Buffer): Buffer {
    const scope = body.length === 0 ? {} : asRecord(JSON.parse(body.toString()));
    if (!Array.isArray(scope.repositories)) {
      return body;
    }
    const repositories = scope.repositories.map((name) => (name === this.name ? this.#repo.name : UNKNOWN));
    return Buffer.from(JSON.stringify({ ...scope, repositories }));
  }
}

const TOKENS = /^\/app\/installations\/\d+\/access_tokens$/;
const UNKNOWN = "no-such-repository";

function restOf(path: string, start: string): string | undefined {
  return path === start || path.startsWith(`${start}/`) ? path.slice(start.length) : undefined;
}
