import { type FrontAnswer, type FrontRequest, jsonAnswer, jsonOf } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";
import { GITHUB_APP } from "./github-fixture.ts";

const CREATED = /^\/repos\/[^/]+\/[^/]+\/check-runs$/;
const UPDATED = /^\/repos\/[^/]+\/[^/]+\/check-runs\/(\d+)$/;
const LISTED = /^\/repos\/[^/]+\/[^/]+\/commits\/[^/]+\/check-runs$/;
/** The most characters of each member of a button. */
const BUTTON_LENGTHS = { label: 20, description: 40, identifier: 20 };
const BUTTONS_MAX = 3;

/**
 * The checks of the App. emulate does not know whose a check is, and reads buttons by another name.
 * https://docs.github.com/rest/checks/runs
 */
export class GithubChecks {
  readonly #checks = new Map<number, JsonRecord>();

  get all(): readonly JsonRecord[] {
    return [...this.#checks.values()];
  }

  /** Throws if the check does not show the button. */
  withButton(id: number, identifier: string): JsonRecord {
    const check = this.#checks.get(id);
    const buttons = (check?.actions ?? []) as readonly JsonRecord[];
    if (check === undefined || !buttons.some((button) => button.identifier === identifier)) {
      throw new Error(`The check ${id} has no button ${identifier}`);
    }
    return { ...check, app: { id: GITHUB_APP.id } };
  }

  /** Undefined: emulate answers. */
  async answer(
    request: FrontRequest,
    forward: (request: FrontRequest) => Promise<FrontAnswer>,
    isApp: boolean,
  ): Promise<FrontAnswer | undefined> {
    const { method, path } = request;
    const isCreated = method === "POST" && CREATED.test(path);
    if (isApp && (isCreated || (method === "PATCH" && UPDATED.test(path)))) {
      const sent = asRecord(JSON.parse(request.body.toString()));
      const problem = problemOf(sent);
      return problem === undefined
        ? this.#kept(await forward(request), sent)
        : jsonAnswer(422, { message: problem });
    }
    return method === "GET" && LISTED.test(path) ? this.#listed(await forward(request), request) : undefined;
  }

  #kept(answer: FrontAnswer, { actions }: JsonRecord): FrontAnswer {
    if (answer.status >= 300) {
      return answer;
    }
    const check = asRecord(jsonOf(answer));
    const id = Number(check.id);
    const kept = { ...check, actions: actions ?? this.#checks.get(id)?.actions ?? [] };
    this.#checks.set(id, kept);
    return answer;
  }

  #listed(answer: FrontAnswer, { search }: FrontRequest): FrontAnswer {
    if (answer.status !== 200) {
      return answer;
    }
    const appId = new URLSearchParams(search).get("app_id");
    const list = asRecord(jsonOf(answer));
    const checks = (list.check_runs as readonly JsonRecord[]).map((check) =>
      this.#checks.has(Number(check.id))
        ? { ...check, app: { id: GITHUB_APP.id, slug: GITHUB_APP.slug } }
        : check,
    );
    const shown = checks.filter(({ app }) => appId === null || asRecord(app ?? {}).id === Number(appId));
    return { ...answer, body: JSON.stringify({ total_count: shown.length, check_runs: shown }) };
  }
}

function problemOf({ actions = [], output }: JsonRecord): string | undefined {
  const buttons = actions as readonly JsonRecord[];
  const { summary = "", title = "" } = asRecord(output ?? {});
  if (buttons.length > BUTTONS_MAX) {
    return "There are more than three actions";
  }
  if (output !== undefined && (title === "" || String(summary).length > 65_535)) {
    return "The output is not valid";
  }
  const isLong = buttons.some((button) =>
    Object.entries(BUTTON_LENGTHS).some(([name, max]) => {
      const { length } = String(button[name] ?? "");
      return length === 0 || length > max;
    }),
  );
  return isLong ? "An action is not valid" : undefined;
}
