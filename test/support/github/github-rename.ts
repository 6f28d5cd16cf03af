import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
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
    const [former, present] = [`/repos/${fullName}`, `/repos/${owner}/${name}`];
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
}

function restOf(path: string, start: string): string | undefined {
  return path === start || path.startsWith(`${start}/`) ? path.slice(start.length) : undefined;
}
