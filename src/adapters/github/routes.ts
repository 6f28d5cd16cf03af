import type { Endpoints } from "@octokit/types";
import type { z } from "zod";

/** Routes whose types Octokit does not have, or has otherwise than Errand uses them. */
interface OwnRoutes {
  /** GitHub serves it and does not document it. */
  readonly "GET /repositories/{id}": { readonly parameters: { readonly id: number } };
  readonly "GET /repos/{owner}/{repo}/contents/.github/errand.yml": {
    readonly parameters: { readonly owner: string; readonly repo: string };
  };
  readonly "GET /app/hook/deliveries": {
    readonly parameters: Endpoints["GET /app/hook/deliveries"]["parameters"] & {
      readonly status?: "success" | "failure";
    };
  };
  /** The ids are longer than a number can hold. */
  readonly "GET /app/hook/deliveries/{delivery_id}": {
    readonly parameters: { readonly delivery_id: string };
  };
}

type Routes = Omit<Endpoints, keyof OwnRoutes> & OwnRoutes;
/** As in GitHub's documentation: `GET /users/{username}`. */
export type Route = keyof Routes;
export type RepositoryRoute = Extract<Route, `${string} /repos/{owner}/{repo}${string}`>;
export type ParametersOf<R extends Route> = Routes[R]["parameters"];

export interface Repository {
  readonly owner: string;
  readonly repo: string;
}

export interface GithubCall<R extends Route, Value> {
  readonly route: R;
  readonly parameters: ParametersOf<R>;
  /** The types of an answer prove nothing: Octokit returns a truncated body as an empty success. */
  readonly answer: z.ZodType<Value>;
}

/** A call in a repository, without its name. */
export interface RepositoryCall<R extends RepositoryRoute, Value> {
  readonly route: R;
  readonly parameters: Omit<ParametersOf<R>, "owner" | "repo">;
  readonly answer: z.ZodType<Value>;
}

/** Makes calls in one repository. */
export type CallRepository = <R extends RepositoryRoute, Value>(
  call: RepositoryCall<R, Value>,
) => Promise<Value>;
