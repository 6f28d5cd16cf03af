import type { Principal } from "../model/people/principal.ts";
import { FIRST_TEAM, type Team } from "../model/people/team.ts";
import type { Schedule } from "../model/schedules/schedule.ts";
import { type Check, ok, warn } from "../ports/check.ts";
import type { Storage } from "../ports/stores/storage.ts";

type PeopleStorage = Pick<Storage, "people" | "schedules" | "teams">;

/** The teams and schedules that a finding names. */
const NAMED_MAX = 5;

/** Whether each team has someone who manages it. A role from a group of the identity provider ends with the group. */
export function administratorsCheck({ people, teams }: Pick<PeopleStorage, "people" | "teams">): Check {
  return {
    name: "administrators",
    async run() {
      const left: Team[] = [];
      for (const team of await teams.list()) {
        const members = await people.list(team.id);
        const isManaged = members.some(({ administrator, disabled }) => administrator && !disabled);
        // A team that nobody has joined needs none yet.
        left.push(...(isManaged || members.length === 0 ? [] : [team]));
      }
      return left.length === 0
        ? ok("Every team with members has an administrator.")
        : warn(
            `These teams have no administrator: ${namesOf(left.map(({ name }) => name))}.`,
            "An operator, or the server's own key, creates one: POST /api/v1/agent/principals with the uid of the team and administrator: true. In the first team, PATCH /api/v1/agent/principals/{uid} makes a member one.",
          );
    },
  };
}

/** Whom the identity provider no longer confirms, and whose schedules wait for them. */
export function suspendedPeopleCheck({ people, schedules, teams }: PeopleStorage): Check {
  return {
    name: "suspended_people",
    async run() {
      const suspended: Principal[] = [];
      const waiting: Schedule[] = [];
      for (const { id } of await teams.list()) {
        const ofTeam = (await people.list(id)).filter(isSuspended);
        suspended.push(...ofTeam);
        const ids = new Set(ofTeam.map((principal) => principal.id));
        const ofThem = ofTeam.length === 0 ? [] : await schedules.list(id);
        waiting.push(...ofThem.filter(({ creatorId, enabled }) => enabled && ids.has(creatorId)));
      }
      const who = `Suspended, because the identity provider no longer confirms them: ${suspended.length}.`;
      if (waiting.length === 0) {
        return ok(suspended.length === 0 ? "The identity provider confirms all people." : who);
      }
      return warn(
        `${who} Schedules of theirs wait: ${namesOf(waiting.map(labelOf))}.`,
        "The schedules continue when their creators sign in again. Otherwise delete them, and create them as another person.",
      );
    },
  };
}

function isSuspended({ disabled, suspendedAt }: Principal): boolean {
  return disabled && suspendedAt !== undefined;
}

/** Operators read the findings, and they cannot read the data of other teams. */
function labelOf({ id, name, teamId }: Schedule): string {
  return teamId === FIRST_TEAM ? name : id;
}

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_MAX).map((name) => `“${name}”`);
  const others = names.length - shown.length;
  return [...shown, ...(others === 0 ? [] : [`${others} others`])].join(", ");
}
