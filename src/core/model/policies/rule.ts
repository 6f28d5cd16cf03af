import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";

/** What policies and routing rules have in common: the first one that matches decides. */
export interface Rule extends TeamRecord {
  /** Unique in the team. */
  readonly name: string;
  /** The lowest number comes first; of equal ones, the oldest. */
  readonly priority: number;
  readonly enabled: boolean;
  readonly creatorId: PrincipalId;
}

/** The enabled rules, in the order in which they are evaluated. */
export function inOrder<R extends Rule>(rules: readonly R[]): readonly R[] {
  return rules.filter(({ enabled }) => enabled).toSorted(byOrder);
}

export function byOrder(a: Rule, b: Rule): number {
  return a.priority - b.priority || a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
