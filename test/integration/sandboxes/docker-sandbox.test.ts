import { afterAll, beforeAll, describe } from "vitest";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { describeHostileAgent } from "../../contract/hostile-agent-contract.ts";
import { describeSandbox } from "../../contract/sandbox-contract.ts";
import { describePortForward } from "../../contract/sandbox-port-forward-contract.ts";
import { describeSandboxSweep } from "../../contract/sandbox-sweep-contract.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";

const skipped = await reasonToSkipDocker();

describe.skipIf(skipped !== undefined)(
  `docker${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    beforeAll(async () => {
      docker = await startDocker();
    });
    afterAll(() => docker?.stop());

    const makeSandbox = (dataDir: string, limits = DEFAULT_SANDBOX_LIMITS): Sandbox =>
      createDockerSandbox({ dataDir, limits, docker, image: docker.imageWithNode });

    describeSandbox("docker", makeSandbox);
    describePortForward("docker", makeSandbox);
    const options = () => ({
      docker: { program: docker.program, environment: docker.environment },
      image: docker.imageWithNode,
    });
    describeHostileAgent("docker", makeSandbox, { docker: options });
    describeSandboxSweep("docker", {
      makeSandbox,
      worker: () => ({ kind: "docker", ...options() }),
      endsWithWorker: true,
    });
  },
);
