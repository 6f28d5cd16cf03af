import type { ApiKey } from "../core/model/people/api-key.ts";
import type { IdentityLink } from "../core/model/people/identity.ts";
import type { Principal } from "../core/model/people/principal.ts";
import {
  type ApiKey as ApiKeyRow,
  type Identity as IdentityRow,
  type Principal as PrincipalRow,
  Prisma,
} from "./generated/client.ts";
import { selectList, withoutNulls } from "./rows.ts";

/** The columns that `principalOf` needs, for the principals with these ids. */
export const FIND_PRINCIPALS = `
  SELECT ${selectList(Object.values(Prisma.PrincipalScalarFieldEnum))} FROM principals WHERE id = ANY ($1::uuid[])`;

/** Rows of people to the domain and back. */
export function principalOf({
  groups,
  joinedInto: _joined,
  updatedAt: _updated,
  ...row
}: PrincipalRow): Principal {
  return withoutNulls<Principal>({ ...row, groups: groups.length === 0 ? null : groups });
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

export function keyOf({ hash: _hash, ...row }: ApiKeyRow): ApiKey {
  return withoutNulls<ApiKey>(row);
}

export function identityOf(row: IdentityRow): IdentityLink {
  return withoutNulls<IdentityLink>(row);
}
