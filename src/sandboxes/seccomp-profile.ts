import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/**
 * The system calls that commands in sandboxes may use, in Docker's format
 * (https://docs.docker.com/engine/security/seccomp/). Docker gets the file, and bubblewrap a filter that is made of it.
 */
export const SECCOMP_PROFILE = join(import.meta.dirname, "agent-seccomp.json");

const condition = z.strictObject({
  index: z.number(),
  value: z.number(),
  /** Of MASKED_EQ: what the argument must be when masked with `value`. */
  valueTwo: z.number().default(0),
  op: z.enum(["SCMP_CMP_EQ", "SCMP_CMP_MASKED_EQ"]),
});

const rule = z.strictObject({
  comment: z.string(),
  names: z.array(z.string()),
  action: z.enum(["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"]),
  errnoRet: z.number().default(0),
  args: z.array(condition).default([]),
});

const profile = z.object({ defaultErrnoRet: z.number(), syscalls: z.array(rule) });

export type SeccompCondition = z.infer<typeof condition>;
export type SeccompRule = z.infer<typeof rule>;
export type SeccompProfile = z.infer<typeof profile>;

export function readSeccompProfile(): SeccompProfile {
  return profile.parse(JSON.parse(readFileSync(SECCOMP_PROFILE, "utf8")));
}
