import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { RunConfig } from "../runs/run.ts";

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
