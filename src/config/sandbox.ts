import { z } from "zod";
import { MEBIBYTE } from "../core/byte-units.ts";
import { SANDBOX_SETTINGS, type SandboxSetting } from "../sandboxes/choose-sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from "../sandboxes/sandbox-limits.ts";
import { decimalNumber, wholeNumber } from "./numbers.ts";
import type { VariableDoc } from "./variable-doc.ts";

export interface SandboxConfig {
  readonly setting: SandboxSetting;
  readonly limits: SandboxLimits;
  /** Where bubblewrap is looked up: the worker's own PATH. */
  readonly path: string | undefined;
  readonly docker: {
    readonly program: string;
    readonly image: string;
    /** The only variables of Errand's environment that the docker program gets. */
    readonly environment: Readonly<Record<string, string>>;
  };
}

const MAX_MEBIBYTES = 16 * 1_024 ** 2;

/** Contains git, certificates and the usual programs. The name is complete, because podman needs the registry. */
const DEFAULT_IMAGE = "docker.io/library/buildpack-deps:bookworm-scm";

const mebibytes = (min: number, defaultBytes: number) =>
  wholeNumber(min, MAX_MEBIBYTES).default(defaultBytes / MEBIBYTE);

export const sandboxVariables = {
  ERRAND_SANDBOX: z.enum(SANDBOX_SETTINGS).default("auto"),
  ERRAND_DOCKER: z.string().default("docker"),
  ERRAND_DOCKER_IMAGE: z.string().default(DEFAULT_IMAGE),
  ERRAND_SANDBOX_MEMORY_MIB: mebibytes(128, DEFAULT_SANDBOX_LIMITS.memoryBytes),
  ERRAND_SANDBOX_CPUS: decimalNumber(0.1, 1_024).default(DEFAULT_SANDBOX_LIMITS.cpus),
  ERRAND_SANDBOX_PROCESSES: wholeNumber(64, 1_000_000).default(DEFAULT_SANDBOX_LIMITS.processes),
  ERRAND_SANDBOX_FILE_MIB: mebibytes(1, DEFAULT_SANDBOX_LIMITS.fileBytes),
};

export const sandboxVariableDocs = {
  ERRAND_SANDBOX: {
    group: "Sandbox",
    default: "auto",
    description:
      "`docker`, `bubblewrap`, `seatbelt` (macOS), `local` (no isolation), or `auto` for the first of the isolating ones that works. Where none works, `auto` runs only the demo agent, which then starts no programs.",
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

/** With these, docker or podman finds its daemon, its settings and the programs that it calls. */
const DOCKER_NAMES =
  /^(DOCKER_.*|CONTAINER_.*|CONTAINERS_.*|PATH|HOME|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|TMPDIR)$/;

export function sandboxConfigOf(
  values: z.infer<z.ZodObject<typeof sandboxVariables>>,
  env: Readonly<Record<string, string | undefined>>,
): SandboxConfig {
  const dockerVariables = Object.entries(env).flatMap(([name, value]) =>
    DOCKER_NAMES.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    setting: values.ERRAND_SANDBOX,
    path: env.PATH,
    limits: {
      memoryBytes: values.ERRAND_SANDBOX_MEMORY_MIB * MEBIBYTE,
      cpus: values.ERRAND_SANDBOX_CPUS,
      processes: values.ERRAND_SANDBOX_PROCESSES,
      fileBytes: values.ERRAND_SANDBOX_FILE_MIB * MEBIBYTE,
    },
    docker: {
      program: values.ERRAND_DOCKER,
      image: values.ERRAND_DOCKER_IMAGE,
      environment: Object.fromEntries(dockerVariables),
    },
  };
}
