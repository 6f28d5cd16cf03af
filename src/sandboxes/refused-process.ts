import { PassThrough, Readable } from "node:stream";
import type { SandboxProcess } from "./sandbox.ts";

/** Stands for a process that is not even started. */
export function refusedProcess(reason: string, remedy?: string): SandboxProcess {
  const stdin = new PassThrough();
  stdin.resume();
  return {
    stdin,
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    exited: Promise.resolve({ code: 127, signal: null, reason, ...(remedy === undefined ? {} : { remedy }) }),
    kill: async () => undefined,
  };
}

/** For a sandbox that uses the files of this machine. */
export function imageRefused(image: string, sandbox: string): SandboxProcess {
  return refusedProcess(
    `The environment wants the image ${image}, and the ${sandbox} sandbox has no images: ` +
      "use workers with ERRAND_SANDBOX=docker, or take the image out of the environment.",
  );
}
