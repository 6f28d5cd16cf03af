/**
 * The first due time after `after` of a cron expression with five fields, in UTC. Undefined for an invalid expression
 * and for one that never comes due.
 */
export type NextDue = (cron: string, after: Date) => Date | undefined;
