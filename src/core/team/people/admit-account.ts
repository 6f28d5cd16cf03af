import { defined } from "../../basics/defined.ts";
import type { TeamId } from "../../basics/ids.ts";
import { ADMINISTRATOR_SUBJECT, type IdentityLink } from "../../model/people/identity.ts";
import { isPlainEmail, plainName } from "../../model/people/plain-name.ts";
import type { Principal } from "../../model/people/principal.ts";
import { FIRST_TEAM } from "../../model/people/team.ts";
import type { ProvenAccount } from "../../ports/sign-in-provider.ts";
import type { Storage } from "../../ports/stores/storage.ts";

export type AdmitStores = Pick<Storage, "identities" | "installations" | "people" | "signIns" | "teams">;

export interface Admission {
  readonly principal: Principal;
  /** The principal was the last administrator of its team, by a group that it has left. */
  readonly leftNoAdministrator: boolean;
}

/**
 * Returns the principal of the account if it may sign in: an administrator linked it, or it is a member of an enabled
 * installation or of what an administrator listed. Nobody else becomes a principal. That an account was once seen does
 * not admit it: guests are seen too. A suspended principal is enabled again when a system that decides alone admits it.
 */
export async function admitAccount(
  stores: AdmitStores,
  account: ProvenAccount,
  now: Date,
): Promise<Admission | undefined> {
  const grants = await grantsOf(stores, account);
  const links = await stores.identities.listAccount(account.subject);
  const linked = await linkedPrincipal(stores, links);
  const principal = linked ?? (await ensureMember(stores, account, grants[0]));
  if (account.decidesAlone === true) {
    const stays = ({ principalId, teamId }: IdentityLink) =>
      principalId === principal?.id || grants.some((grant) => grant.teamId === teamId);
    await suspendAll(
      stores,
      links.filter((link) => link.linkedAt === undefined && !stays(link)),
      now,
    );
  }
  if (principal === undefined || !mayEnter(principal, account)) {
    return undefined;
  }
  const ofTeam = grants.find(({ teamId }) => teamId === principal.teamId);
  return update(stores, principal, account, ofTeam?.administrator);
}

/**
 * Disables the principal and ends its sign-ins until the person is admitted again. The account with the server's own key
 * is never suspended, so that this key always works.
 */
export async function suspend(
  { identities, people, signIns }: Pick<AdmitStores, "identities" | "people" | "signIns">,
  { id, teamId }: Pick<Principal, "id" | "teamId">,
  now: Date,
): Promise<void> {
  const own = await identities.find(FIRST_TEAM, ADMINISTRATOR_SUBJECT);
  if (own?.principalId !== id) {
    await people.change(teamId, id, (principal) =>
      principal.disabled ? principal : { ...principal, disabled: true, suspendedAt: now },
    );
  }
  await signIns.end({ teamId, principalId: id }, now);
}

/** What a system that decides alone has refused, a link to an account elsewhere must not let in again. */
function mayEnter({ disabled, suspendedAt }: Principal, { decidesAlone }: ProvenAccount): boolean {
  return !disabled || (suspendedAt !== undefined && decidesAlone === true);
}

async function linkedPrincipal(
  { people }: Pick<AdmitStores, "people">,
  links: readonly IdentityLink[],
): Promise<Principal | undefined> {
  const ids = links.filter(({ linkedAt }) => linkedAt !== undefined).map(({ principalId }) => principalId);
  const principals = await people.getMany(ids);
  const admissible = principals.filter(({ disabled, suspendedAt }) => !disabled || suspendedAt !== undefined);
  const first = ids.find((id) => admissible.some((principal) => principal.id === id));
  return admissible.find(({ id }) => id === first);
}

async function ensureMember(
  { people }: Pick<AdmitStores, "people">,
  { aliases, displayName, subject }: ProvenAccount,
  grant: Grant | undefined,
): Promise<Principal | undefined> {
  return grant && people.ensure(grant.teamId, subject, plainName(displayName ?? ""), aliases);
}

/** What the account was let in as before and is no longer. An administrator's link stays. */
async function suspendAll(stores: AdmitStores, links: readonly IdentityLink[], now: Date): Promise<void> {
  for (const { principalId: id, teamId } of links) {
    await suspend(stores, { id, teamId }, now);
  }
}

interface Grant {
  readonly teamId: TeamId;
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

/** Stores only changes, because each change makes all processes read keys and sign-ins again. */
async function update(
  { identities, people, teams }: Pick<AdmitStores, "identities" | "people" | "teams">,
  principal: Principal,
  account: ProvenAccount,
  granted: boolean | undefined,
): Promise<Admission> {
  const own = await identities.find(FIRST_TEAM, ADMINISTRATOR_SUBJECT);
  if (own?.principalId === principal.id) {
    // No group decides about the account with the server's own key.
    return { principal, leftNoAdministrator: false };
  }
  const { name = "" } = (await teams.find(principal.teamId)) ?? {};
  const team = [principal.teamId, name];
  const isUnchanged = [true, false].every((isLast) =>
    isSame(principal, admitted(principal, account, { granted, isLast, team })),
  );
  if (isUnchanged) {
    return { principal, leftNoAdministrator: false };
  }
  let leftNoAdministrator = false;
  const changed = await people.change(principal.teamId, principal.id, (now, administrators) => {
    const isLast = now.administrator && administrators.every(({ id }) => id === now.id);
    const after = admitted(now, account, { granted, isLast, team });
    leftNoAdministrator = isLast && !after.administrator;
    return after;
  });
  return { principal: changed ?? principal, leftNoAdministrator };
}

interface Decision {
  readonly granted: boolean | undefined;
  readonly isLast: boolean;
  /** The uid and the name of the principal's team. */
  readonly team: readonly string[];
}

/**
 * The principal after this proof. A role from a group ends with the group. A role that an administrator gave ends only if
 * a group gives another, and never for the last administrator of a team.
 */
function admitted(
  before: Principal,
  { email, groups, isAdministratorWith }: ProvenAccount,
  { granted, isLast, team }: Decision,
): Principal {
  const { roleFromGroup: mark, suspendedAt, ...rest } = before;
  const isFromGroup = mark ?? isAdministratorWith?.(before.groups ?? [], team) ?? false;
  const keepsOwn = before.administrator && !isFromGroup && (granted === undefined || isLast);
  const keepsUnknown = before.administrator && granted === undefined && groups === undefined;
  const administrator = granted === true || keepsOwn || keepsUnknown;
  const isMarked = isFromGroup || (granted === true && !before.administrator);
  const isDecided = isAdministratorWith !== undefined && (administrator || mark !== undefined);
  const roleFromGroup = isDecided ? administrator && isMarked : mark;
  return {
    ...rest,
    ...defined({
      email: before.email === undefined && email !== undefined && isPlainEmail(email) ? email : undefined,
    }),
    administrator,
    ...defined({ roleFromGroup }),
    groups: groups ?? before.groups ?? [],
    ...defined({ disabled: suspendedAt === undefined ? undefined : false }),
  };
}

function isSame(one: Principal, other: Principal): boolean {
  const factsOf = ({ administrator, disabled, email, groups = [], roleFromGroup }: Principal) =>
    JSON.stringify([administrator, disabled, email, groups, roleFromGroup]);
  return factsOf(one) === factsOf(other);
}
