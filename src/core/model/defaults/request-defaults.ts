import type { Digest } from "../../basics/crypto.ts";
import { idOfDigest, type PrincipalId, type TeamId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { Rule } from "../policies/rule.ts";
import type { RunConfig } from "../runs/run.ts";
import type { RunSource } from "../runs/sources.ts";

/** The defaults for requests of a person, or for those in a place. A request and routing rules take precedence. */
export interface RequestDefaults extends TeamRecord {
  /** Whose they are, as text. */
  readonly scope: string;
  readonly config: RunConfig;
  readonly editorId: PrincipalId;
}

/** A place is named by its adapter: a channel, a repository. */
export type DefaultsScope =
  | { readonly principalId: PrincipalId }
  | { readonly adapter: string; readonly installation: string; readonly place: string };

export function scopeText(scope: DefaultsScope): string {
  return "principalId" in scope
    ? `person ${scope.principalId}`
    : ["place", scope.adapter, scope.installation, scope.place].map(encodeURIComponent).join(" ");
}

/** Made of the scope, so that a scope has one record. */
export function defaultsIdOf(digest: Digest, teamId: TeamId, scope: DefaultsScope): string {
  return idOfDigest(digest(`${teamId} ${scopeText(scope)}`));
}

/** Gives a request that names no environment its environment, and default values for its configuration. */
export interface RoutingRule extends Rule {
  readonly match: RoutingMatch;
  readonly environmentId?: string;
  readonly config: RunConfig;
}

/** All given conditions must hold; of each list, one value is enough. */
export interface RoutingMatch {
  readonly integrations?: readonly string[] | undefined;
  readonly installations?: readonly string[] | undefined;
  /** Globs on the place: the channel or repository in which the request is made, as its adapter names it. */
  readonly places?: readonly string[] | undefined;
  /** Words of the request, in any case. */
  readonly text?: readonly string[] | undefined;
  /** A request that did not come through an integration is routed only by rules that name its source. */
  readonly sources?: readonly RunSource[] | undefined;
}
