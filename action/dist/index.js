import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
// ../clients/typescript/src/errors.ts
/** The base class of everything that the client throws. */
var ErrandError = class extends Error {
	name = "ErrandError";
};
/** The server answered with an error. The subclasses stand for its HTTP status. */
var APIError = class extends ErrandError {
	name = "APIError";
	/** The HTTP status. */
	status;
	/** The headers of the response. */
	headers;
	/** The body of the response: JSON if it was JSON, otherwise the text. */
	body;
	constructor(status, headers, body) {
		super(messageOf$1(status, headers, body));
		this.status = status;
		this.headers = headers;
		this.body = body;
	}
	/** What went wrong, as one of 16 codes. Decide by this code, never by the text. */
	get code() {
		return this.problem.code;
	}
	/** What you can do about it, for people. */
	get remedy() {
		return this.problem.remedy ?? (isOfProxy(this.status, this.body) ? PROXY_REMEDY : void 0);
	}
	/** For invalid input: the path of each invalid member, and what is wrong with it. */
	get issues() {
		return this.problem.issues;
	}
	/** The id of the request in the logs of the server. */
	get requestId() {
		return this.headers.get("x-request-id") ?? this.problem.trace_id;
	}
	/** The body as the server's errors have it. Every member is missing if something else has answered. */
	get problem() {
		return isObject(this.body) ? this.body : {};
	}
};
/** 400: the request is not valid. `issues` says where. */
var BadRequestError = class extends APIError {
	name = "BadRequestError";
};
/** 401: the key is missing, unknown, revoked or expired. */
var AuthenticationError = class extends APIError {
	name = "AuthenticationError";
};
/** 403: the key is known and may not do this. */
var PermissionDeniedError = class extends APIError {
	name = "PermissionDeniedError";
};
/** 404: the object does not exist, or the caller may not see it. */
var NotFoundError = class extends APIError {
	name = "NotFoundError";
};
/** 409: the request does not fit the current state of the object. */
var ConflictError = class extends APIError {
	name = "ConflictError";
};
/** 422: the operation is not possible, or its idempotency key belongs to another request. */
var UnprocessableEntityError = class extends APIError {
	name = "UnprocessableEntityError";
};
/** 429: too many requests, open streams or waiting runs. */
var RateLimitError = class extends APIError {
	name = "RateLimitError";
};
/** 500 and above: the server failed, or is not available. */
var InternalServerError = class extends APIError {
	name = "InternalServerError";
};
/** There is no complete response: the connection was refused or broke off. `cause` is the error of `fetch`. */
var APIConnectionError = class extends ErrandError {
	name = "APIConnectionError";
};
/** The server did not answer within `timeoutMs`. */
var APIConnectionTimeoutError = class extends APIConnectionError {
	name = "APIConnectionTimeoutError";
};
/** The response is not what an Errand server sends. Something else answers at its address. */
var InvalidResponseError = class extends ErrandError {
	name = "InvalidResponseError";
	/** The id of the request in the logs of the server. */
	requestId;
	/** `name` is the method and the path of the request. */
	constructor(fault, { name, response }) {
		const requestId = response.headers.get("x-request-id") ?? void 0;
		const id = requestId === void 0 ? "" : ` Its request id is ${requestId}.`;
		super(`The response to ${name} ${fault}.${id}`);
		this.requestId = requestId;
	}
};
/** The caller's `signal` ended the request. `cause` is its reason. */
var APIUserAbortError = class extends ErrandError {
	name = "APIUserAbortError";
};
/** A received webhook message is not authentic: nobody who knows the secret has signed it recently. */
var WebhookVerificationError = class extends ErrandError {
	name = "WebhookVerificationError";
};
const BY_STATUS = {
	400: BadRequestError,
	401: AuthenticationError,
	403: PermissionDeniedError,
	404: NotFoundError,
	409: ConflictError,
	422: UnprocessableEntityError,
	429: RateLimitError
};
/** Creates the error of a response. `text` is its body. */
function errorOfResponse({ status, headers }, text) {
	return new (BY_STATUS[status] ?? (status >= 500 ? InternalServerError : APIError))(status, headers, parsed(text));
}
/** Creates the error of a failed connection. `signal` is that of the caller. */
function errorOfConnection(error, signal) {
	if (error instanceof ErrandError) return error;
	if (signal?.aborted) return new APIUserAbortError("The request was aborted by its caller.", { cause: signal.reason });
	return new APIConnectionError(`The connection to the server failed: ${reasonOf(error)}`, { cause: error });
}
/** `fetch` says only that it failed; its cause says why. */
function reasonOf(error) {
	if (!(error instanceof Error)) return String(error);
	return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
const PROXY_REMEDY = "Send less at once, or ask the operator of the server to let the proxy pass bodies of 30 MiB.";
/** Errand says itself which limit a body exceeds. A proxy before it answers with a page or with nothing. */
function isOfProxy(status, body) {
	return status === 413 && !(isObject(body) && typeof body.error === "string");
}
function messageOf$1(status, headers, body) {
	if (isObject(body) && typeof body.error === "string") return body.error;
	if (isOfProxy(status, body)) return "A proxy before the server refuses bodies of this size.";
	return `The response has the status ${status} and the type ${headers.get("content-type") ?? "unknown"}.`;
}
function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
function isObject(value) {
	return typeof value === "object" && value !== null;
}
// ../clients/typescript/src/http/api-promise.ts
/**
* The result of a call: a promise of the parsed body. The request is sent once, as soon as the current function
* yields, whether or not the promise is awaited.
*/
var ApiPromise = class {
	[Symbol.toStringTag] = "ApiPromise";
	#answer;
	#dataOf;
	#readsBody = true;
	constructor(send, dataOf) {
		this.#dataOf = dataOf;
		this.#answer = Promise.resolve().then(() => send(this.#readsBody));
	}
	/** The parsed body, with the response that it came in. */
	async withResponse() {
		const answer = await this.#answer;
		const { response } = answer;
		const requestId = response.headers.get("x-request-id") ?? void 0;
		return {
			data: this.#dataOf(answer),
			response,
			requestId
		};
	}
	/**
	* The response as it came from `fetch`, with an unread body. Call it directly on the result of a method, before any
	* `await`. Errors of the server are thrown as usual.
	*/
	async asResponse() {
		this.#readsBody = false;
		return (await this.#answer).response;
	}
	then(onFulfilled, onRejected) {
		return this.#answer.then(this.#dataOf).then(onFulfilled, onRejected);
	}
	catch(onRejected) {
		return this.then(void 0, onRejected);
	}
	finally(onFinally) {
		return this.then().finally(onFinally);
	}
};
// ../clients/typescript/src/http/clock.ts
/** The longest time of a timer. A longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;
const SYSTEM_CLOCK = {
	now: () => Date.now(),
	after(ms, callback) {
		if (ms > TIMER_MAX_MS) return () => void 0;
		const timer = setTimeout(callback, ms);
		return () => clearTimeout(timer);
	}
};
/** Resolves after this time, or rejects with the reason of `signal`. */
function sleep(clock, ms, signal) {
	return new Promise((resolve, reject) => {
		signal?.throwIfAborted();
		const onAbort = () => {
			stop();
			reject(signal?.reason);
		};
		const stop = clock.after(ms, () => {
			signal?.removeEventListener("abort", onAbort);
			resolve();
		});
		signal?.addEventListener("abort", onAbort, { once: true });
	});
}
// ../clients/typescript/src/http/list-promise.ts
/**
* The result of a method that lists. Awaited, it is the body of one response. Iterated, it yields the entries of this
* page and of all pages behind it, and reads each page when it is needed.
*
* @example
* for await (const run of client.runs.list({ state: ["FAILED"] })) {
*   console.log(run.title);
* }
*/
var ListPromise = class extends ApiPromise {
	#entriesOf;
	#listBehind;
	constructor(send, entriesOf, listBehind) {
		super(send, (answer) => pageOf(answer, entriesOf));
		this.#entriesOf = entriesOf;
		this.#listBehind = listBehind;
	}
	async *[Symbol.asyncIterator]() {
		for await (const page of this.pages()) yield* this.#entriesOf(page);
	}
	/** This page, and then each page behind it. */
	async *pages() {
		let page = await this;
		yield page;
		for (let cursor = cursorBehind(page); cursor !== void 0; cursor = cursorBehind(page)) {
			page = await this.#listBehind(cursor);
			yield page;
		}
	}
};
/** The server promises the type in its OpenAPI document, but something else may have answered. */
function pageOf({ body, name, response }, entriesOf) {
	if (!(typeof body === "object" && body !== null) || !Array.isArray(entriesOf(body))) throw new InvalidResponseError(`has no list "${memberOf(entriesOf)}"`, {
		name,
		response
	});
	return body;
}
/** The name of the member that the function reads. */
function memberOf(entriesOf) {
	const names = [];
	entriesOf(new Proxy({}, { get: (_, name) => names.push(String(name)) }));
	return names.join();
}
/** Lists without pages have no `page_info`. */
function cursorBehind(page) {
	const info = page.page_info;
	return info?.has_next_page === true ? info.next_cursor : void 0;
}
// ../clients/typescript/src/http/log.ts
/** A level that is unknown is off, as another program may have set the variable. */
function loggerOf(level) {
	const write = (line) => console.error(`[errand] ${line}`);
	const info = level === "info" || level === "debug" ? write : ignored;
	const debug = level === "debug" ? write : ignored;
	return {
		requested: (request, retries) => debug(retries === 0 ? request : `${request} (retry ${retries})`),
		answered: (request, { status, headers }) => info(`${request}: status ${status}, request ${headers.get("x-request-id") ?? "none"}`),
		failed: (request, error, pauseMs) => {
			const kind = error instanceof APIError ? `status ${error.status}` : error.name;
			info(`${request} failed: ${kind}, ${pauseMs === void 0 ? "no retry" : `retry in ${pauseMs} ms`}`);
		}
	};
}
function ignored() {}
// ../clients/typescript/src/version.ts
/** The version of this package. */
const VERSION = "0.2.0";
// ../clients/typescript/src/http/request.ts
/** The types make both lists complete, so that a further option is not refused. */
const REQUEST = {
	body: true,
	headers: true,
	idempotencyKey: true,
	ifMatch: true,
	maxRetries: true,
	method: true,
	path: true,
	query: true,
	signal: true,
	timeoutMs: true
};
function requireKnownRequest(request) {
	requireKnown(request, REQUEST);
}
/** A misspelt option would be ignored, and JavaScript has no types that refuse it. */
function requireKnown(options, known) {
	const unknown = Object.keys(options).filter((name) => !Object.hasOwn(known, name));
	if (unknown.length > 0) throw new ErrandError(`Unknown options: ${unknown.join(", ")}. Options: ${Object.keys(known).join(", ")}.`);
}
/** Adds the query of a method to the options of a call. */
function withQuery(query, options) {
	return {
		...options,
		query: {
			...query,
			...options?.query
		}
	};
}
/** Fills values into a path: `` path`/agent/runs/${id}` ``. */
function path(texts, ...values) {
	return texts.map((text, index) => text + (index < values.length ? segment(values[index]) : "")).join("");
}
/** An empty value or one of dots would lead to another endpoint. */
function segment(value) {
	if (typeof value !== "string" || /^\.{0,2}$/.test(value)) throw new ErrandError(`An id must be a text that is not empty: ${JSON.stringify(value)}`);
	return encodeURIComponent(value);
}
function urlOf(baseUrl, { path: relative, query = {} }) {
	if (!relative.startsWith("/")) throw new ErrandError(`A path must begin with "/": ${relative}`);
	const url = new URL(baseUrl + relative);
	for (const [key, value] of Object.entries(query).flatMap(pairsOf)) if (value !== void 0) url.searchParams.append(key, String(value));
	return url.href;
}
function pairsOf([key, value]) {
	if (isList(value)) return value.map((entry) => [key, entry]);
	if (typeof value === "object") return Object.entries(value).map(([member, entry]) => [`${key}[${member}]`, entry]);
	return [[key, value]];
}
/** Unlike `Array.isArray`, it recognizes readonly lists. */
function isList(value) {
	return Array.isArray(value);
}
/** The headers of a request and of all its retries. */
function headersOf(request, { apiKey, defaultHeaders }) {
	const headers = new Headers({ accept: "application/json" });
	if (USER_AGENT !== void 0) headers.set("user-agent", USER_AGENT);
	if (apiKey !== void 0) setHeader(headers, "authorization", `Bearer ${apiKey}`);
	if (request.body !== void 0) headers.set("content-type", "application/json");
	if (request.method !== "GET") setHeader(headers, "idempotency-key", request.idempotencyKey ?? randomKey());
	if (request.ifMatch !== void 0) setHeader(headers, "if-match", request.ifMatch);
	for (const [name, value] of [...Object.entries(defaultHeaders), ...Object.entries(request.headers ?? {})]) if (value === void 0) headers.delete(name);
	else setHeader(headers, name, value);
	return headers;
}
/** The error of the platform would show the value, which may be a key. */
function setHeader(headers, name, value) {
	try {
		headers.set(name, value);
	} catch {
		throw new ErrandError(`${name === "authorization" ? "The API key" : `The header ${name}`} has characters that cannot be sent.`);
	}
}
/** A browser names itself, and another name would make it ask a server of another origin first. */
const USER_AGENT = userAgentOf(globalThis);
/** Bun and Deno say which Node they are like. */
function userAgentOf({ process }) {
	const node = process?.versions?.node;
	return node === void 0 ? void 0 : `errand-js/${VERSION} node/${node}`;
}
/** Not `randomUUID`, which browsers offer only over HTTPS. */
function randomKey() {
	const bytes = crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16));
	return `errand-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
// ../clients/typescript/src/generated/required-members.ts
/** Operations, with a `*` for each parameter, and the members that their responses must have. */
const REQUIRED_MEMBERS = [
	["PUT /agent/teams/*/quotas", "quotas"],
	["PUT /agent/secrets/*", "name scope created_at updated_at"],
	["PUT /agent/schedules/*", "id name cron_schedule enabled prompt created_at updated_at"],
	["PUT /agent/runs/*/draft-comments/*", "path side line hunk body draft_id created_at updated_at"],
	["PUT /agent/routing-rules/*", "id name priority enabled created_by created_at updated_at match config"],
	["PUT /agent/policies/*", "id name priority enabled created_at updated_at effect match"],
	["PUT /agent/mcp-servers/*", "uid name config created_at updated_at created_by"],
	["PUT /agent/installations/guides/*/app", "app_id change needs_install install_url"],
	["PUT /agent/identities/*", "uid name available created_at updated_at default_runner_uid memory skills secrets"],
	["PUT /agent/environments/*", "uid config last_updated setup_failed"],
	["POST /agent/webhooks/*/test", "id webhook_id type state tries created_at"],
	["POST /agent/webhooks/*/rotate-secret", "id url events enabled created_by created_at updated_at secret"],
	["POST /agent/webhooks/*/deliveries/replay", "count"],
	["POST /agent/webhooks/*/deliveries/*/replay", "id webhook_id type state tries created_at"],
	["POST /agent/webhooks", "id url events enabled created_by created_at updated_at secret"],
	["POST /agent/teams", "uid name sharing created_at"],
	["POST /agent/schedules/*/resume", "id name cron_schedule enabled prompt created_at updated_at"],
	["POST /agent/schedules/*/pause", "id name cron_schedule enabled prompt created_at updated_at"],
	["POST /agent/schedules", "id name cron_schedule enabled prompt created_at updated_at"],
	["POST /agent/runs/cancel", "results"],
	["POST /agent/runs/batch", "results"],
	["POST /agent/runs/*/webhook-deliveries/*/replay", "id webhook_id type state tries created_at"],
	["POST /agent/runs/*/share-links", "id access created_by created_at expires_at url"],
	["POST /agent/runs/*/retry", "run_id task_id state"],
	["POST /agent/runs/*/permissions/*", "state"],
	["POST /agent/runs/*/followups", "outcome state"],
	["POST /agent/runs/*/approval", "state"],
	["POST /agent/runs", "run_id task_id state"],
	["POST /agent/run", "run_id task_id state"],
	["POST /agent/routing-rules/evaluate", "reason config config_layers considered"],
	["POST /agent/routing-rules", "id name priority enabled created_by created_at updated_at match config"],
	["POST /agent/principals", "uid team_uid type administrator disabled created_at"],
	["POST /agent/policies/evaluate", "effect reason policy considered"],
	["POST /agent/policies", "id name priority enabled created_at updated_at effect match"],
	["POST /agent/notices/*/retry", "id thread_id kind state attempts created_at"],
	["POST /agent/mcp-servers", "uid name config created_at updated_at created_by"],
	["POST /agent/keys/exchange", "id name hint scopes principal_uid created_at key"],
	["POST /agent/keys/*/rotate", "id name hint scopes principal_uid created_at key"],
	["POST /agent/keys", "id name hint scopes principal_uid created_at key"],
	["POST /agent/inbox/*/retry", "id integration name received_at disposition"],
	["POST /agent/identity-links", "id subject adapter principal_uid created_at"],
	["POST /agent/identities", "uid name available created_at updated_at default_runner_uid memory skills secrets"],
	["POST /agent/environments/*/test", "run_id task_id state"],
	["POST /agent/environments", "uid config last_updated setup_failed"],
	["POST /agent/device-codes/token", "id name hint scopes principal_uid created_at key"],
	["POST /agent/device-codes", "device_code user_code verification_uri expires_in interval"],
	["POST /agent/conversations/*/interrupt", "run_id"],
	["POST /agent/conversations/*/followups", "outcome state run_id"],
	["POST /agent/catalogue/*/test", "run_id task_id state"],
	["PATCH /agent/webhooks/*", "id url events enabled created_by created_at updated_at"],
	["PATCH /agent/threads/*", "id integration installation run_id is_current verbosity created_at"],
	["PATCH /agent/teams/*", "uid name sharing created_at"],
	["PATCH /agent/runs/*/followups/*", "followup_id message author source created_at delivery visibility status"],
	["PATCH /agent/runs/*", "run_id task_id root_run_id title prompt state created_at updated_at is_sandbox_running source creator"],
	["PATCH /agent/principals/*", "uid team_uid type administrator disabled created_at"],
	["PATCH /agent/keys/*", "id name hint scopes principal_uid created_at"],
	["PATCH /agent/installations/*", "id adapter external_id enabled team_uid created_at"],
	["GET /networking/egress-ranges", "cidrs"],
	["GET /agent/whoami", "principal team scopes is_administrator is_operator"],
	["GET /agent/webhooks/*/deliveries/*", "id webhook_id type state tries created_at body history"],
	["GET /agent/webhooks/*/deliveries", "deliveries page_info"],
	["GET /agent/webhooks/*", "id url events enabled created_by created_at updated_at"],
	["GET /agent/webhooks", "webhooks page_info"],
	["GET /agent/usage", "usage"],
	["GET /agent/threads/*", "id integration installation run_id is_current verbosity created_at"],
	["GET /agent/threads", "threads page_info"],
	["GET /agent/teams/*", "uid name sharing created_at"],
	["GET /agent/teams", "teams page_info"],
	["GET /agent/sign-ins", "sign_ins page_info"],
	["GET /agent/secrets/*", "name scope created_at updated_at"],
	["GET /agent/secrets", "secrets page_info"],
	["GET /agent/schedules/*", "id name cron_schedule enabled prompt created_at updated_at"],
	["GET /agent/schedules", "schedules page_info"],
	["GET /agent/runs/*/webhook-deliveries", "deliveries page_info"],
	["GET /agent/runs/*/timeline", "events"],
	["GET /agent/runs/*/share-links", "share_links page_info"],
	["GET /agent/runs/*/harness-usage", "available conversation_id run_id"],
	["GET /agent/runs/*/handoff/attachments", "attachments"],
	["GET /agent/runs/*/followups/*", "followup_id message author source created_at delivery visibility status"],
	["GET /agent/runs/*/followups", "followups page_info"],
	["GET /agent/runs/*/events", "events next_after"],
	["GET /agent/runs/*/draft-comments", "draft_comments page_info"],
	["GET /agent/runs/*/conversation", "conversation_id steps has_more_before"],
	["GET /agent/runs/*/changes", "turn repositories"],
	["GET /agent/runs/*", "run_id task_id root_run_id title prompt state created_at updated_at is_sandbox_running source creator"],
	["GET /agent/runs", "runs page_info"],
	["GET /agent/run-by-external-reference", "run_id"],
	["GET /agent/routing-rules/*", "id name priority enabled created_by created_at updated_at match config"],
	["GET /agent/routing-rules", "routing_rules page_info"],
	["GET /agent/quotas", "quotas"],
	["GET /agent/principals/*", "uid team_uid type administrator disabled created_at"],
	["GET /agent/principals", "principals page_info"],
	["GET /agent/policies/*", "id name priority enabled created_at updated_at effect match"],
	["GET /agent/policies", "policies page_info"],
	["GET /agent/notices", "notices page_info"],
	["GET /agent/models", "default_model_id models"],
	["GET /agent/mcp-servers/*", "uid name config created_at updated_at created_by"],
	["GET /agent/mcp-servers", "mcp_servers page_info"],
	["GET /agent/keys/*", "id name hint scopes principal_uid created_at"],
	["GET /agent/keys", "keys page_info"],
	["GET /agent/installations/guides", "guides"],
	["GET /agent/installations/*", "id adapter external_id enabled team_uid created_at"],
	["GET /agent/installations", "installations page_info"],
	["GET /agent/inbox", "events page_info"],
	["GET /agent/identity-links", "links page_info"],
	["GET /agent/identities/*", "uid name available created_at updated_at default_runner_uid memory skills secrets"],
	["GET /agent/identities", "agents page_info"],
	["GET /agent/events", "events next_after has_more"],
	["GET /agent/environments/*", "uid config last_updated setup_failed"],
	["GET /agent/environments", "environments page_info"],
	["GET /agent/doctor", "status checks"],
	["GET /agent/conversations/*", "conversation_id steps has_more_before"],
	["GET /agent/connected-self-hosted-workers", "workers"],
	["GET /agent/catalogue", "agents"],
	["GET /agent/audit", "entries page_info"],
	["GET /agent/artifacts/*", "artifact_uid artifact_type created_at data"],
	["GET /agent", "agents page_info"],
	["DELETE /agent/webhooks/*", "success"],
	["DELETE /agent/secrets/*", "success"],
	["DELETE /agent/schedules/*", "success"],
	["DELETE /agent/runs/*/share-links/*", "success"],
	["DELETE /agent/routing-rules/*", "success"],
	["DELETE /agent/principals/*/keys", "revoked"],
	["DELETE /agent/principals/*", "success"],
	["DELETE /agent/policies/*", "success"],
	["DELETE /agent/keys/*", "success"],
	["DELETE /agent/installations/guides/*/settings", "success"],
	["DELETE /agent/identity-links/*", "success"],
	["DELETE /agent/environments/*", "success"]
];
// ../clients/typescript/src/http/require-members.ts
/** Another server may answer with JSON, too. Without this check, its reader fails at a member that is missing. */
function requireMembers(name, body, response) {
	if ((response.headers.get("errand-version") ?? "0.2.0") !== "0.2.0") return;
	const found = Object(body);
	const missing = membersOf(name).find((member) => found[member] === void 0);
	if (missing !== void 0) throw new InvalidResponseError(`has no member "${missing}"`, {
		name,
		response
	});
}
/** The members that the response to an operation must have. An unknown one, and one that is deprecated, has none. */
function membersOf(name) {
	const segments = name.split("/");
	const [, members = ""] = REQUIRED_MEMBERS.find(([operation]) => {
		const expected = operation.split("/");
		return expected.length === segments.length && expected.every((segment, index) => segment === "*" || segment === segments[index]);
	}) ?? [];
	return members === "" ? [] : members.split(" ");
}
// ../clients/typescript/src/http/retry.ts
/** The pause before the first retry. It doubles before each further one. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8e3;
/** The part of a pause that is left out at random, so that many clients do not return at the same moment. */
const JITTER = .25;
/** If the server asks for a longer pause, the error is thrown at once, because nobody expects a call to take so long. */
const LONGEST_SERVER_PAUSE_MS = 6e4;
const RETRIED_STATUSES = /* @__PURE__ */ new Set([
	408,
	409,
	429
]);
/** Returns the pause before the same request may succeed, or undefined if a retry is useless. */
function pauseBeforeRetry(error, retry) {
	if (error instanceof APIConnectionError) return defaultPause(retry);
	if (!(error instanceof APIError) || !isRetried(error)) return;
	const asked = pauseOfServer(error.headers, retry.now);
	if (asked === void 0) return defaultPause(retry);
	return asked <= LONGEST_SERVER_PAUSE_MS ? asked : void 0;
}
/** The server's own word wins over the status. */
function isRetried({ status, headers }) {
	const word = headers.get("x-should-retry");
	if (word === "true" || word === "false") return word === "true";
	return RETRIED_STATUSES.has(status) || status >= 500;
}
/** Reads `retry-after-ms`, and `retry-after` in seconds or as a date. */
function pauseOfServer(headers, now) {
	const exact = numberIn(headers.get("retry-after-ms"));
	if (exact !== void 0) return exact;
	const text = headers.get("retry-after");
	const seconds = numberIn(text);
	if (text === null || seconds !== void 0) return seconds === void 0 ? void 0 : seconds * 1e3;
	const date = Date.parse(text);
	return Number.isNaN(date) ? void 0 : Math.max(0, date - now);
}
function numberIn(text) {
	return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : void 0;
}
function defaultPause({ retries, random }) {
	return Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS) * (1 - JITTER * random);
}
// ../clients/typescript/src/http/sender.ts
/** Sends requests: with a timeout for each try, and with retries. */
var Sender = class {
	#deps;
	constructor(deps) {
		this.#deps = deps;
	}
	get clock() {
		return this.#deps.clock;
	}
	async send(request, readsBody) {
		requireKnownRequest(request);
		const { method, body, signal, maxRetries = this.#deps.maxRetries } = request;
		const { log } = this.#deps;
		const name = `${method} ${request.path.split("?", 1)[0]}`;
		const attempt = {
			name,
			url: urlOf(this.#deps.baseUrl, request),
			init: {
				method,
				headers: headersOf(request, this.#deps),
				...body === void 0 ? {} : { body: JSON.stringify(body) }
			},
			timeoutMs: request.timeoutMs ?? this.#deps.timeoutMs,
			signal,
			readsBody
		};
		for (let retries = 0;; retries += 1) {
			log.requested(name, retries);
			try {
				const answer = await this.#try(attempt);
				log.answered(name, answer.response);
				return answer;
			} catch (error) {
				const pauseMs = retries < maxRetries ? this.pauseBefore(error, retries) : void 0;
				log.failed(name, error, pauseMs);
				if (pauseMs === void 0) throw error;
				await this.sleep(pauseMs, signal);
			}
		}
	}
	/** Returns the pause before the next try, or undefined if it would fail as well. */
	pauseBefore(error, retries) {
		const { clock, random } = this.#deps;
		return pauseBeforeRetry(error, {
			retries,
			now: clock.now(),
			random: random()
		});
	}
	async sleep(ms, signal) {
		await sleep(this.#deps.clock, ms, signal).catch((error) => {
			throw errorOfConnection(error, signal);
		});
	}
	async #try(attempt) {
		const { signal, timeoutMs } = attempt;
		const timeout = new AbortController();
		const stopTimer = this.#deps.clock.after(timeoutMs, () => timeout.abort());
		try {
			signal?.throwIfAborted();
			return await this.#fetch(attempt, timeout.signal);
		} catch (error) {
			throw errorOfTry(error, attempt, timeout.signal);
		} finally {
			stopTimer();
		}
	}
	async #fetch({ name, url, init, signal, readsBody }, timeout) {
		const either = signal === void 0 ? timeout : AbortSignal.any([signal, timeout]);
		const response = await this.#deps.fetch(url, {
			...init,
			signal: either
		});
		if (hasLostRequest(response, init)) throw new ErrandError(`The address of the server leads to another one. Use ${originOf(response)}`);
		if (!response.ok) throw errorOfResponse(response, await response.text());
		const answer = {
			name,
			response,
			body: readsBody ? await bodyOf(name, response) : void 0
		};
		if (readsBody && !new URL(url).searchParams.has("fields")) requireMembers(name, answer.body, response);
		return answer;
	}
};
/** A redirect to another origin loses the key, and most redirects turn a write into a GET. */
function hasLostRequest({ redirected, status }, { method }) {
	return redirected && (method !== "GET" || status === 401);
}
function originOf({ url }) {
	return new URL(url).origin;
}
async function bodyOf(name, response) {
	const type = response.headers.get("content-type") ?? "";
	if (/^text\/html\b/i.test(type)) throw new InvalidResponseError("is a page instead of JSON: check the address of the server", {
		name,
		response
	});
	const text = await response.text();
	if (text === "") return;
	return /\bjson\b/i.test(type) ? JSON.parse(text) : text;
}
function errorOfTry(error, { signal, timeoutMs }, timeout) {
	if (timeout.aborted && !signal?.aborted && !(error instanceof ErrandError)) return new APIConnectionTimeoutError(`The server did not answer within ${timeoutMs} ms.`, { cause: error });
	return errorOfConnection(error, signal);
}
// ../clients/typescript/src/api-client.ts
/** The type makes the list complete, so that a further option is not refused. */
const OPTIONS = {
	apiKey: true,
	baseUrl: true,
	clock: true,
	defaultHeaders: true,
	fetch: true,
	logLevel: true,
	maxRetries: true,
	random: true,
	timeoutMs: true
};
const DEFAULT_URL = "http://127.0.0.1:8787";
const API_PATH = "/api/v1";
const DEFAULT_TIMEOUT_MS = 6e4;
const DEFAULT_MAX_RETRIES = 2;
/**
* The part of the client that all resources share: it sends requests. `Errand` adds the resources. A program that
* needs only a few of them can create those itself, and its bundle contains no others:
*
* @example
* const runs = new Runs(new ApiClient());
*/
var ApiClient = class {
	/** @internal */
	sender;
	#options;
	constructor(options = {}) {
		requireKnown(options, OPTIONS);
		this.#options = options;
		const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
		this.sender = new Sender({
			baseUrl: withApiPath(options.baseUrl ?? variable("ERRAND_URL") ?? DEFAULT_URL),
			apiKey: keyOf(options),
			defaultHeaders: options.defaultHeaders ?? {},
			timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
			maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
			fetch,
			clock: options.clock ?? SYSTEM_CLOCK,
			random: options.random ?? Math.random,
			log: loggerOf(options.logLevel ?? variable("ERRAND_LOG"))
		});
	}
	/**
	* Creates a client with other options. What is left out is as in this client.
	*
	* @example
	* await client.withOptions({ timeoutMs: 5_000 }).whoami();
	*/
	withOptions(options) {
		const Client = this.constructor;
		return new Client({
			...this.#options,
			...options
		});
	}
	/** Sends a GET to an endpoint below `/api/v1`. */
	get(path, options = {}) {
		return this.request({
			...options,
			method: "GET",
			path
		});
	}
	/** Sends a POST to an endpoint below `/api/v1`. */
	post(path, options = {}) {
		return this.request({
			...options,
			method: "POST",
			path
		});
	}
	/** Sends a PUT to an endpoint below `/api/v1`. */
	put(path, options = {}) {
		return this.request({
			...options,
			method: "PUT",
			path
		});
	}
	/** Sends a PATCH to an endpoint below `/api/v1`. */
	patch(path, options = {}) {
		return this.request({
			...options,
			method: "PATCH",
			path
		});
	}
	/** Sends a DELETE to an endpoint below `/api/v1`. */
	delete(path, options = {}) {
		return this.request({
			...options,
			method: "DELETE",
			path
		});
	}
	/** @internal Lists by GET. `entriesOf` returns the entries of a page. */
	list(path, entriesOf, options = {}) {
		const behind = (cursor) => this.list(path, entriesOf, {
			...options,
			query: {
				...options.query,
				cursor
			}
		});
		const request = {
			...options,
			method: "GET",
			path
		};
		return new ListPromise((readsBody) => this.sender.send(request, readsBody), entriesOf, behind);
	}
	request(request) {
		return new ApiPromise((readsBody) => this.sender.send(request, readsBody), ({ body }) => body);
	}
};
function keyOf({ apiKey = variable("ERRAND_API_KEY") }) {
	if (apiKey === void 0 || apiKey?.trim() === "") throw new ErrandError("An API key is missing. Pass `apiKey`, or set the variable ERRAND_API_KEY.");
	return apiKey ?? void 0;
}
/** Other clients of this API expect the path as a part of the address. Both forms are accepted. */
function withApiPath(address) {
	const { origin, pathname } = urlFrom(address);
	const path = pathname.replace(/\/+$/, "");
	return origin + (path.endsWith(API_PATH) ? path : path + API_PATH);
}
function urlFrom(address) {
	try {
		return new URL(address);
	} catch (cause) {
		throw new ErrandError(`The address of the server is not a URL: ${address}`, { cause });
	}
}
/** Not every runtime has environment variables. */
function variable(name) {
	const { process } = globalThis;
	return process?.env?.[name] || void 0;
}
// ../clients/typescript/src/resources/agents.ts
/** Named agents: service accounts with a prompt and a configuration of their own. */
var Agents = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a named agent. `keys.create` with its uid makes keys for it. */
	create(body, options) {
		return this.#client.post("/agent/identities", {
			...options,
			body
		});
	}
	/** Gets a named agent. */
	retrieve(agentUid, options) {
		return this.#client.get(path`/agent/identities/${agentUid}`, options);
	}
	/** Lists the named agents of the team. */
	list(options) {
		return this.#client.list("/agent/identities", (page) => page.agents, options);
	}
	/** Changes a named agent. Runs that exist keep their configuration. */
	update(agentUid, body, options) {
		return this.#client.put(path`/agent/identities/${agentUid}`, {
			...options,
			body
		});
	}
	/** Deletes a named agent and revokes its keys. Its runs are kept. */
	delete(agentUid, options) {
		return this.#client.delete(path`/agent/identities/${agentUid}`, options);
	}
};
// ../clients/typescript/src/resources/artifacts.ts
/** Artifacts: files, screenshots and plans that runs have produced. */
var Artifacts = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Gets an artifact: a plan with its text, a file or a screenshot with an address for its download. */
	retrieve(artifactUid, options) {
		return this.#client.get(path`/agent/artifacts/${artifactUid}`, options);
	}
	/**
	* Downloads the file of an artifact. The body of the response has not been read.
	*
	* @example
	* const response = await client.artifacts.download(uid);
	* const bytes = new Uint8Array(await response.arrayBuffer());
	*/
	download(artifactUid, options) {
		return this.#client.get(path`/agent/artifacts/${artifactUid}/download`, options).asResponse();
	}
};
// ../clients/typescript/src/resources/audit.ts
/** The audit log: who changed which setting, key or person. */
var Audit = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Lists audit entries, the newest first.
	*
	* @example
	* for await (const { at, action, actor } of client.audit.list({ action: "key.created" })) {
	*   console.log(at, action, actor.uid);
	* }
	*/
	list(query = {}, options) {
		return this.#client.list("/agent/audit", (page) => page.entries, withQuery(query, options));
	}
};
// ../clients/typescript/src/resources/catalogue.ts
/** The agent catalogue: the coding agents that can do runs, and what each needs. */
var Catalogue = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the agents with their versions and requirements. */
	list(options) {
		return this.#client.list("/agent/catalogue", (page) => page.agents, options);
	}
	/** Starts a small run of an agent, which costs about one word of its model. Its end shows whether the agent works. */
	test(agentName, options) {
		return this.#client.post(path`/agent/catalogue/${agentName}/test`, options);
	}
};
// ../clients/typescript/src/resources/conversations.ts
/** Conversations: a run and the runs that continue it. */
var Conversations = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Gets what was said and done in the runs of a conversation that you can see, as steps with messages. */
	retrieve(conversationId, query = {}, options) {
		return this.#client.get(path`/agent/conversations/${conversationId}`, withQuery(query, options));
	}
	/** Sends a message to the newest run of a conversation. */
	followUp(conversationId, body, options) {
		return this.#client.post(path`/agent/conversations/${conversationId}/followups`, {
			...options,
			body
		});
	}
	/** Ends the current turn of the newest run of a conversation, but not the run. */
	interrupt(conversationId, options) {
		return this.#client.post(path`/agent/conversations/${conversationId}/interrupt`, options);
	}
	/** Downloads the event log of the newest run: one JSON object per line. */
	transcript(conversationId, options) {
		return this.#client.get(path`/agent/conversations/${conversationId}/transcript`, options).asResponse();
	}
	/** Downloads a picture of a conversation. */
	screenshot(conversationId, artifactUid, options) {
		const address = path`/agent/conversations/${conversationId}/screenshots/${artifactUid}/download`;
		return this.#client.get(address, options).asResponse();
	}
	/** Gets the session of the newest run of a conversation. */
	session(conversationId, options) {
		return this.#client.get(path`/agent/conversations/${conversationId}/redirect`, options);
	}
	/** Gets the conversation of a session. */
	ofSession(sessionId, options) {
		return this.#client.get(path`/agent/sessions/${sessionId}/redirect`, options);
	}
};
// ../clients/typescript/src/resources/device-codes.ts
/** Keys for programs whose user signs in with a browser. These calls need no key. */
var DeviceCodes = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Starts to sign the program in. Show `user_code` and `verification_uri` to the user. */
	create(request = {}, options) {
		return this.#client.post("/agent/device-codes", {
			...options,
			body: request
		});
	}
	/**
	* Gets the key after the user has allowed the program. Until then it throws a `BadRequestError`, whose `problem` has
	* the `reason`. Call this again after `interval` seconds while the reason is `authorization_pending` or `slow_down`.
	*/
	token(deviceCode, options) {
		return this.#client.post("/agent/device-codes/token", {
			...options,
			body: { device_code: deviceCode }
		});
	}
};
// ../clients/typescript/src/resources/doctor.ts
/** The doctor: what works on the server, and what to do about the rest. */
var Doctor = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Checks the server. Only for operators. */
	retrieve(options) {
		return this.#client.get("/agent/doctor", options);
	}
};
// ../clients/typescript/src/resources/environments.ts
/** Environments: the repositories, image, variables and setup commands that runs start with. */
var Environments = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Creates an environment.
	*
	* @example
	* const { uid } = await client.environments.create({ config: { name: "site", setup_commands: ["npm ci"] } });
	*/
	create(body, options) {
		return this.#client.post("/agent/environments", {
			...options,
			body
		});
	}
	/** Gets an environment. */
	retrieve(environmentUid, options) {
		return this.#client.get(path`/agent/environments/${environmentUid}`, options);
	}
	/** Lists the environments of the team. */
	list(query = {}, options) {
		return this.#client.list("/agent/environments", (page) => page.environments, withQuery(query, options));
	}
	/**
	* Replaces an environment. Members that are left out get their default. Runs that have started keep the previous
	* one.
	*/
	replace(environmentUid, body, options) {
		return this.#client.put(path`/agent/environments/${environmentUid}`, {
			...options,
			body
		});
	}
	/** Deletes an environment. Runs keep its uid, and new runs that name it are refused. */
	delete(environmentUid, options) {
		return this.#client.delete(path`/agent/environments/${environmentUid}`, options);
	}
	/**
	* Prepares the environment once, without an agent. The result is a run; when it ends, `setup_failed` of the
	* environment says whether it worked.
	*/
	test(environmentUid, options) {
		return this.#client.post(path`/agent/environments/${environmentUid}/test`, options);
	}
};
// ../clients/typescript/src/events/sse.ts
/**
* Reads the messages of an event stream. An incomplete message at the end is left out: the server sends it again to
* the next connection. `onBytes` is called for all that arrives, also for comments.
*/
async function* readMessages(body, onBytes) {
	let id;
	let data = [];
	let isNewId = false;
	for await (const line of readLines(body, onBytes)) {
		const [, field, value = ""] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? [];
		if (field === "id") {
			id = value;
			isNewId = true;
		} else if (field === "data") data.push(value);
		else if (line === "" && (data.length > 0 || isNewId)) {
			yield {
				id,
				data: data.join("\n")
			};
			data = [];
			isNewId = false;
		}
	}
}
async function* readLines(body, onBytes) {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let pieces = [];
	try {
		for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
			onBytes();
			const [first = "", ...others] = decoder.decode(chunk.value, { stream: true }).split("\n");
			pieces.push(first);
			for (const piece of others) {
				yield pieces.join("").replace(/\r$/, "");
				pieces = [piece];
			}
		}
	} finally {
		await reader.cancel().catch(() => void 0);
	}
}
// ../clients/typescript/src/events/read-stream.ts
/** The options that a request beside the stream has too. */
function requestOptionsOf(options) {
	const { maxReconnects: _, onConnectionChange: __, silenceMs: ___, ...common } = options;
	return common;
}
const DEFAULT_SILENCE_MS = 6e4;
const DEFAULT_MAX_RECONNECTS = 10;
/**
* Yields the events of a stream, each once and in order. If the connection breaks, the stream is opened again behind
* the last event that arrived.
*/
async function* readStream(client, { path, options, isComplete, askIfOver }) {
	const { maxReconnects = DEFAULT_MAX_RECONNECTS, onConnectionChange, signal } = options;
	let isConnected = true;
	const setConnected = (value) => {
		if (isConnected !== value) {
			isConnected = value;
			onConnectionChange?.(value);
		}
	};
	let lastId;
	let wasComplete = false;
	let isOver = false;
	for (let failures = 0;; failures += 1) try {
		for await (const { id, data } of connect$1(client, path, options, lastId, () => setConnected(true))) {
			failures = 0;
			lastId = id ?? lastId;
			if (data === "") continue;
			const event = parse(data);
			wasComplete = isComplete(event) ?? wasComplete;
			yield event;
		}
		if (wasComplete || isOver) return;
		isOver = await askIfOver();
		if (!isOver) throw new APIConnectionError("The server ended the event stream early.");
	} catch (error) {
		const pauseMs = client.sender.pauseBefore(error, failures);
		if (pauseMs === void 0 || failures >= maxReconnects) throw error;
		setConnected(false);
		await client.sender.sleep(pauseMs, signal);
	}
}
/** Reads one connection until its end. */
async function* connect$1(client, path, { maxReconnects: _, onConnectionChange: __, silenceMs = DEFAULT_SILENCE_MS, ...options }, lastId, onOpen) {
	const { clock } = client.sender;
	const silence = new AbortController();
	const signal = options.signal ? AbortSignal.any([options.signal, silence.signal]) : silence.signal;
	const headers = {
		...options.headers,
		accept: "text/event-stream",
		"last-event-id": lastId
	};
	let stopTimer = () => void 0;
	const restartTimer = () => {
		stopTimer();
		stopTimer = clock.after(silenceMs, () => silence.abort(/* @__PURE__ */ new Error(`No sign of life for ${silenceMs} ms.`)));
	};
	try {
		restartTimer();
		const { body } = await client.get(path, {
			...options,
			headers,
			signal,
			maxRetries: 0
		}).asResponse();
		onOpen();
		yield* body === null ? [] : readMessages(body, restartTimer);
	} catch (error) {
		throw silence.signal.aborted && !options.signal?.aborted ? new APIConnectionError("The event stream is silent.", { cause: silence.signal.reason }) : errorOfConnection(error, options.signal);
	} finally {
		stopTimer();
	}
}
function parse(data) {
	return JSON.parse(data);
}
// ../clients/typescript/src/resources/events.ts
/** The events of all runs that you can see. */
var Events = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Gets a page of the stored events behind `after`. */
	list(query = {}, options) {
		return this.#client.get("/agent/events", withQuery(query, options));
	}
	/**
	* Yields the events of all runs live, from now on or behind `after`. The stream ends only by its `signal`. A broken
	* connection is opened again. If the server does not know the position any more, an event with the `kind` `reset` is
	* yielded: then read again what you store.
	*/
	stream({ after } = {}, options = {}) {
		return readStream(this.#client, {
			path: "/agent/events",
			options: {
				...options,
				query: {
					after,
					...options.query
				}
			},
			isComplete: () => false,
			askIfOver: async () => false
		});
	}
};
// ../clients/typescript/src/resources/identity-links.ts
/** Identity links: which Slack and GitHub accounts belong to which principal. */
var IdentityLinks = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Links an account to a principal. Existing runs keep their owner. */
	create(body, options) {
		return this.#client.post("/agent/identity-links", {
			...options,
			body
		});
	}
	/** Lists the linked accounts. */
	list(options) {
		return this.#client.list("/agent/identity-links", (page) => page.links, options);
	}
	/** Removes a link. The next message of the account creates a new principal. */
	delete(linkId, options) {
		return this.#client.delete(path`/agent/identity-links/${linkId}`, options);
	}
};
// ../clients/typescript/src/resources/inbox.ts
/** The inbox: the events that Slack and GitHub delivered, and what became of them. */
var Inbox = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists incoming events, the newest first. */
	list(query = {}, options) {
		return this.#client.list("/agent/inbox", (page) => page.events, withQuery(query, options));
	}
	/** Processes a failed event again, once. */
	retry(eventId, options) {
		return this.#client.post(path`/agent/inbox/${eventId}/retry`, options);
	}
};
// ../clients/typescript/src/resources/installations.ts
/** Installations: the Slack workspaces and GitHub organizations that the service is connected to. */
var Installations = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the installations of the team; operators get those of all teams. */
	list(options) {
		return this.#client.list("/agent/installations", (page) => page.installations, options);
	}
	/** Gets an installation. */
	retrieve(installationId, options) {
		return this.#client.get(path`/agent/installations/${installationId}`, options);
	}
	/** Gets the steps that connect Slack, GitHub and the like with the server. Only for operators. */
	guides(options) {
		return this.#client.get("/agent/installations/guides", options);
	}
	/** Creates the app on a platform with a token, or updates it. Only for operators. */
	applyApp(adapter, body = {}, options) {
		return this.#client.put(path`/agent/installations/guides/${adapter}/app`, {
			...options,
			body
		});
	}
	/** Removes what the server stored when it created the app of a platform, which is then off. Only for operators. */
	removeSettings(adapter, options) {
		return this.#client.delete(path`/agent/installations/guides/${adapter}/settings`, options);
	}
	/** Renames an installation, enables or disables it, or assigns it to another team. */
	update(installationId, body, options) {
		return this.#client.patch(path`/agent/installations/${installationId}`, {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/keys.ts
/** API keys. A key cannot allow more than the key that creates it. */
var Keys = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Creates a key. Only this response contains the key itself.
	*
	* @example
	* const { key } = await client.keys.create({ name: "CI", scopes: ["runs:write"] });
	*/
	create(body, options) {
		return this.#client.post("/agent/keys", {
			...options,
			body
		});
	}
	/**
	* Exchanges the OpenID Connect token of a CI workflow's job for a key of at most an hour. A policy says which workflows
	* get one. The client needs no key for this.
	*/
	exchange(body, options) {
		return this.#client.post("/agent/keys/exchange", {
			...options,
			body
		});
	}
	/** Gets a key, without the key itself. */
	retrieve(keyId, options) {
		return this.#client.get(path`/agent/keys/${keyId}`, options);
	}
	/** Lists your keys, or those of another principal. */
	list(query = {}, options) {
		return this.#client.list("/agent/keys", (page) => page.keys, withQuery(query, options));
	}
	/** Renames a key or changes its expiry. */
	update(keyId, body, options) {
		return this.#client.patch(path`/agent/keys/${keyId}`, {
			...options,
			body
		});
	}
	/** Revokes a key. With `descendants`, the keys that were created with it end too. */
	revoke(keyId, query = {}, options) {
		return this.#client.delete(path`/agent/keys/${keyId}`, withQuery(query, options));
	}
	/** Revokes all keys of a principal. */
	revokeAll(principalUid, options) {
		return this.#client.delete(path`/agent/principals/${principalUid}/keys`, options);
	}
	/** Replaces a key by a new one with the same name, scopes and expiry. Only this response contains the new key. */
	rotate(keyId, body = {}, options) {
		return this.#client.post(path`/agent/keys/${keyId}/rotate`, {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/mcp-servers.ts
/** MCP servers that the team's runs can name by `warp_id`. */
var McpServers = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates an MCP server. Its values are stored encrypted and never shown again. */
	create(body, options) {
		return this.#client.post("/agent/mcp-servers", {
			...options,
			body
		});
	}
	/** Gets an MCP server, without its values. */
	retrieve(serverUid, options) {
		return this.#client.get(path`/agent/mcp-servers/${serverUid}`, options);
	}
	/** Lists the MCP servers of the team. */
	list(options) {
		return this.#client.list("/agent/mcp-servers", (page) => page.mcp_servers, options);
	}
	/** Replaces an MCP server. Agents that are working keep the previous one until they end. */
	replace(serverUid, body, options) {
		return this.#client.put(path`/agent/mcp-servers/${serverUid}`, {
			...options,
			body
		});
	}
	/** Deletes an MCP server. Runs that name it fail when their agent starts the next time. */
	delete(serverUid, options) {
		return this.#client.delete(path`/agent/mcp-servers/${serverUid}`, options);
	}
};
// ../clients/typescript/src/resources/models.ts
/** Models that runs can name. */
var Models = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the models, and the one that is the default. */
	list(options) {
		return this.#client.list("/agent/models", (page) => page.models, options);
	}
};
// ../clients/typescript/src/resources/notices.ts
/** Notices: the messages to threads and their delivery. */
var Notices = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists notices, the newest first. */
	list(query = {}, options) {
		return this.#client.list("/agent/notices", (page) => page.notices, withQuery(query, options));
	}
	/** Delivers a notice again that was given up. */
	retry(noticeId, options) {
		return this.#client.post(path`/agent/notices/${noticeId}/retry`, options);
	}
};
// ../clients/typescript/src/resources/policies.ts
/** Policies: which actions are allowed, forbidden, or need an approval. */
var Policies = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a policy. It takes effect within moments. */
	create(body, options) {
		return this.#client.post("/agent/policies", {
			...options,
			body
		});
	}
	/** Gets a policy. */
	retrieve(policyId, options) {
		return this.#client.get(path`/agent/policies/${policyId}`, options);
	}
	/** Lists the policies of the team in their order. The built-in ones come last. */
	list(options) {
		return this.#client.list("/agent/policies", (page) => page.policies, options);
	}
	/** Replaces a policy. Members that are left out get their default. A built-in policy cannot be replaced. */
	replace(policyId, body, options) {
		return this.#client.put(path`/agent/policies/${policyId}`, {
			...options,
			body
		});
	}
	/** Deletes a policy. A built-in policy cannot be deleted. */
	delete(policyId, options) {
		return this.#client.delete(path`/agent/policies/${policyId}`, options);
	}
	/** Says what the policies decide about an action, without doing it. */
	evaluate(body, options) {
		return this.#client.post("/agent/policies/evaluate", {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/principals.ts
/** Principals: the people and programs of a team. */
var Principals = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a user or a service account. */
	create(body, options) {
		return this.#client.post("/agent/principals", {
			...options,
			body
		});
	}
	/** Gets a principal. */
	retrieve(principalUid, options) {
		return this.#client.get(path`/agent/principals/${principalUid}`, options);
	}
	/** Lists the principals of the team. */
	list(options) {
		return this.#client.list("/agent/principals", (page) => page.principals, options);
	}
	/** Changes a principal. With `disabled: false` it is enabled again. */
	update(principalUid, body, options) {
		return this.#client.patch(path`/agent/principals/${principalUid}`, {
			...options,
			body
		});
	}
	/** Disables a principal. Its keys stop working at once, and its runs are kept. */
	disable(principalUid, options) {
		return this.#client.delete(path`/agent/principals/${principalUid}`, options);
	}
};
// ../clients/typescript/src/resources/quotas.ts
/** Quotas: the most that a team may use. */
var Quotas = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the quotas of your team with their use. */
	list(options) {
		return this.#client.list("/agent/quotas", (page) => page.quotas, options);
	}
	/**
	* Replaces all quotas of a team. Only for operators.
	*
	* @example
	* await client.quotas.set(team.uid, { quotas: [{ name: "runs_per_day", limit: 200 }] });
	*/
	set(teamUid, body, options) {
		return this.#client.put(path`/agent/teams/${teamUid}/quotas`, {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/routing-rules.ts
/** Routing rules: which environment, agent and model a message from Slack or GitHub gets. */
var RoutingRules = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a routing rule. It takes effect within moments. */
	create(body, options) {
		return this.#client.post("/agent/routing-rules", {
			...options,
			body
		});
	}
	/** Gets a routing rule. */
	retrieve(ruleId, options) {
		return this.#client.get(path`/agent/routing-rules/${ruleId}`, options);
	}
	/** Lists the routing rules of the team in their order. */
	list(options) {
		return this.#client.list("/agent/routing-rules", (page) => page.routing_rules, options);
	}
	/** Replaces a routing rule. Members that are left out get their default. */
	replace(ruleId, body, options) {
		return this.#client.put(path`/agent/routing-rules/${ruleId}`, {
			...options,
			body
		});
	}
	/** Deletes a routing rule. */
	delete(ruleId, options) {
		return this.#client.delete(path`/agent/routing-rules/${ruleId}`, options);
	}
	/** Says what the rules choose for a request, without starting it. */
	evaluate(body = {}, options) {
		return this.#client.post("/agent/routing-rules/evaluate", {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/events/run-stream.ts
/**
* The events of a run, for listeners. The stream starts as soon as the current function yields, so that listeners that
* are added at once receive all events.
*
* @example
* const run = await client.runs
*   .stream(id)
*   .on("text", (text) => process.stdout.write(text))
*   .on("state", (state) => console.log(state))
*   .finished();
*/
var RunStream = class {
	#listeners = {
		text: [],
		tool: [],
		question: [],
		state: []
	};
	#toolCalls = /* @__PURE__ */ new Map();
	#stop = new AbortController();
	#finished;
	constructor(source) {
		this.#finished = Promise.resolve().then(() => this.#read(source));
	}
	/** Adds a listener. If it throws, the stream ends and `finished` throws its error. */
	on(name, listener) {
		this.#listeners[name].push(listener);
		return this;
	}
	/** Resolves with the run once it has ended and all events were delivered. */
	finished() {
		return this.#finished;
	}
	/** Closes the stream. The run continues. `finished` then throws `APIUserAbortError`. */
	abort() {
		this.#stop.abort();
	}
	async #read(source) {
		for await (const event of source.open(this.#stop.signal)) this.#notify(event);
		return source.retrieve();
	}
	#notify(event) {
		switch (event.kind) {
			case "agent.message":
				this.#call("text", event.text, event);
				break;
			case "agent.tool_call":
				this.#call("tool", this.#merged(event), event);
				break;
			case "permission.requested":
				this.#call("question", event.request, event);
				break;
			case "run.state": this.#call("state", event.to, event);
		}
	}
	#merged(event) {
		const before = this.#toolCalls.get(event.tool_call_id);
		const output = (event.content === void 0 ? before?.output ?? "" : "") + (event.output ?? "");
		const toolCall = {
			...before,
			...event,
			output
		};
		this.#toolCalls.set(event.tool_call_id, toolCall);
		return toolCall;
	}
	#call(name, ...values) {
		for (const listener of this.#listeners[name]) listener(...values);
	}
};
// ../clients/typescript/src/resources/runs.ts
/** The longest that a server waits. */
const WAIT_SECONDS = 50;
const WAIT_TIMEOUT_MS = 6e4;
/** A server that answers earlier about a run that works has not waited. */
const WAITED_MS = 1e3;
/** The stream of events is opened again and again after such errors. */
function undefinedIfTemporary(error) {
	if (!(error instanceof APIConnectionError || error instanceof InternalServerError || error instanceof RateLimitError)) throw error;
}
const ENDED$1 = /* @__PURE__ */ new Set([
	"SUCCEEDED",
	"FAILED",
	"ERROR",
	"CANCELLED"
]);
/** Runs: what agents are asked to do. */
var Runs = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Starts a run.
	*
	* @example
	* const { run_id } = await client.runs.create({ prompt: "Mend the build", config: { repository: "acme/site" } });
	*/
	create(body, options) {
		return this.#client.post("/agent/runs", {
			...options,
			body
		});
	}
	/**
	* Starts up to 50 runs. The results are in the order of the runs, and each has the new run or its own `error`.
	*
	* @example
	* const { results } = await client.runs.createMany([{ prompt: "Mend the build" }, { prompt: "Update the guide" }]);
	*/
	createMany(runs, options) {
		return this.#client.post("/agent/runs/batch", {
			...options,
			body: { runs }
		});
	}
	/**
	* Gets a run.
	*
	* @example
	* // Answered when the run has ended or waits for a person, after 30 s at the latest.
	* const { state } = await client.runs.retrieve(run_id, { wait: 30 });
	*/
	retrieve(runId, { fields, wait, ...options } = {}) {
		return this.#client.get(path`/agent/runs/${runId}`, withQuery({
			fields,
			wait
		}, options));
	}
	/**
	* Lists runs, the last changed first.
	*
	* @example
	* for await (const run of client.runs.list({ state: ["FAILED", "ERROR"], created_after: "2026-03-01T00:00:00Z" })) {
	*   console.log(run.title, run.status_message?.message);
	* }
	*/
	list(query = {}, options) {
		return this.#client.list("/agent/runs", (page) => page.runs, withQuery(query, options));
	}
	/** Finds the newest run that a message, an issue or a pull request started, or that made it. */
	findByReference(url, options) {
		return this.#client.get("/agent/run-by-external-reference", withQuery({ url }, options));
	}
	/** Changes the title or the metadata of a run. The metadata is replaced as a whole. */
	update(runId, body, options) {
		return this.#client.patch(path`/agent/runs/${runId}`, {
			...options,
			body
		});
	}
	/** Deletes an ended run with everything that it left: events, files, deliveries. */
	delete(runId, options) {
		return this.#client.delete(path`/agent/runs/${runId}`, options);
	}
	/** Sends a message to the agent. An ended run continues with it. An open question may be answered by it. */
	followUp(runId, body, options) {
		return this.#client.post(path`/agent/runs/${runId}/followups`, {
			...options,
			body
		});
	}
	/** Lists the follow-ups of a run, the oldest first. */
	followUps(runId, query = {}, options) {
		const entriesOf = (page) => page.followups;
		return this.#client.list(path`/agent/runs/${runId}/followups`, entriesOf, withQuery(query, options));
	}
	/** Gets a follow-up. */
	retrieveFollowUp(runId, followUpId, options) {
		return this.#client.get(path`/agent/runs/${runId}/followups/${followUpId}`, options);
	}
	/** Changes the text of a follow-up that the agent has not received yet. */
	updateFollowUp(runId, followUpId, body, options) {
		return this.#client.patch(path`/agent/runs/${runId}/followups/${followUpId}`, {
			...options,
			body
		});
	}
	/** Withdraws a follow-up that the agent has not received yet. */
	withdrawFollowUp(runId, followUpId, options) {
		return this.#client.delete(path`/agent/runs/${runId}/followups/${followUpId}`, options);
	}
	/** Ends the current turn, but not the run: it waits for the next follow-up. */
	interrupt(runId, options) {
		return this.#client.post(path`/agent/runs/${runId}/interrupt`, options);
	}
	/** Cancels a run that has not ended. The result is its id. */
	cancel(runId, options) {
		return this.#client.post(path`/agent/runs/${runId}/cancel`, options);
	}
	/** Cancels up to 100 runs. The result says for each what happened. */
	cancelMany(runIds, options) {
		return this.#client.post("/agent/runs/cancel", {
			...options,
			body: { run_ids: runIds }
		});
	}
	/**
	* Cancels the runs that a filter matches and that have not ended. If their number differs by more than a tenth from
	* `expected`, nothing is cancelled and a `ConflictError` says the number.
	*
	* @example
	* await client.runs.cancelMatching({ state: ["QUEUED"], metadata: { ticket: "OPS-17" } }, 12);
	*/
	cancelMatching(filter, expected, options) {
		return this.#client.post("/agent/runs/cancel", {
			...options,
			body: {
				filter,
				expected
			}
		});
	}
	/** Starts a new run with the prompt and the resolved configuration of this one. */
	retry(runId, options) {
		return this.#client.post(path`/agent/runs/${runId}/retry`, options);
	}
	/**
	* Yields the events of a run live, from the first one to the end of the run. A broken connection is opened again,
	* and no event is lost or repeated. If the server no longer knows the position, an event with the `kind` `reset` is
	* yielded, and then all events from the first one.
	*
	* @example for await (const event of client.runs.events(id)) { if (event.kind === "agent.message") {
	* console.log(event.text); } }
	*/
	events(runId, { after, tail, follow } = {}, options = {}) {
		return readStream(this.#client, {
			path: path`/agent/runs/${runId}/events`,
			options: {
				...options,
				query: {
					after,
					tail,
					follow,
					...options.query
				}
			},
			isComplete: (event) => follow === true ? false : endsRun(event),
			askIfOver: async () => follow !== true && ENDED$1.has((await this.retrieve(runId, requestOptionsOf(options))).state)
		});
	}
	/** Gets a page of the stored events of a run. At most one of `after`, `before` and `tail` is allowed. */
	storedEvents(runId, query = {}, options) {
		return this.#client.get(path`/agent/runs/${runId}/events`, withQuery(query, options));
	}
	/**
	* Reads the events of a run live and calls listeners for what the agent writes, its tool calls, its questions and the
	* states of the run.
	*/
	stream(runId, query = {}, options = {}) {
		return new RunStream({
			open: (stop) => {
				const signal = options.signal ? AbortSignal.any([options.signal, stop]) : stop;
				return this.events(runId, query, {
					...options,
					signal
				});
			},
			retrieve: () => this.retrieve(runId, requestOptionsOf(options))
		});
	}
	/**
	* Waits until the run has ended, and returns it. The server answers as soon as it has. With a server that cannot wait,
	* and while the run is BLOCKED, this follows the events of the run. To limit the wait, pass `signal: AbortSignal.timeout(…)`.
	*/
	async waitForCompletion(runId, { untilBlocked = false, ...options } = {}) {
		const common = requestOptionsOf(options);
		const { next_after } = await this.storedEvents(runId, { tail: 1 }, common);
		const isDone = (state) => ENDED$1.has(state) || untilBlocked && state === "BLOCKED";
		const run = await this.#waited(runId, isDone, common);
		if (run !== void 0) return run;
		for await (const event of this.events(runId, { after: next_after }, options)) if (event.kind === "run.state" && isDone(event.to)) break;
		return this.retrieve(runId, common);
	}
	/** Asks the server to wait. Undefined: it does not, or not for this, or it cannot be reached now. */
	async #waited(runId, isDone, options) {
		const { clock } = this.#client.sender;
		const wait = {
			wait: WAIT_SECONDS,
			timeoutMs: WAIT_TIMEOUT_MS,
			maxRetries: 0
		};
		for (;;) {
			const began = clock.now();
			const run = await this.retrieve(runId, {
				...options,
				...wait
			}).catch(undefinedIfTemporary);
			if (run === void 0 || isDone(run.state)) return run;
			if (run.state === "BLOCKED" || clock.now() - began < WAITED_MS) return;
		}
	}
	/** Gets what was said and done in the run, as steps with messages. */
	conversation(runId, query = {}, options) {
		return this.#client.get(path`/agent/runs/${runId}/conversation`, withQuery(query, options));
	}
	/** Gets the main events of the run, in the format of other clients of this API. */
	timeline(runId, options) {
		return this.#client.get(path`/agent/runs/${runId}/timeline`, options);
	}
	/** Gets the tokens that Claude Code or Codex reported, in the format of other clients of this API. */
	harnessUsage(runId, options) {
		return this.#client.get(path`/agent/runs/${runId}/harness-usage`, options);
	}
	/** Downloads the event log of the run: one JSON object per line. */
	transcript(runId, options) {
		return this.#client.get(path`/agent/runs/${runId}/transcript`, options).asResponse();
	}
	/** Gets the repositories and files that the last turn changed. */
	changes(runId, options) {
		return this.#client.get(path`/agent/runs/${runId}/changes`, options);
	}
	/** Gets the artifacts of the run, the oldest first. */
	artifacts(runId, options) {
		const request = {
			...options,
			method: "GET",
			path: path`/agent/runs/${runId}`
		};
		return new ApiPromise((readsBody) => this.#client.sender.send(request, readsBody), ({ body }) => body.artifacts ?? []);
	}
	/** Lists the patch and the files that the last ended turn left for those who continue its work. */
	handoffAttachments(runId, options) {
		return this.#client.get(path`/agent/runs/${runId}/handoff/attachments`, options);
	}
	/**
	* Approves or refuses what waits for an approval. `inputs_hash` is that of the approval which you have read: if the
	* inputs have changed since then, a `ConflictError` is thrown.
	*/
	approve(runId, body, options) {
		return this.#client.post(path`/agent/runs/${runId}/approval`, {
			...options,
			body
		});
	}
	/** Answers a question of the agent by choosing one of its options. */
	answer(runId, permissionId, body, options) {
		return this.#client.post(path`/agent/runs/${runId}/permissions/${permissionId}`, {
			...options,
			body
		});
	}
	/** Lists your comments on the changes of the run that are not sent. A follow-up sends them. */
	draftComments(runId, options) {
		const entriesOf = (page) => page.draft_comments;
		return this.#client.list(path`/agent/runs/${runId}/draft-comments`, entriesOf, options);
	}
	/** Keeps a comment under an id of your choice, a UUID, or replaces the one with this id. */
	putDraftComment(runId, draftId, body, options) {
		return this.#client.put(path`/agent/runs/${runId}/draft-comments/${draftId}`, {
			...options,
			body
		});
	}
	/** Deletes a comment that is not sent. */
	deleteDraftComment(runId, draftId, options) {
		return this.#client.delete(path`/agent/runs/${runId}/draft-comments/${draftId}`, options);
	}
	/** Creates a link that shows the run to everyone who has it. Only this response contains its address. */
	share(runId, body = {}, options) {
		return this.#client.post(path`/agent/runs/${runId}/share-links`, {
			...options,
			body
		});
	}
	/** Lists the links that show the run. */
	shareLinks(runId, options) {
		const entriesOf = (page) => page.share_links;
		return this.#client.list(path`/agent/runs/${runId}/share-links`, entriesOf, options);
	}
	/** Deletes a link. It no longer shows the run. */
	unshare(runId, linkId, options) {
		return this.#client.delete(path`/agent/runs/${runId}/share-links/${linkId}`, options);
	}
	/** Lists the messages to the webhook that the run was created with, the newest first. */
	webhookDeliveries(runId, query = {}, options) {
		const entriesOf = (page) => page.deliveries;
		return this.#client.list(path`/agent/runs/${runId}/webhook-deliveries`, entriesOf, withQuery(query, options));
	}
	/** Sends a message to the webhook of the run again. */
	replayWebhookDelivery(runId, deliveryId, options) {
		return this.#client.post(path`/agent/runs/${runId}/webhook-deliveries/${deliveryId}/replay`, options);
	}
};
/** Returns undefined if the event says nothing about it. */
function endsRun(event) {
	return event.kind === "run.state" ? ENDED$1.has(event.to) : void 0;
}
// ../clients/typescript/src/resources/schedules.ts
/** Schedules: runs that start at times given by a cron expression. */
var Schedules = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Creates a schedule. Its runs have your rights, except the administrator right.
	*
	* @example
	* await client.schedules.create({ name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Update the dependencies" });
	*/
	create(body, options) {
		return this.#client.post("/agent/schedules", {
			...options,
			body
		});
	}
	/** Gets a schedule. */
	retrieve(scheduleId, options) {
		return this.#client.get(path`/agent/schedules/${scheduleId}`, options);
	}
	/** Lists the schedules of the team. */
	list(options) {
		return this.#client.list("/agent/schedules", (page) => page.schedules, options);
	}
	/** Replaces a schedule. */
	replace(scheduleId, body, options) {
		return this.#client.put(path`/agent/schedules/${scheduleId}`, {
			...options,
			body
		});
	}
	/** Deletes a schedule. Its runs are kept. */
	delete(scheduleId, options) {
		return this.#client.delete(path`/agent/schedules/${scheduleId}`, options);
	}
	/** Pauses a schedule. Pausing a paused one is not an error. */
	pause(scheduleId, options) {
		return this.#client.post(path`/agent/schedules/${scheduleId}/pause`, options);
	}
	/** Resumes a paused schedule. Due times during the pause are not made up. */
	resume(scheduleId, options) {
		return this.#client.post(path`/agent/schedules/${scheduleId}/resume`, options);
	}
};
// ../clients/typescript/src/resources/secrets.ts
/** Secrets: environment variables of runs whose values are never shown again. */
var Secrets = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Sets a secret. Runs that start or continue from now on have it.
	*
	* @example
	* await client.secrets.put("NPM_TOKEN", { value: "…" });
	*/
	put(name, body, options) {
		return this.#client.put(path`/agent/secrets/${name}`, {
			...options,
			body
		});
	}
	/** Gets a secret without its value. */
	retrieve(name, query = {}, options) {
		return this.#client.get(path`/agent/secrets/${name}`, withQuery(query, options));
	}
	/** Lists the team's secrets and your own, without their values. */
	list(options) {
		return this.#client.list("/agent/secrets", (page) => page.secrets, options);
	}
	/** Deletes a secret. Agents that are working keep it until they end. */
	delete(name, query = {}, options) {
		return this.#client.delete(path`/agent/secrets/${name}`, withQuery(query, options));
	}
};
// ../clients/typescript/src/resources/sign-ins.ts
/** Sign-ins of browsers to the pages. */
var SignIns = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists your sign-ins; administrators get those of the team. */
	list(options) {
		return this.#client.list("/agent/sign-ins", (page) => page.sign_ins, options);
	}
	/** Signs a browser out. */
	end(signInId, options) {
		return this.#client.delete(path`/agent/sign-ins/${signInId}`, options);
	}
	/** Signs a principal out everywhere. */
	endAll(principalUid, options) {
		return this.#client.delete(path`/agent/principals/${principalUid}/sign-ins`, options);
	}
};
// ../clients/typescript/src/resources/skills.ts
/** Skills: the instructions that the repositories of the team offer to agents. */
var Skills = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the skills of the team's repositories, or of the repository `repo`. */
	list(query = {}, options) {
		return this.#client.list("/agent", (page) => page.agents, withQuery(query, options));
	}
};
// ../clients/typescript/src/resources/teams.ts
/** Teams. What belongs to one is invisible to the others. */
var Teams = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a team. Only for operators. */
	create(body, options) {
		return this.#client.post("/agent/teams", {
			...options,
			body
		});
	}
	/** Gets a team. */
	retrieve(teamUid, options) {
		return this.#client.get(path`/agent/teams/${teamUid}`, options);
	}
	/** Lists your team; operators get all teams. */
	list(options) {
		return this.#client.list("/agent/teams", (page) => page.teams, options);
	}
	/** Changes the name of a team, or what its runs may share with guests. */
	update(teamUid, body, options) {
		return this.#client.patch(path`/agent/teams/${teamUid}`, {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/threads.ts
/** Threads: the Slack threads, issues and pull requests that runs are bound to. */
var Threads = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the threads of a run. */
	list(query, options) {
		return this.#client.list("/agent/threads", (page) => page.threads, withQuery(query, options));
	}
	/** Gets a thread. */
	retrieve(threadId, options) {
		return this.#client.get(path`/agent/threads/${threadId}`, options);
	}
	/** Changes how much a thread is told. */
	update(threadId, body, options) {
		return this.#client.patch(path`/agent/threads/${threadId}`, {
			...options,
			body
		});
	}
};
// ../clients/typescript/src/resources/usage.ts
/** Usage: runs, tokens, costs and times. */
var Usage = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/**
	* Gets the totals of the runs that you can see, by day or by another grouping.
	*
	* @example
	* const { usage } = await client.usage.retrieve({ group_by: ["creator"] });
	*/
	retrieve(query = {}, options) {
		return this.#client.get("/agent/usage", withQuery(query, options));
	}
};
// ../clients/typescript/src/resources/webhooks.ts
const DEFAULT_TOLERANCE_MS = 3e5;
const SECRET_PREFIX = "whsec_";
/** Webhooks: addresses that the server notifies of the runs of a team. */
var Webhooks = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Creates a webhook. Only this response and that of `rotateSecret` contain a secret. */
	create(body, options) {
		return this.#client.post("/agent/webhooks", {
			...options,
			body
		});
	}
	/** Gets a webhook. */
	retrieve(webhookId, options) {
		return this.#client.get(path`/agent/webhooks/${webhookId}`, options);
	}
	/** Lists the webhooks of the team. */
	list(options) {
		return this.#client.list("/agent/webhooks", (page) => page.webhooks, options);
	}
	/** Changes, enables or disables a webhook. */
	update(webhookId, body, options) {
		return this.#client.patch(path`/agent/webhooks/${webhookId}`, {
			...options,
			body
		});
	}
	/** Deletes a webhook and the history of its deliveries. */
	delete(webhookId, options) {
		return this.#client.delete(path`/agent/webhooks/${webhookId}`, options);
	}
	/** Creates a new secret. For a day, or for `overlap_seconds`, messages are signed with the old one too. */
	rotateSecret(webhookId, body = {}, options) {
		return this.#client.post(path`/agent/webhooks/${webhookId}/rotate-secret`, {
			...options,
			body
		});
	}
	/** Sends a message of the type `webhook.test`. */
	test(webhookId, options) {
		return this.#client.post(path`/agent/webhooks/${webhookId}/test`, options);
	}
	/** Lists the deliveries of a webhook, the newest first. */
	deliveries(webhookId, query = {}, options) {
		const entriesOf = (page) => page.deliveries;
		return this.#client.list(path`/agent/webhooks/${webhookId}/deliveries`, entriesOf, withQuery(query, options));
	}
	/** Gets a delivery with its message and all tries. */
	delivery(webhookId, deliveryId, options) {
		return this.#client.get(path`/agent/webhooks/${webhookId}/deliveries/${deliveryId}`, options);
	}
	/** Sends a delivery again, whatever its state. */
	replay(webhookId, deliveryId, options) {
		return this.#client.post(path`/agent/webhooks/${webhookId}/deliveries/${deliveryId}/replay`, options);
	}
	/** Sends all deliveries of a period again that were given up. */
	replayMany(webhookId, body, options) {
		return this.#client.post(path`/agent/webhooks/${webhookId}/deliveries/replay`, {
			...options,
			body
		});
	}
	/**
	* Verifies a received message and parses it. Throws `WebhookVerificationError` unless it was signed with the secret
	* within the last five minutes. No request is sent.
	*
	* @example
	* const { type, data } = await client.webhooks.unwrap({ body, headers, secret });
	*/
	async unwrap({ body, headers, secret, toleranceMs = DEFAULT_TOLERANCE_MS }) {
		const id = headerIn(headers, "webhook-id");
		const timestamp = headerIn(headers, "webhook-timestamp");
		const signatures = headerIn(headers, "webhook-signature").split(" ");
		if (!(Math.abs(this.#client.sender.clock.now() - Number(timestamp) * 1e3) <= toleranceMs)) throw new WebhookVerificationError("The time of the message differs too much from the clock.");
		const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
		const key = await keyFrom(secret);
		for (const signature of signatures) {
			const [version, encoded = ""] = signature.split(",", 2);
			if (version === "v1" && await crypto.subtle.verify("HMAC", key, bytesOf(encoded), signed)) return JSON.parse(body);
		}
		throw new WebhookVerificationError("No signature of the message was made with this secret.");
	}
};
function headerIn(headers, name) {
	const value = headers instanceof Headers ? headers.get(name) : recordValue(headers, name);
	if (value === null || value === void 0) throw new WebhookVerificationError(`The header ${name} is missing.`);
	return value;
}
function recordValue(headers, name) {
	const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
	return typeof value === "string" ? value : value?.[0];
}
async function keyFrom(secret) {
	const bytes = secret.startsWith(SECRET_PREFIX) ? bytesOf(secret.slice(6)) : void 0;
	if (bytes === void 0 || bytes.length === 0) throw new WebhookVerificationError(`The secret must begin with ${SECRET_PREFIX}.`);
	return crypto.subtle.importKey("raw", bytes, {
		name: "HMAC",
		hash: "SHA-256"
	}, false, ["verify"]);
}
/** Decodes base64. A text that is no base64 gives no bytes. */
function bytesOf(base64) {
	try {
		return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
	} catch {
		return /* @__PURE__ */ new Uint8Array();
	}
}
// ../clients/typescript/src/resources/workers.ts
/** Workers: the processes that do runs. */
var Workers = class {
	#client;
	constructor(client) {
		this.#client = client;
	}
	/** Lists the names of the workers that are connected. */
	list(options) {
		return this.#client.list("/agent/connected-self-hosted-workers", (page) => page.workers, options);
	}
	/** Gets the networks from which agents connect to other servers, as the operator states them. */
	egressRanges(options) {
		return this.#client.get("/networking/egress-ranges", options);
	}
};
// ../clients/typescript/src/errand.ts
/**
* The client of an Errand server.
*
* @example
* const client = new Errand({ baseUrl: "https://errand.example.com", apiKey: "…" });
* const { run_id } = await client.runs.create({ prompt: "Mend the build" });
*/
var Errand = class extends ApiClient {
	agents;
	artifacts;
	audit;
	catalogue;
	conversations;
	deviceCodes;
	doctor;
	environments;
	events;
	identityLinks;
	inbox;
	installations;
	keys;
	mcpServers;
	models;
	notices;
	policies;
	principals;
	quotas;
	routingRules;
	runs;
	schedules;
	secrets;
	signIns;
	skills;
	teams;
	threads;
	usage;
	webhooks;
	workers;
	constructor(options = {}) {
		super(options);
		this.agents = new Agents(this);
		this.artifacts = new Artifacts(this);
		this.audit = new Audit(this);
		this.catalogue = new Catalogue(this);
		this.conversations = new Conversations(this);
		this.deviceCodes = new DeviceCodes(this);
		this.doctor = new Doctor(this);
		this.environments = new Environments(this);
		this.events = new Events(this);
		this.identityLinks = new IdentityLinks(this);
		this.inbox = new Inbox(this);
		this.installations = new Installations(this);
		this.keys = new Keys(this);
		this.mcpServers = new McpServers(this);
		this.models = new Models(this);
		this.notices = new Notices(this);
		this.policies = new Policies(this);
		this.principals = new Principals(this);
		this.quotas = new Quotas(this);
		this.routingRules = new RoutingRules(this);
		this.runs = new Runs(this);
		this.schedules = new Schedules(this);
		this.secrets = new Secrets(this);
		this.signIns = new SignIns(this);
		this.skills = new Skills(this);
		this.teams = new Teams(this);
		this.threads = new Threads(this);
		this.usage = new Usage(this);
		this.webhooks = new Webhooks(this);
		this.workers = new Workers(this);
	}
	/** Gets the principal of the key, its team and what it may do. */
	whoami(options) {
		return this.get("/agent/whoami", options);
	}
};
// src/runner.ts
/** The value of an input, or undefined if the workflow gives none. */
function input(name) {
	const value = process.env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`]?.trim();
	return value === "" ? void 0 : value;
}
function requiredInput(name) {
	const value = input(name);
	if (value === void 0) throw new Error(`The input "${name}" is missing. Add it to the step, below "with:".`);
	return value;
}
/** Sets an output of the step. The mark around the value is random, so that no value can end it. */
async function setOutput(name, value) {
	const mark = randomUUID();
	await append("GITHUB_OUTPUT", `${name}<<${mark}\n${value}\n${mark}\n`);
}
const SUMMARY_LENGTH = 5e5;
/** Adds Markdown to the summary of the job. */
async function addSummary(markdown) {
	await append("GITHUB_STEP_SUMMARY", `${markdown.length > SUMMARY_LENGTH ? `${markdown.slice(0, SUMMARY_LENGTH)}…` : markdown}\n`);
}
async function append(variable, text) {
	const file = process.env[variable];
	if (file !== void 0 && file !== "") await appendFile(file, text);
}
/** The runner replaces the value in its log. */
function mask(secret) {
	process.stdout.write(`::add-mask::${escaped(secret)}\n`);
}
function fail(message) {
	process.exitCode = 1;
	process.stdout.write(`::error::${escaped(message)}\n`);
}
/** Writes text of the agent to the log. The runner would obey lines that begin with `::`. */
function writeUntrusted(text) {
	const mark = randomUUID();
	process.stdout.write(`::stop-commands::${mark}\n${text}\n::${mark}::\n`);
}
function escaped(text) {
	return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
/** The OpenID Connect token of the job. Undefined: the job may not request one. */
async function idToken(audience) {
	const { ACTIONS_ID_TOKEN_REQUEST_TOKEN: key, ACTIONS_ID_TOKEN_REQUEST_URL: address } = process.env;
	if (!key || !address) return;
	const url = new URL(address);
	url.searchParams.set("audience", audience);
	const response = await fetch(url, { headers: {
		authorization: `Bearer ${key}`,
		accept: "application/json"
	} });
	if (!response.ok) throw new Error(`The runner gave no token for this job: its answer has the status ${response.status}.`);
	const { value } = await response.json();
	if (typeof value !== "string") throw new Error("The runner gave no token for this job.");
	return value;
}
// src/main.ts
const UID = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^[1-9A-HJ-NP-Za-km-z]{20,24}$/i;
const ENDED = /* @__PURE__ */ new Set([
	"SUCCEEDED",
	"FAILED",
	"ERROR",
	"CANCELLED"
]);
const PULL_REQUESTS = [
	"off",
	"draft",
	"ready"
];
const MINUTE_MS = 6e4;
const server = () => requiredInput("server").replace(/\/+$/, "");
/** A client with the key of the step, or with a new key for the token of the job. */
async function connect() {
	const options = {
		baseUrl: server(),
		defaultHeaders: { "X-Run-Source": "GITHUB_ACTION" }
	};
	const given = input("api-key");
	if (given !== void 0) {
		mask(given);
		return new Errand({
			...options,
			apiKey: given
		});
	}
	const token = await idToken(input("audience") ?? server());
	if (token === void 0) throw new Error("Give the job the permission \"id-token: write\", or the step an input \"api-key\" from a secret.");
	const team = input("team");
	const { key } = await new Errand({
		...options,
		apiKey: null
	}).keys.exchange({
		token,
		...team === void 0 ? {} : { team_uid: team }
	});
	mask(key);
	return new Errand({
		...options,
		apiKey: key
	});
}
async function requestOf(client) {
	const repository = input("repository") ?? process.env.GITHUB_REPOSITORY;
	const [agent, environment, url] = [
		input("agent"),
		input("environment"),
		workflowUrl()
	];
	const config = withoutUndefined({
		repository: repository === "none" ? void 0 : repository,
		ref: input("ref"),
		pull_request: pullRequest(),
		environment_id: environment === void 0 ? void 0 : await environmentUid(client, environment),
		harness: agent === void 0 ? void 0 : { type: agent },
		model_id: input("model"),
		base_prompt: input("base-prompt"),
		name: input("name")
	});
	const metadata = url === void 0 ? void 0 : { workflow_run: url };
	return {
		...withoutUndefined({
			skill: input("skill"),
			metadata
		}),
		prompt: requiredInput("prompt"),
		config
	};
}
function pullRequest() {
	const given = input("pull-request");
	const known = PULL_REQUESTS.find((each) => each === given);
	if (given !== void 0 && known === void 0) throw new Error(`The input "pull-request" must be off, draft or ready, and is ${given}.`);
	return known;
}
async function environmentUid(client, name) {
	if (UID.test(name)) return name;
	const { environments } = await client.environments.list();
	const found = environments.find(({ config }) => config.name === name);
	if (found === void 0) throw new Error(`The server has no environment "${name}".`);
	return found.uid;
}
/** The page of this workflow's run. */
function workflowUrl() {
	const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id, GITHUB_SERVER_URL: url } = process.env;
	return url && repository && id ? `${url}/${repository}/actions/runs/${id}` : void 0;
}
/** Follows the run to its end. Its key ends within the hour, and then a new one is requested. */
async function follow(first, runId, signal) {
	for (let [client, after] = [first, 0];;) try {
		for await (const event of client.runs.events(runId, { after }, { signal })) {
			if (event.kind === "reset") continue;
			after = event.seq;
			if (event.kind === "run.state") process.stdout.write(`Run is ${event.to}.\n`);
			else if (event.kind === "agent.tool_call" && event.status === "pending") writeUntrusted(`› ${event.title}`);
		}
		return await client.runs.retrieve(runId);
	} catch (error) {
		if (!(error instanceof AuthenticationError) || input("api-key") !== void 0) throw error;
		client = await connect();
	}
}
async function report(run) {
	const { outcome, result, run_id, session_link = "", state, status_message } = run;
	const pull = outcome?.pull_request?.url ?? "";
	const answer = result?.text ?? "";
	await setOutput("run-id", run_id);
	await setOutput("session-link", session_link);
	await setOutput("state", state);
	await setOutput("answer", answer);
	await setOutput("pull-request", pull);
	const refused = (outcome?.refused ?? []).map(({ by, message }) => `⚠️ ${by}: ${message}`);
	const links = [`[The run](${session_link})`, ...pull === "" ? [] : [`[the pull request](${pull})`]];
	await addSummary([
		`### Errand: ${outcome?.summary ?? status_message?.message ?? state}`,
		links.join(" · "),
		...refused,
		answer
	].filter((line) => line !== "").join("\n\n"));
	if (answer !== "") writeUntrusted(answer);
	if (!ENDED.has(state)) return;
	if (state !== "SUCCEEDED" || refused.length > 0) fail([
		`The run is ${state}.`,
		status_message?.message,
		...refused
	].filter(Boolean).join(" "));
}
/** Cancels the run when the workflow is cancelled or the time is over. */
function stopSignal() {
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stop.abort(/* @__PURE__ */ new Error("The workflow was cancelled, and the run with it.")));
	const minutes = Number(input("timeout-minutes") ?? 0);
	if (minutes > 0) {
		const reason = /* @__PURE__ */ new Error(`The run did not end within ${minutes} minutes and was cancelled.`);
		setTimeout(() => stop.abort(reason), minutes * MINUTE_MS).unref();
	}
	return stop.signal;
}
async function main() {
	const client = await connect();
	const created = await client.runs.create(await requestOf(client));
	const { session_link = "" } = await client.runs.retrieve(created.run_id);
	process.stdout.write(`Run ${created.run_id}: ${session_link}\n`);
	for (const member of created.ignored ?? []) process.stdout.write(`::warning::${member} has no effect on this server.\n`);
	if (input("wait") === "false") {
		await report(await client.runs.retrieve(created.run_id));
		return;
	}
	const signal = stopSignal();
	try {
		await report(await follow(client, created.run_id, signal));
	} catch (error) {
		if (!signal.aborted) throw error;
		await (await connect()).runs.cancel(created.run_id);
		throw signal.reason;
	}
}
function withoutUndefined(members) {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== void 0));
}
function messageOf(error) {
	if (error instanceof APIError) {
		const { detail, remedy, title } = error.problem ?? {};
		return [detail ?? title ?? error.message, remedy].filter(Boolean).join(" ");
	}
	return error instanceof Error ? error.message : String(error);
}
await main().catch((error) => fail(messageOf(error)));
export {};
