/** How a repository of an outside system can be read, or written to, that is not for everybody. */
export interface RepositoryAccess {
  /** The platform's id of the installation that lets us read it. */
  readonly installation: string;
  /** A fresh value for the header `Authorization`; undefined when the platform gives none. Default: for reading alone. */
  authorization(access?: "read" | "write"): Promise<string | undefined>;
}

/** Undefined: the address is not the system's, or nobody there lets us read it. */
export type OpenRepository = (url: string) => Promise<RepositoryAccess | undefined>;
