import { type FrontAnswer, jsonAnswer } from "../front-server.ts";
import type { GithubFixture, RepoPermission } from "./github-fixture.ts";

const RANKS: readonly RepoPermission[] = ["none", "read", "write", "admin"];

/** https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user */
export function permissionAnswer(fixture: GithubFixture, login: string): FrontAnswer {
  if (!fixture.hasUser(login)) {
    return jsonAnswer(404, { message: "Not Found" });
  }
  const level = fixture.permissionOf(login);
  const rank = RANKS.indexOf(level);
  const roleName = level === "none" ? "" : level;
  const permissions = {
    admin: rank >= 3,
    maintain: rank >= 3,
    push: rank >= 2,
    triage: rank >= 2,
    pull: rank >= 1,
  };
  const user = { ...fixture.publicUser(login), permissions, role_name: roleName };
  return jsonAnswer(200, { permission: level, role_name: roleName, user });
}
