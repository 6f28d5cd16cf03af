import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { ApiKey, Scope } from "../core/model/people/api-key.ts";
import type { IdentityLink } from "../core/model/people/identity.ts";
import type { Installation } from "../core/model/people/installation.ts";
import type { Principal, PrincipalType } from "../core/model/people/principal.ts";
import {
  type ApiKey as ApiKeyRow,
  type Identity as IdentityRow,
  type Installation as InstallationRow,
  type Principal as PrincipalRow,
  Prisma,
} from "./generated/client.ts";
import { selectList, withoutNulls } from "./rows.ts";

/** The columns that `principalOf` needs, for the principals with these ids. */
export const FIND_PRINCIPALS = `
  SELECT ${selectList(Object.values(Prisma.PrincipalScalarFieldEnum))} FROM principals WHERE id = ANY ($1::uuid[])`;

/** Rows of people to the domain and back. */
export function principalOf(row: PrincipalRow): Principal {
  return withoutNulls<Principal>({
    id: row.id as PrincipalId,
    teamId: row.teamId as TeamId,
    type: row.type as PrincipalType,
    displayName: row.displayName,
    email: row.email,
    photoUrl: row.photoUrl,
    administrator: row.administrator,
    disabled: row.disabled,
    roleFromGroup: row.roleFromGroup,
    suspendedAt: row.suspendedAt,
    groups: row.groups.length === 0 ? null : row.groups,
    createdAt: row.createdAt,
  });
}

export function principalColumns(principal: Principal) {
  const {
    id,
    teamId,
    type,
    displayName,
    email,
    photoUrl,
    administrator,
    disabled,
    createdAt,
    groups = [],
    roleFromGroup = null,
    suspendedAt = null,
  } = principal;
  const optional = {
    displayName: displayName ?? null,
    email: email ?? null,
    photoUrl: photoUrl ?? null,
    roleFromGroup,
    suspendedAt,
  };
  return { id, teamId, type, administrator, disabled, createdAt, groups: [...groups], ...optional };
}

export function keyOf(row: ApiKeyRow): ApiKey {
  return withoutNulls<ApiKey>({
    id: row.id,
    principalId: row.principalId as PrincipalId,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes as Scope[],
    createdBy: row.createdBy as PrincipalId | null,
    createdByKey: row.createdByKey,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    revokedAt: row.revokedAt,
  });
}

export function identityOf(row: IdentityRow): IdentityLink {
  return withoutNulls<IdentityLink>({
    id: row.id,
    teamId: row.teamId as TeamId,
    subject: row.subject,
    principalId: row.principalId as PrincipalId,
    createdAt: row.createdAt,
    linkedAt: row.linkedAt,
  });
}

export function installationOf(row: InstallationRow): Installation {
  return withoutNulls<Installation>({
    id: row.id,
    teamId: row.teamId as TeamId,
    adapter: row.adapter,
    externalId: row.externalId,
    name: row.name,
    enabled: row.enabled,
    offeredTo: row.offeredTo as TeamId | null,
    problem: row.problem,
    createdAt: row.createdAt,
  });
}
