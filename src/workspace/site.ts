import type { RunId } from "../core/ids.ts";
import type { Gateway } from "../core/ports/gateway.ts";
import type { Workspace } from "../core/ports/workspace.ts";
import type { SandboxCommand } from "../sandboxes/sandbox.ts";

/** Where processes of a run that are not its agent's work. */
export interface Site {
  readonly runId: RunId;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  readonly image?: string;
}

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** An image knows itself where its programs are. */
export function pathIn(image: string | undefined): Readonly<Record<string, string>> {
  return image === undefined ? { PATH: SYSTEM_PATH } : {};
}

/** What the sandbox is told beside the program, its environment and its directory. */
export function placesOf({ gateway, image, runId }: Site): Pick<SandboxCommand, "door" | "image" | "label"> {
  return {
    label: runId,
    ...(gateway.door === undefined ? {} : { door: gateway.door }),
    ...(image === undefined ? {} : { image }),
  };
}
