import { AppError } from "../../basics/errors.ts";
import type { ListedRun } from "../../model/runs/run.ts";
import { STATE_PHRASES } from "../../model/runs/states.ts";
import type { RunCard } from "../../model/threads/notice.ts";
import type { AgentCatalogueView } from "../../ports/agent-catalogue.ts";
import type { RunKey } from "../../ports/stores/run-store.ts";
import { waitsForDecision } from "../../requests/deciders.ts";
import { admitPerson, type PrivateCommandsDeps, type PrivateRequest } from "./private-commands.ts";

/** What a person may choose from in the form of a new run. */
export interface FormChoices {
  readonly agents: readonly { readonly name: string; readonly displayName: string }[];
}

/** A run in a list for one person. Its title may be anybody's text. */
export interface RunLine {
  readonly title: string;
  readonly state: string;
  readonly link: string;
}

/** What a person sees first: the newest of each list. */
export interface PersonHome {
  /** Runs that wait for a decision that this person may make. */
  readonly waiting: readonly RunLine[];
  readonly mine: readonly RunLine[];
}

/** What the readers of a conversation see of a run whose address a person posts there. */
export type RunPreview = Pick<
  RunCard,
  | "pullRequest"
  | "pullRequestStatus"
  | "runId"
  | "sessionLink"
  | "shortfall"
  | "state"
  | "title"
  | "workspace"
>;

export type ViewOf<T> = T | { readonly refusal: string };

export interface PersonViewsDeps
  extends Pick<PrivateCommandsDeps, "joins" | "policies" | "runs" | "storage"> {
  readonly agents: Pick<AgentCatalogueView, "list">;
}

const RUNS_MAX = 10;
/** Of runs that wait for anybody. Whether they wait for this person is decided one by one. */
const BLOCKED_MAX = 50;

/** What a platform shows to one person outside of threads: the form of a new run, and an overview. */
export class PersonViews {
  readonly #deps: PersonViewsDeps;

  constructor(deps: PersonViewsDeps) {
    this.#deps = deps;
  }

  async form(request: PrivateRequest): Promise<ViewOf<FormChoices>> {
    const admitted = await admitPerson(request, this.#deps);
    if ("refusal" in admitted) {
      return admitted;
    }
    const agents = (await this.#deps.agents.list()).filter(({ usable }) => usable);
    return { agents: agents.map(({ displayName, name }) => ({ displayName, name })) };
  }

  async home(request: PrivateRequest): Promise<ViewOf<PersonHome>> {
    const admitted = await admitPerson(request, this.#deps);
    if ("refusal" in admitted) {
      return admitted;
    }
    const { author, from } = admitted;
    const { runs, storage } = this.#deps;
    const newest = { viewer: author, sort: "updated_at", order: "desc" } as const;
    const [mine, blocked, decidersOf] = await Promise.all([
      runs.list({ ...newest, filters: { creatorId: author.id }, limit: RUNS_MAX }),
      runs.list({ ...newest, filters: { states: ["BLOCKED"] }, limit: BLOCKED_MAX }),
      runs.deciders(author, from, (teamId) => storage.people.list(teamId)),
    ]);
    const decided = await Promise.all(
      blocked.runs.map(async (run) => {
        const mayDecide = waitsForDecision(run)
          ? (await decidersOf(run)).mayDecide
          : run.creatorId === author.id;
        return mayDecide ? [run] : [];
      }),
    );
    return {
      waiting: decided.flat().slice(0, RUNS_MAX).map(this.#lineOf),
      mine: mine.runs.map(this.#lineOf),
    };
  }

  /** Undefined unless the person and all others of the team may see the run, because others read the conversation. */
  async preview(request: PrivateRequest, key: RunKey): Promise<RunPreview | undefined> {
    const admitted = await admitPerson(request, this.#deps);
    if ("refusal" in admitted) {
      return undefined;
    }
    const { runs } = this.#deps;
    const run = await runs.get(key, admitted.author).catch(unlessMissing);
    return run?.teamOwned === true ? runs.card(run) : undefined;
  }

  readonly #lineOf = (run: ListedRun): RunLine => ({
    title: run.title,
    state: STATE_PHRASES[run.state],
    link: this.#deps.runs.sessionLink(run),
  });
}

/** For `catch`. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === "resource_not_found")) {
    throw error;
  }
}
