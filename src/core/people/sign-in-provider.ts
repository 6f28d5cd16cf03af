import { AppError } from "../errors.ts";
import type { Storage } from "../storage.ts";
import type { Principal } from "./principal.ts";
import type { SignInMethod } from "./sign-in.ts";

/** What one attempt to sign in must prove when the browser comes back. Only the server and this browser know it. */
export interface SignInAttempt {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE. */
  readonly verifier: string;
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
  /** Verifies the address with which the browser came back. Throws if it proves nothing. */
  prove(callback: URL, attempt: SignInAttempt): Promise<ProvenAccount>;
}

/** An account outside that the person at the browser owns. */
export interface ProvenAccount {
  /** Names the system too, so that the same id of another system is another account. */
  readonly subject: string;
  readonly displayName?: string;
  /** Only an address that the system has verified. */
  readonly email?: string;
  /** The names of all its groups there. Absent: the system has no groups. */
  readonly groups?: readonly string[];
  readonly memberships: readonly Membership[];
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

type AdmitStores = Pick<Storage, "identities" | "installations" | "people" | "teams">;

/**
 * Returns the principal of the account if it may sign in: an administrator linked it, or it is a member of an enabled
 * installation or of what an administrator listed. Nobody else becomes a principal. That an account was once seen does
 * not admit it: guests are seen too.
 */
export async function admitAccount(
  stores: AdmitStores,
  account: ProvenAccount,
): Promise<Principal | undefined> {
  const grants = await grantsOf(stores, account);
  const linked = await linkedPrincipal(stores, account.subject);
  const [first] = grants;
  const principal =
    linked ?? (first && (await stores.people.ensure(first.teamId, account.subject, account.displayName)));
  if (principal === undefined || principal.disabled) {
    return undefined;
  }
  const ofTeam = grants.find(({ teamId }) => teamId === principal.teamId);
  return update(stores, principal, account, ofTeam?.administrator);
}

async function linkedPrincipal(
  { identities, people }: AdmitStores,
  subject: string,
): Promise<Principal | undefined> {
  const links = await identities.listLinked(subject);
  const principals = await people.getMany(links.map(({ principalId }) => principalId));
  const enabled = new Map(principals.filter(({ disabled }) => !disabled).map((one) => [one.id, one]));
  const link = links.find(({ principalId }) => enabled.has(principalId));
  return link && enabled.get(link.principalId);
}

interface Grant {
  readonly teamId: Principal["teamId"];
  readonly administrator?: boolean;
}

async function grantsOf(
  { installations, teams }: AdmitStores,
  { memberships }: ProvenAccount,
): Promise<readonly Grant[]> {
  const [connected, allTeams] = [await installations.list(), await teams.list()];
  const grants: Grant[] = [];
  for (const membership of memberships) {
    if ("installation" in membership) {
      const { adapter, installation, isConfigured } = membership;
      // The first installation of an adapter is enabled, so a stranger who installed the app must not create it here.
      const found = isConfigured
        ? await installations.ensure(adapter, installation)
        : connected.find((one) => one.adapter === adapter && one.externalId === installation);
      grants.push(...(found?.enabled === true ? [{ teamId: found.teamId }] : []));
    } else {
      const { administrator, team } = membership;
      const found = allTeams.find(({ id, name }) => id === team || name === team);
      const role = administrator === undefined ? {} : { administrator };
      grants.push(...(found === undefined ? [] : [{ teamId: found.id, ...role }]));
    }
  }
  return grants;
}

/** A team keeps its last administrator, whatever the system outside says. */
async function update(
  { people }: AdmitStores,
  principal: Principal,
  { email, groups = principal.groups ?? [] }: ProvenAccount,
  administrator = principal.administrator,
): Promise<Principal> {
  if (
    administrator === principal.administrator &&
    (principal.email !== undefined || email === undefined) &&
    groups.join("\n") === (principal.groups ?? []).join("\n")
  ) {
    return principal;
  }
  const changed = await people.change(principal.teamId, principal.id, (now, administrators) => {
    const isLast = now.administrator && administrators.every(({ id }) => id === now.id);
    return {
      ...now,
      ...(now.email === undefined && email !== undefined ? { email } : {}),
      administrator: administrator || isLast,
      groups,
    };
  });
  return changed ?? principal;
}

/** For a callback that proves nothing. The message names no secret. */
export function unproven(message: string, cause?: unknown): AppError {
  return new AppError("authentication_required", message, { cause });
}
