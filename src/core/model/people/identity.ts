import type { PrincipalId, TeamId } from "../../basics/ids.ts";

/**
 * Links an outside account to a principal. The adapter writes the subject as `adapter:…`, and only it reads the part
 * after the colon.
 */
export interface IdentityLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly subject: string;
  readonly principalId: PrincipalId;
  readonly createdAt: Date;
  /** When an administrator linked the account. Absent: it was only seen, which does not let it sign in. */
  readonly linkedAt?: Date;
}

/** Subjects with this prefix are Errand's own and never an outside account. */
export const OWN_SUBJECTS = "errand:";

/** The subject of the server's own key. */
export const ADMINISTRATOR_SUBJECT = `${OWN_SUBJECTS}administrator`;
