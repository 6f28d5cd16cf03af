import type { PrincipalId, TeamId } from "../ids.ts";

/** Whose an account outside is. Written `adapter:…` by the adapter, which alone reads what stands behind the colon. */
export interface IdentityLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly subject: string;
  readonly principalId: PrincipalId;
  readonly createdAt: Date;
}

/** Subjects that begin so are our own, and nobody's account outside. */
export const OWN_SUBJECTS = "errand:";

/** Whose the installation's own key is. */
export const ADMINISTRATOR_SUBJECT = `${OWN_SUBJECTS}administrator`;
