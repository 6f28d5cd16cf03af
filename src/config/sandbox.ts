import { z } from "zod";
import { GIBIBYTE, MEBIBYTE } from "../core/basics/byte-units.ts";
import { butNot } from "../core/basics/errors.ts";
import { DEFAULT_REGISTRY, parseImageName, parseRegistry } from "../core/model/workspaces/image-name.ts";
import { SANDBOX_SETTINGS, type SandboxSetting } from "../sandboxes/choose-sandbox.ts";
import { DEFAULT_IMAGE_RULES, type ImageRules } from "../sandboxes/image-rules.ts";
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from "../sandboxes/sandbox-limits.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { decimalNumber, wholeNumber } from "./variable-types.ts";

export interface SandboxConfig {
  readonly setting: SandboxSetting;
  readonly limits: SandboxLimits;
  /** Where bubblewrap is looked up: the worker's own PATH. */
  readonly path: string | undefined;
  readonly docker: {
    readonly program: string;
    readonly image: string;
    readonly images: ImageRules;
    /** The only variables of Errand's environment that the docker program gets. */
    readonly environment: Readonly<Record<string, string>>;
  };
}

const MAX_MEBIBYTES = 16 * 1_024 ** 2;

/** Contains git, certificates and the usual programs. The name is complete, because podman needs the registry. */
const DEFAULT_IMAGE = "docker.io/library/buildpack-deps:bookworm-scm";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const imageName = z
  .string()
  .refine((name) => parseImageName(name) !== undefined, "must be the name of an image, such as debian:13");

const registries = z.string().transform((text, context) => {
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.find((word) => parseRegistry(word) === undefined);
  if (wrong !== undefined) {
    const message = `must contain registries such as ghcr.io, ghcr.io/acme or registry.example.com:5000${butNot(wrong)}`;
    context.addIssue({ code: "custom", message, params: { showsValue: true } });
  }
  return words.flatMap((word) => parseRegistry(word) ?? []);
});

const mebibytes = (min: number, defaultBytes: number) =>
  wholeNumber(min, MAX_MEBIBYTES).default(defaultBytes / MEBIBYTE);

export const sandboxVariables = {
  ERRAND_SANDBOX: z.enum(SANDBOX_SETTINGS).default("auto"),
  ERRAND_DOCKER: z.string().default("docker"),
  ERRAND_DOCKER_IMAGE: imageName.default(DEFAULT_IMAGE),
  ERRAND_IMAGE_REGISTRIES: registries.optional(),
  ERRAND_IMAGE_PULL_MINUTES: wholeNumber(1, 1_440).default(DEFAULT_IMAGE_RULES.pullMs / MINUTE_MS),
  ERRAND_IMAGE_GIB: decimalNumber(0.1, 10_000).default(DEFAULT_IMAGE_RULES.maxBytes / GIBIBYTE),
  ERRAND_IMAGE_DAYS: wholeNumber(1, 10_000).default(DEFAULT_IMAGE_RULES.unusedMs / DAY_MS),
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
  ERRAND_IMAGE_REGISTRIES: {
    group: "Sandbox",
    default: "(docker.io and the registry of `ERRAND_DOCKER_IMAGE`)",
    description:
      "The registries from which workers pull the images of environments, separated by commas: `ghcr.io`, `ghcr.io/acme` or `registry.example.com:5000`. A name without a registry is in `docker.io`. Set it on all processes, because the API refuses images of other registries.",
  },
  ERRAND_IMAGE_PULL_MINUTES: {
    group: "Sandbox",
    default: "10",
    description: "The time after which a worker gives up the pull of an image.",
  },
  ERRAND_IMAGE_GIB: {
    group: "Sandbox",
    default: "20",
    description: "The most disk space that the image of an environment may take, in GiB.",
  },
  ERRAND_IMAGE_DAYS: {
    group: "Sandbox",
    default: "14",
    description: "A worker removes images that it pulled and that no run has used for this many days.",
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
      images: imageRulesOf(values),
      environment: Object.fromEntries(dockerVariables),
    },
  };
}

function imageRulesOf(values: z.infer<z.ZodObject<typeof sandboxVariables>>): ImageRules {
  const ownRegistry = parseImageName(values.ERRAND_DOCKER_IMAGE)?.registry ?? DEFAULT_REGISTRY;
  return {
    registries: values.ERRAND_IMAGE_REGISTRIES ?? [...new Set([DEFAULT_REGISTRY, ownRegistry])],
    pullMs: values.ERRAND_IMAGE_PULL_MINUTES * MINUTE_MS,
    maxBytes: values.ERRAND_IMAGE_GIB * GIBIBYTE,
    unusedMs: values.ERRAND_IMAGE_DAYS * DAY_MS,
  };
}
