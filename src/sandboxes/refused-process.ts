import { PassThrough, Readable } from "node:stream";
import type { SandboxExit, SandboxProcess } from "./sandbox.ts";

/** Stands for a process that is not even started. */
export function refusedProcess(
  reason: string,
  more: Pick<SandboxExit, "isImageProblem" | "remedy"> = {},
): SandboxProcess {
  const stdin = new PassThrough();
  stdin.resume();
  return {
    stdin,
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    exited: Promise.resolve({ code: 127, signal: null, reason, ...more }),
    kill: async () => undefined,
    list: async () => [],
    end: async () => undefined,
  };
}

const IMAGE_REMEDY = "Use workers with ERRAND_SANDBOX=docker, or take the image out of the environment.";

/** For a sandbox that uses the files of this machine. */
export function imageRefused(image: string, sandbox: string): SandboxProcess {
  const reason = `The environment wants the image ${image}, and the ${sandbox} sandbox of its worker has no images.`;
  return refusedProcess(reason, { isImageProblem: true, remedy: IMAGE_REMEDY });
}
