/** Access to a private repository of an outside system. */
export interface RepositoryAccess {
  /** The platform's id of the installation whose key is used. */
  readonly installation: string;
  /** A new value for the header `Authorization`; undefined when the platform gives none. Default: read access. */
  authorization(access?: "read" | "write"): Promise<string | undefined>;
  /** The platform's account of Errand, as the author of commits. */
  committer?(): Promise<Committer>;
}

/** The name and address that git writes into commits. */
export interface Committer {
  readonly name: string;
  readonly email: string;
}

/** Undefined: the system does not host this address, or no installation may read it. */
export type OpenRepository = (url: string) => Promise<RepositoryAccess | undefined>;
