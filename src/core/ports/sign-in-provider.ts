import { AppError } from "../basics/errors.ts";
import type { SignInMethod } from "../model/people/sign-in.ts";
import type { Check } from "./check.ts";

/** What one attempt to sign in must prove when the browser comes back. Only the server and this browser know it. */
export interface SignInAttempt {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE. */
  readonly verifier: string;
  /** The system must not ask the person anything, and answers at once. */
  readonly isSilent?: true;
}

/** A system outside that knows the person at the browser. */
export interface SignInProvider {
  readonly method: Exclude<SignInMethod, "api_key" | "link">;
  /** The name on the button. */
  readonly name: string;
  /** The path of the button's icon, in a square of 16. */
  readonly icon: string;
  /** The address to which the browser is sent. */
  authorizationUrl(attempt: SignInAttempt): Promise<URL>;
  /**
   * Verifies the address with which the browser came back. Throws if it proves nothing, and `PersonNeeded` if the system
   * would have to ask the person.
   */
  prove(callback: URL, attempt: SignInAttempt): Promise<ProvenAccount>;
  /** Whether sign-ins work. */
  readonly check?: Check;
  /** How the system confirms a person again who has signed in. Absent: it does not, and the sign-in lasts. */
  readonly again?: {
    /** Whether the system answers at the moment. */
    answers(): Promise<boolean>;
    /** Asks without the browser. `renewal`: that of the account's last proof. */
    renew(renewal: string): Promise<Renewal>;
  };
}

/**
 * What the system said without the browser. `refused`: it no longer confirms the person. `unclear`: it cannot say without
 * the browser. `unanswered`: it did not answer, which says nothing of the person; the next question needs `renewal`.
 */
export type Renewal =
  | { readonly outcome: "proven"; readonly account: ProvenAccount }
  | { readonly outcome: "refused" | "unclear"; readonly reason: string }
  | { readonly outcome: "unanswered"; readonly reason: string; readonly renewal: string };

/** An account outside that the person at the browser owns. */
export interface ProvenAccount {
  /** Names the system too, so that the same id of another system is another account. */
  readonly subject: string;
  /** As in `Author`. */
  readonly aliases?: readonly string[];
  readonly displayName?: string;
  /** Only an address that the system has verified. */
  readonly email?: string;
  /** The names of all its groups there. Absent: the system has no groups, or did not name them. */
  readonly groups?: readonly string[];
  readonly memberships: readonly Membership[];
  /** Whether a person with these groups would be an administrator of the team with one of these names. */
  readonly isAdministratorWith?: (groups: readonly string[], team: readonly string[]) => boolean;
  /**
   * Only this system makes the account a member of a team. So without a membership its principal is suspended. Absent: the
   * account is also known from messages, and stays.
   */
  readonly decidesAlone?: true;
  /** What the system is asked with later. It is a secret. Absent: it confirms the person only in a browser. */
  readonly renewal?: string;
  /** Why the account may lack a membership that the person expects, for the operator's log. */
  readonly gaps?: readonly string[];
}

/** Why an account may sign in: it belongs to an installation, or an administrator listed it for a team. */
export type Membership =
  | {
      readonly adapter: string;
      readonly installation: string;
      /** The operator configured this very installation, so it is connected before its first message. */
      readonly isConfigured?: true;
    }
  | {
      /** The uid or the name of the team. */
      readonly team: string;
      /** Absent: the role stays as it is. */
      readonly administrator?: boolean;
    };

/** For a callback that proves nothing. The person reads the message, which names no secret. */
export function unproven(message: string, cause?: unknown): AppError {
  return new AppError("authentication_required", message, { cause });
}

/** The system confirms the person only after it has asked the person something, or refuses to. */
export class PersonNeeded extends AppError {
  constructor(cause: unknown) {
    super("authentication_required", "The issuer asks the person to sign in again.", { cause });
  }
}
