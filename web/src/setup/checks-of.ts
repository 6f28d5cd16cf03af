import type { DoctorCheck } from "@errand/client";

/** The checks that tell whether the platform of this adapter is connected. */
export function checksOf(checks: readonly DoctorCheck[], adapter: string): readonly DoctorCheck[] {
  return checks.filter(({ name }) => name.startsWith(`${adapter}_`));
}

/** The checks of the server that are about every platform. */
export function commonChecks(checks: readonly DoctorCheck[]): readonly DoctorCheck[] {
  return checks.filter(({ name }) => name === "public_url" || name === "dead_notices");
}
