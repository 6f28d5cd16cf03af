import { z } from "zod";
import { CHECK_STATUSES, type NamedFinding, statusOf } from "../../core/doctor/check.ts";

const EXAMPLE = {
  name: "workers",
  status: "fail",
  message: "No worker lives: no run is worked on.",
  remedy: "Start a process with ERRAND_ROLE=worker or all.",
} as const;

const Status = z.enum(CHECK_STATUSES);

const DoctorCheck = z
  .object({
    name: z.string().describe("What was looked at."),
    status: Status.describe("`fail`: something does not work. `warn`: it may soon not, or not safely."),
    message: z.string().describe("What was found."),
    remedy: z.string().optional().describe("What to do about it."),
  })
  .meta({ id: "DoctorCheck", description: "One thing that was looked at.", examples: [EXAMPLE] });

export const DoctorResponse = z
  .object({
    status: Status.describe("The worst of all."),
    checks: z.array(DoctorCheck).describe("As the process that answers finds them now."),
  })
  .meta({
    id: "DoctorResponse",
    description: "How the installation is.",
    examples: [{ status: "fail", checks: [EXAMPLE] }],
  });

export function doctorResponse(findings: readonly NamedFinding[]): z.output<typeof DoctorResponse> {
  return { status: statusOf(findings), checks: findings.map((finding) => ({ ...finding })) };
}
