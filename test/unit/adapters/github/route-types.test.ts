import { describe, expectTypeOf, it as test } from "vitest";
import type { GithubClient, GithubTokenClient } from "../../../../src/adapters/github/client.ts";
import type {
  GithubCall,
  RepositoryCall,
  RepositoryRoute,
  Route,
} from "../../../../src/adapters/github/routes.ts";

type PullCall = RepositoryCall<"GET /repos/{owner}/{repo}/pulls/{pull_number}", unknown>;
type UserCall = GithubCall<"GET /users/{username}", unknown>;
type TokenCall = GithubCall<"POST /app/installations/{installation_id}/access_tokens", unknown>;

// The compiler checks these assertions (`npm run types`).
describe("the types of calls to GitHub", () => {
  test("have only the routes that GitHub serves", () => {
    expectTypeOf<"GET /users/{username}">().toExtend<Route>();
    expectTypeOf<"GET /user/{username}">().not.toExtend<Route>();
    expectTypeOf<"GET /repos/{owner}/{repo}/pulls/{pull_number}">().toExtend<RepositoryRoute>();
    expectTypeOf<"GET /repos/{owner}/{repo}/pulls/{number}">().not.toExtend<Route>();
    expectTypeOf<"GET /users/{username}">().not.toExtend<RepositoryRoute>();
  });

  test("need the parameters of the route", () => {
    expectTypeOf<{ username: string }>().toExtend<UserCall["parameters"]>();
    expectTypeOf<{ login: string }>().not.toExtend<UserCall["parameters"]>();
    expectTypeOf<{ pull_number: number }>().toExtend<PullCall["parameters"]>();
    expectTypeOf<{ number: number }>().not.toExtend<PullCall["parameters"]>();
    expectTypeOf<{ pull_number: string }>().not.toExtend<PullCall["parameters"]>();
  });

  test("have only permissions that a token can have", () => {
    type Permissions = TokenCall["parameters"]["permissions"];
    expectTypeOf<{ contents: "write" }>().toExtend<Permissions>();
    expectTypeOf<{ contents: "push" }>().not.toExtend<Permissions>();
    expectTypeOf<{ content: "write" }>().not.toExtend<Permissions>();
  });

  test("are those of each method of the clients", () => {
    expectTypeOf<Parameters<GithubClient["asApp"]>[0]["route"]>().toEqualTypeOf<Route>();
    expectTypeOf<Parameters<GithubClient["listAsApp"]>[0]["route"]>().toEqualTypeOf<Route>();
    expectTypeOf<Parameters<GithubClient["call"]>[1]["route"]>().toEqualTypeOf<Route>();
    expectTypeOf<Parameters<GithubClient["callIn"]>[2]["route"]>().toEqualTypeOf<RepositoryRoute>();
    expectTypeOf<Parameters<GithubClient["listIn"]>[2]["route"]>().toEqualTypeOf<RepositoryRoute>();
    expectTypeOf<Parameters<GithubClient["locationOf"]>[2]["route"]>().toEqualTypeOf<RepositoryRoute>();
    expectTypeOf<Parameters<GithubTokenClient["call"]>[0]["route"]>().toEqualTypeOf<Route>();
    expectTypeOf<Parameters<GithubTokenClient["callIn"]>[1]["route"]>().toEqualTypeOf<RepositoryRoute>();
  });
});
