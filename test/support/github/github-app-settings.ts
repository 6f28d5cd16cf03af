import { type FrontAnswer, type FrontRequest, jsonAnswer, jsonOf } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";

const DELIVERY = /^\/app\/hook\/deliveries\/(\d+)$/;

/** What an administrator of the App sets, and what GitHub did lately. emulate has no routes for most of it. */
export class GithubAppSettings {
  hook: JsonRecord = { url: "", content_type: "json", insecure_ssl: "0", secret: "********" };
  /** Newest first. Each may have the member `payload`, which the list does not show. */
  deliveries: readonly JsonRecord[] = [];
  /** Members of the App and of its installation that differ from the seed. */
  app: JsonRecord = {};
  installation: JsonRecord = {};
  /** The rest of the calls of the hour. */
  remainingCalls = 4_999;

  /** Undefined: emulate answers. */
  async answer(
    request: FrontRequest,
    forward: (request: FrontRequest) => Promise<FrontAnswer>,
  ): Promise<FrontAnswer | undefined> {
    const delivery = request.method === "GET" && DELIVERY.exec(request.path)?.[1];
    if (delivery) {
      return this.#delivery(delivery);
    }
    switch (`${request.method} ${request.path}`) {
      case "GET /app/hook/config":
        return jsonAnswer(200, this.hook);
      case "GET /app/hook/deliveries":
        return this.#listDeliveries(new URLSearchParams(request.search));
      case "GET /app":
        return changed(await forward(request), (app) => ({ ...asRecord(app), ...this.app }));
      case "GET /app/installations":
        return changed(await forward(request), (list) =>
          (list as readonly JsonRecord[]).map((one) => ({ ...one, ...this.installation })),
        );
      case "GET /rate_limit":
        return changed(await forward(request), (answer) => this.#withBudget(asRecord(answer)));
      default:
        return undefined;
    }
  }

  #listDeliveries(search: URLSearchParams): FrontAnswer {
    const wanted = search.get("status");
    const listed = this.deliveries.filter(({ status_code: code }) => {
      const isSuccess = Number(code) >= 200 && Number(code) < 300;
      return wanted === null || (wanted === "success") === isSuccess;
    });
    const first = search.has("cursor")
      ? listed.findIndex(({ id }) => `v1_${id}` === search.get("cursor"))
      : 0;
    if (first < 0) {
      return jsonAnswer(422, { message: "Invalid cursor" });
    }
    const size = Number(search.get("per_page") ?? 30);
    const next = listed[first + size];
    const page = listed.slice(first, first + size).map(({ payload: _, ...delivery }) => delivery);
    search.set("cursor", `v1_${next?.id}`);
    const link = `<https://api.github.com/app/hook/deliveries?${search}>; rel="next"`;
    return withLongIds(jsonAnswer(200, page, next === undefined ? {} : { link }));
  }

  #delivery(id: string): FrontAnswer {
    const found = this.deliveries.find((delivery) => String(delivery.id) === id);
    if (found === undefined) {
      return jsonAnswer(404, { message: "Not Found" });
    }
    const { payload, ...delivery } = found;
    const headers = { "X-GitHub-Delivery": delivery.guid, "X-GitHub-Event": delivery.event };
    return withLongIds(jsonAnswer(200, { ...delivery, request: { headers, payload } }));
  }

  #withBudget(answer: JsonRecord): JsonRecord {
    const resources = asRecord(answer.resources);
    const core = { ...asRecord(resources.core), remaining: this.remainingCalls };
    return { ...answer, resources: { ...resources, core } };
  }
}

function changed(answer: FrontAnswer, change: (value: unknown) => unknown): FrontAnswer {
  return answer.status === 200 ? { ...answer, body: JSON.stringify(change(jsonOf(answer))) } : answer;
}

/** GitHub gives ids that a number of JavaScript cannot hold. The emulated ones are texts until here. */
function withLongIds(answer: FrontAnswer): FrontAnswer {
  return { ...answer, body: answer.body.toString().replace(/"id":"(\d+)"/g, '"id":$1') };
}

/** A delivery as the App's list shows it. */
export function aListedDelivery(statusCode: number, changes: JsonRecord = {}): JsonRecord {
  const status = statusCode === 200 ? "OK" : "Invalid HTTP Response";
  return {
    ...{ id: 12_345_678, guid: "0b989ba4-242f-11e5-81e1-c7b6966d2516", redelivery: false, duration: 0.27 },
    ...{ event: "issues", action: "opened", installation_id: 123, repository_id: 456 },
    ...{ delivered_at: "2026-03-01T12:00:00Z", status, status_code: statusCode, ...changes },
  };
}
