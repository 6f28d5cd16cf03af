import { z } from "zod";
import { SANDBOX_SETTINGS, type SandboxSetting } from "../sandboxes/choose-sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from "../sandboxes/sandbox-limits.ts";
import type { VariableDoc } from "./variable-doc.ts";

export interface SandboxConfig {
  readonly setting: SandboxSetting;
  readonly limits: SandboxLimits;
  readonly docker: {
    readonly program: string;
    readonly image: string;
    /** All that the docker program is given of our environment. */
    readonly environment: Readonly<Record<string, string>>;
  };
}

const MEBIBYTE = 1_024 ** 2;
const MAX_MEBIBYTES = 16 * 1_024 ** 2;

/** With git, certificates and the usual programs, and named in full, as podman has to have it. */
const DEFAULT_IMAGE = "docker.io/library/buildpack-deps:bookworm-scm";

const mebibytes = (min: number, defaultBytes: number) =>
  z.coerce
    .number()
    .int()
    .min(min)
    .max(MAX_MEBIBYTES)
    .default(defaultBytes / MEBIBYTE);

export const sandboxVariables = {
  ERRAND_SANDBOX: z.enum(SANDBOX_SETTINGS).default("auto"),
  ERRAND_DOCKER: z.string().default("docker"),
  ERRAND_DOCKER_IMAGE: z.string().default(DEFAULT_IMAGE),
  ERRAND_SANDBOX_MEMORY_MIB: mebibytes(128, DEFAULT_SANDBOX_LIMITS.memoryBytes),
  ERRAND_SANDBOX_CPUS: z.coerce.number().min(0.1).max(1_024).default(DEFAULT_SANDBOX_LIMITS.cpus),
  ERRAND_SANDBOX_PROCESSES: z.coerce
    .number()
    .int()
    .min(64)
    .max(1_000_000)
    .default(DEFAULT_SANDBOX_LIMITS.processes),
  ERRAND_SANDBOX_FILE_MIB: mebibytes(1, DEFAULT_SANDBOX_LIMITS.fileBytes),
};

export const sandboxVariableDocs = {
  ERRAND_SANDBOX: {
    group: "Sandbox",
    default: "auto",
    description:
      "`docker`, `bubblewrap`, `local` (no isolation), or `auto` for the first that works. `auto` uses `local` only for demo runs.",
  },
  ERRAND_DOCKER: {
    group: "Sandbox",
    default: "docker",
    description:
      "The docker program, or `podman`. Errand passes `DOCKER_HOST` and similar variables on to it.",
    compose: "no",
  },
  ERRAND_DOCKER_IMAGE: {
    group: "Sandbox",
    default: "docker.io/library/buildpack-deps:bookworm-scm",
    description: "The image of runs whose environment names none.",
    compose: "no",
  },
  ERRAND_SANDBOX_MEMORY_MIB: {
    group: "Sandbox",
    default: "4096",
    description: "The memory of one sandbox, in MiB.",
  },
  ERRAND_SANDBOX_CPUS: { group: "Sandbox", default: "2", description: "The processors of one sandbox." },
  ERRAND_SANDBOX_PROCESSES: {
    group: "Sandbox",
    default: "1024",
    description: "The processes and threads of one sandbox.",
  },
  ERRAND_SANDBOX_FILE_MIB: {
    group: "Sandbox",
    default: "4096",
    description: "The largest file that a sandbox may write, in MiB.",
  },
} satisfies Record<keyof typeof sandboxVariables, VariableDoc>;

/** By these a docker or podman program finds its daemon, its settings and the programs it calls. */
const OF_DOCKER =
  /^(DOCKER_.*|CONTAINER_.*|CONTAINERS_.*|PATH|HOME|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|TMPDIR)$/;

export function sandboxConfigOf(
  given: z.infer<z.ZodObject<typeof sandboxVariables>>,
  env: Readonly<Record<string, string | undefined>>,
): SandboxConfig {
  const ofDocker = Object.entries(env).flatMap(([name, value]) =>
    OF_DOCKER.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    setting: given.ERRAND_SANDBOX,
    limits: {
      memoryBytes: given.ERRAND_SANDBOX_MEMORY_MIB * MEBIBYTE,
      cpus: given.ERRAND_SANDBOX_CPUS,
      processes: given.ERRAND_SANDBOX_PROCESSES,
      fileBytes: given.ERRAND_SANDBOX_FILE_MIB * MEBIBYTE,
    },
    docker: {
      program: given.ERRAND_DOCKER,
      image: given.ERRAND_DOCKER_IMAGE,
      environment: Object.fromEntries(ofDocker),
    },
  };
}
