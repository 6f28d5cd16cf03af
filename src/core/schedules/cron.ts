/**
 * The first time after `after` at which a cron expression of five fields is due, in UTC. Undefined for what is no
 * such expression, and for one that never comes due.
 */
export type NextDue = (cron: string, after: Date) => Date | undefined;
