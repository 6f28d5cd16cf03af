import { GIBIBYTE } from "../basics/byte-units.ts";
import { isRestricted, type LiveWorker } from "../model/workers/worker.ts";
import type { AgentCatalogueView } from "../ports/agent-catalogue.ts";
import { type Check, fail, ok, warn } from "../ports/check.ts";
import type { Storage } from "../ports/stores/storage.ts";
import type { WorkerStore } from "../ports/stores/worker-store.ts";

/**
 * A job is normally taken within a second. A job that has waited this long waits for a free worker, or for any
 * worker.
 */
const WAIT_WARN_SECONDS = 60;
const WAIT_FAIL_SECONDS = 600;

/** `longestWaitSeconds`: the longest wait of a job that could be taken; undefined: no job waits. */
export function queueCheck(longestWaitSeconds: () => Promise<number | undefined>): Check {
  return {
    name: "queue",
    async run() {
      const seconds = Math.round((await longestWaitSeconds()) ?? 0);
      if (seconds < WAIT_WARN_SECONDS) {
        return ok("No job has waited for long.");
      }
      const report = seconds < WAIT_FAIL_SECONDS ? warn : fail;
      return report(
        `A job has waited for ${seconds} s.`,
        "Start more workers, raise ERRAND_CONCURRENCY, or start workers of the name that waiting runs ask for.",
      );
    },
  };
}

/** `findProblem`: what is wrong with the built pages; undefined: nothing. */
export function pagesCheck(
  findProblem: () => Promise<{ readonly message: string; readonly remedy: string } | undefined>,
): Check {
  return {
    name: "pages",
    async run() {
      const problem = await findProblem();
      return problem === undefined
        ? ok("The pages are built, and of this version.")
        : fail(problem.message, problem.remedy);
    },
  };
}

export function workersCheck({ workers }: { readonly workers: Pick<WorkerStore, "listLive"> }): Check {
  return {
    name: "workers",
    async run() {
      const live = await workers.listLive();
      if (live.length === 0) {
        return fail(
          "No worker is alive, so no run is worked on.",
          "Start a process with ERRAND_ROLE=worker or all.",
        );
      }
      const slots = live.reduce((sum, worker) => sum + worker.slots, 0);
      return ok(`${live.length} with room for ${slots} runs at a time.`);
    },
  };
}

/** The disks of the workers, by their last reports. */
export function workerDisksCheck({ workers }: { readonly workers: Pick<WorkerStore, "listLive"> }): Check {
  return {
    name: "worker_disks",
    async run() {
      const live = await workers.listLive();
      const figures = live.map(diskFigures).join(" ");
      const crowded = live.filter(({ diskUse }) => diskUse?.takesRuns === false);
      if (crowded.length === 0) {
        return ok(figures === "" ? "No worker has reported its disk." : figures);
      }
      const report = crowded.length < live.length ? warn : fail;
      return report(
        `${crowded.length} of ${live.length} workers have too little free space and take no run. ${figures}`,
        "Make room in their data directories, or lower ERRAND_LOCAL_COPIES_GIB or ERRAND_LOCAL_COPY_HOURS.",
      );
    },
  };
}

function diskFigures({ diskUse, id }: LiveWorker): string {
  if (diskUse === undefined) {
    return `${id}: not reported.`;
  }
  const used = Object.entries(diskUse.used).map(([what, bytes]) => `${what} ${gib(bytes)}`);
  const { freeBytes, orphans } = diskUse;
  const ended = orphans === 0 ? "" : `; ended ${orphans} containers and processes of killed workers`;
  return `${id}: ${gib(freeBytes)} free; ${used.join(", ")}${ended}.`;
}

function gib(bytes: number): string {
  return `${(bytes / GIBIBYTE).toFixed(1)} GiB`;
}

export function sandboxCheck({ workers }: { readonly workers: Pick<WorkerStore, "listLive"> }): Check {
  return {
    name: "sandbox",
    async run() {
      const live = await workers.listLive();
      const restricted = live.filter(isRestricted);
      if (restricted.length > 0) {
        return warn(
          `${restricted.length} of ${live.length} workers have no sandbox: they run only the demo agent, which starts no programs there, and end the runs of other agents.`,
          "Install bubblewrap or docker where those workers run. The worker's log says at its start why it cannot use them (sandbox.not_used).",
        );
      }
      const open = live.filter(({ sandbox }) => !sandbox.isolated);
      const names = [...new Set(live.map(({ sandbox }) => sandbox.name))].join(", ");
      if (open.length === 0) {
        return ok(names === "" ? "There is no worker that has one." : `In use: ${names}.`);
      }
      return warn(
        `${open.length} of ${live.length} workers keep agents from nothing: they have this machine's files and network.`,
        "Install bubblewrap or docker where those workers run, and leave ERRAND_SANDBOX unset.",
      );
    },
  };
}

export function agentsCheck(catalogue: AgentCatalogueView): Check {
  return {
    name: "agents",
    async run() {
      const entries = await catalogue.list();
      const ready = entries.filter(({ usable }) => usable).map(({ name }) => name);
      const usual = entries.find(({ name }) => name === catalogue.defaultName);
      if (usual?.usable) {
        return ok(`Ready: ${ready.join(", ")}. Default: ${usual.name}.`);
      }
      const needs = usual?.needs.join(" ") ?? "It is not in the catalogue.";
      return fail(
        `The default agent, ${catalogue.defaultName}, cannot do runs. ${needs}`,
        "Give it what it needs, or choose another one by ERRAND_AGENT.",
      );
    },
  };
}

/** `adapters`: the names of the enabled adapters. */
export function adaptersCheck(
  adapters: readonly string[],
  { installations, teams }: Pick<Storage, "installations" | "teams">,
  problems: readonly string[] = [],
): Check {
  return {
    name: "adapters",
    async run() {
      if (problems.length > 0) {
        return fail(
          `The stored settings of an adapter do not fit: ${problems.join(" ")}`,
          "Set the variables that are missing, or remove the stored settings under Integrations and set the adapter up again.",
        );
      }
      if (adapters.length === 0) {
        return ok("None is enabled: runs come only over the API.");
      }
      const ofTeams = (await teams.list()).map(({ id }) => installations.list(id));
      const all = (await Promise.all(ofTeams)).flat();
      const counts = adapters.map((name) => {
        const { on = [], off = [] } = Object.groupBy(
          all.filter(({ adapter }) => adapter === name),
          ({ enabled }) => (enabled ? "on" : "off"),
        );
        if (on.length + off.length === 0) {
          return `${name} (no installation yet)`;
        }
        return `${name} (installations: ${on.length} on, ${off.length} off)`;
      });
      const refused = all.flatMap(({ adapter, enabled, externalId, name = externalId, problem }) =>
        enabled && problem !== undefined && adapters.includes(adapter)
          ? [`${adapter} ${name}: ${problem}`]
          : [],
      );
      return refused.length === 0
        ? ok(`Switched on: ${counts.join(", ")}.`)
        : fail(
            `Installations that the platform refuses: ${refused.join(" ")}`,
            "Waiting messages are handled as soon as the platform takes the app again.",
          );
    },
  };
}

export const DEAD_DAYS = 7;
const SHOWN_REASONS = 5;
/** Stored errors begin with the name of their class. */
const ERROR_NAME = /^AppError: /;

/** Messages to threads that were given up. */
export function deadNoticesCheck({ noticeLog }: Pick<Storage, "noticeLog">): Check {
  return {
    name: "dead_notices",
    async run() {
      const dead = await noticeLog.listDead(DEAD_DAYS);
      if (dead.length === 0) {
        return ok(`No message to a thread was given up in the last ${DEAD_DAYS} days.`);
      }
      const reasons = Map.groupBy(
        dead,
        ({ adapter, error }) => `${adapter}: ${error.replace(ERROR_NAME, "")}`,
      );
      const counted = Array.from(reasons, ([reason, rows]) => ({
        reason,
        count: rows.reduce((sum, { count }) => sum + count, 0),
      })).toSorted((one, other) => other.count - one.count);
      const shown = counted.slice(0, SHOWN_REASONS).map(({ count, reason }) => `${count} × ${reason}`);
      const more = counted.length > SHOWN_REASONS ? " And others." : "";
      return warn(
        `Messages to threads were given up in the last ${DEAD_DAYS} days. ${shown.join(" ")}${more}`,
        "Repair the reasons. Then retry each notice that GET /api/v1/agent/notices?state=dead lists.",
      );
    },
  };
}

/** People who wait for an answer see nothing meanwhile, except on the pages. */
export function waitingNoticesCheck({ noticeLog }: Pick<Storage, "noticeLog">): Check {
  return {
    name: "waiting_notices",
    async run() {
      const held = await noticeLog.listHeld();
      if (held.length === 0) {
        return ok("No message to a thread waits for a rate limit.");
      }
      const shown = held.map(
        ({ adapter, count, until }) => `${count} × ${adapter}, the last one until ${until.toISOString()}`,
      );
      return warn(
        `Messages to threads wait because the platform limits how much is posted: ${shown.join("; ")}.`,
        "They are sent by themselves, answers first. The pages have them already.",
      );
    },
  };
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether only this machine reaches the address. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

export function publicUrlCheck(publicUrl: () => string, adapters: readonly string[]): Check {
  return {
    name: "public_url",
    async run() {
      const url = publicUrl();
      if (!isLoopbackUrl(url)) {
        return ok(`Links lead to ${url}.`);
      }
      if (adapters.length === 0) {
        return ok(`Links lead to ${url}: they work only on this machine.`);
      }
      return warn(
        `Posted links lead to ${url}, which only this machine can reach, and no webhook can arrive from outside.`,
        "Set ERRAND_PUBLIC_URL to the address by which others reach this server.",
      );
    },
  };
}

/** `countOthers`: how many rows have values under an earlier key; given while earlier keys are set. */
export function secretKeyCheck(isGiven: boolean, countOthers?: () => Promise<number>): Check {
  return {
    name: "secret_key",
    async run() {
      const others = await countOthers?.();
      if (others === 0) {
        return ok("All encrypted values are under the present key. ERRAND_OLD_SECRET_KEYS can be removed.");
      }
      if (others !== undefined) {
        return warn(
          `${others} rows have values that are encrypted under an earlier key.`,
          "Keep ERRAND_OLD_SECRET_KEYS. Workers encrypt them anew at their start and every hour. If some stay, their key is not set: write these values anew.",
        );
      }
      if (isGiven) {
        return ok("Given by ERRAND_SECRET_KEY.");
      }
      return ok(
        "Made at the first start and kept in the data directory. Without it no secret can be opened: back it up.",
      );
    },
  };
}
