import { defined } from "../core/basics/defined.ts";
import { gatewayConnection } from "../core/ports/gateway.ts";
import type { RunWorkspace } from "../core/ports/workspace-provider.ts";
import type { SandboxCommand } from "../sandboxes/sandbox.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** An image sets its own PATH. */
export function pathIn(image: string | undefined): Readonly<Record<string, string>> {
  return image === undefined ? { PATH: SYSTEM_PATH } : {};
}

/** The sandbox options for processes of a run other than its agent, besides program, environment and directory. */
export function sandboxOptionsOf({
  gateway,
  image,
  runId,
}: Omit<RunWorkspace, "workspace">): Pick<SandboxCommand, "hostPort" | "portForward" | "image" | "label"> {
  return {
    label: runId,
    ...gatewayConnection(gateway),
    ...defined({ image }),
  };
}
