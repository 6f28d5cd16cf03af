/** What the verified token of a CI workflow says. */
export interface WorkflowToken {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** The platform's id of the repository, which stays when the repository is renamed. */
  readonly repositoryId: string;
  /** `owner/name`. */
  readonly repository: string;
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  /** What started the workflow, such as `push`. */
  readonly event: string;
}

/** Verifies tokens with which a CI workflow proves to others what it is (OpenID Connect). */
export interface WorkflowTokens {
  /** Throws unless the token is valid now and one of `issuers` signed it. Connects to no other issuer. */
  verify(token: string, issuers: ReadonlySet<string>): Promise<WorkflowToken>;
}
