import type { RunWorkspace } from "../core/workspaces/change-tracker.ts";
import type { SandboxCommand } from "../sandboxes/sandbox.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** An image knows itself where its programs are. */
export function pathIn(image: string | undefined): Readonly<Record<string, string>> {
  return image === undefined ? { PATH: SYSTEM_PATH } : {};
}

/**
 * For processes of a run that are not its agent's: what the sandbox is told beside the program, its environment and its
 * directory.
 */
export function placesOf({
  gateway,
  image,
  runId,
}: Omit<RunWorkspace, "workspace">): Pick<SandboxCommand, "portForward" | "image" | "label"> {
  return {
    label: runId,
    ...(gateway.portForward === undefined ? {} : { portForward: gateway.portForward }),
    ...(image === undefined ? {} : { image }),
  };
}
