import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import { OauthCodes } from "../oauth-codes.ts";
import { GITHUB_APP, type GithubFixture } from "./github-fixture.ts";

export const GITHUB_CLIENT = {
  clientId: "Iv1.errand",
  clientSecret: "the client secret of the emulated App",
};

const REPOSITORIES = /^\/user\/installations\/(\d+)\/repositories$/;

/** Sign-in with the App, and what GitHub tells an account about the App's installations. emulate lacks both. */
export class GithubOauth {
  readonly codes = new OauthCodes<string>(GITHUB_CLIENT);
  readonly #world: GithubFixture;

  constructor(fixture: GithubFixture) {
    this.#world = fixture;
  }

  /** Undefined: the request is for emulate. */
  answer({ body, method, path, search }: FrontRequest, login: string | undefined): FrontAnswer | undefined {
    if (path === "/login/oauth/authorize") {
      return this.codes.authorize(search);
    }
    if (path === "/login/oauth/access_token" && method === "POST") {
      const account = this.codes.redeem(body.toString())?.account;
      return account === undefined
        ? jsonAnswer(200, { error: "bad_verification_code" })
        : jsonAnswer(200, { access_token: this.#world.user(account).token, token_type: "bearer", scope: "" });
    }
    if (login !== undefined && path === "/user/installations") {
      const installations = [{ id: GITHUB_APP.installationId, suspended_at: null }];
      return jsonAnswer(200, { total_count: 1, installations });
    }
    const installation = REPOSITORIES.exec(path)?.[1];
    if (login === undefined || installation === undefined) {
      return undefined;
    }
    const level = this.#world.permissionOf(login);
    const permissions = { pull: level !== "none", push: level === "write" || level === "admin" };
    const { fullName, id } = this.#world.repo;
    const isListed = Number(installation) === GITHUB_APP.installationId && level !== "none";
    const repositories = isListed ? [{ id, full_name: fullName, archived: false, permissions }] : [];
    return jsonAnswer(200, { total_count: repositories.length, repositories });
  }
}
