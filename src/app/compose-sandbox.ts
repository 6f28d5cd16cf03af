import type { Config } from "../config/config.ts";
import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";
import { createBubblewrapSandbox } from "../sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { type ChosenSandbox, chooseSandbox } from "../sandboxes/choose-sandbox.ts";
import { createDockerSandbox } from "../sandboxes/docker/docker-sandbox.ts";
import { createLocalSandbox } from "../sandboxes/local/local-sandbox.ts";
import { createRestrictedSandbox } from "../sandboxes/restricted/restricted-sandbox.ts";
import { createSeatbeltSandbox } from "../sandboxes/seatbelt/seatbelt-sandbox.ts";

/** Fails with an AppError when the sandbox that the operator named does not work here. */
export function composeSandbox({ dataDir, sandbox }: Config, log: Log): Promise<ChosenSandbox> {
  const { docker, limits, path, setting } = sandbox;
  return chooseSandbox(setting, {
    docker: createDockerSandbox({ dataDir, limits, docker, log, image: docker.image, images: docker.images }),
    bubblewrap: createBubblewrapSandbox(defined({ dataDir, limits, path })),
    seatbelt: createSeatbeltSandbox(dataDir),
    local: createLocalSandbox(dataDir),
    restricted: createRestrictedSandbox(dataDir),
  });
}
