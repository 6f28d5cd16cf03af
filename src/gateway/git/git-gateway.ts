import { defined } from "../../core/basics/defined.ts";
import { hostWords } from "../../core/model/repositories/host-words.ts";
import { presentAddressOf, type RepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { RepositoryGrant } from "../../core/ports/gateway.ts";
import { bodyOf, type Call, type CallHandler, hasBody } from "../call.ts";
import { forwardResponse } from "../forward-response.ts";
import { contentTypeOf, only, RESPONSE_CREDENTIALS } from "../headers.ts";
import { Refusal, sendWhole } from "../refusal.ts";
import type { Traffic } from "../traffic.ts";
import type { UpstreamResponse } from "../upstream.ts";
import { LfsGateway } from "./lfs-gateway.ts";
import { type PushRequest, readPush } from "./push-commands.ts";
import { PushReport, refusingReport } from "./push-report.ts";
import {
  drop,
  type GitGateway,
  type GitGatewayOptions,
  grantedIn,
  keyFor,
  nameOf,
  requireGrant,
} from "./repository-access.ts";

type Service = "git-upload-pack" | "git-receive-pack";

interface GitCall extends Call {
  readonly service: Service;
  readonly isAdvertisement: boolean;
  readonly repository: RepositoryName;
  /** Undefined: it is read anonymously. */
  readonly granted: RepositoryGrant | undefined;
}

const PATH =
  /^\/(?<owner>[\w.-]+)\/(?<name>[\w.-]+?)(?:\.git)?\/(?<rest>info\/refs|git-upload-pack|git-receive-pack)$/;
const LFS = /\/info\/lfs(\/|$)/;
const SERVICE = /^\?service=(?<service>git-upload-pack|git-receive-pack)$/;
const BRANCH = "refs/heads/";
const REQUEST_HEADERS = [
  ...["accept", "accept-encoding", "content-encoding", "content-length", "content-type"],
  ...["git-protocol", "user-agent"],
];

/** `/git/<owner>/<name>.git/…`: forwards clone, fetch and push, with a token that stays outside of the sandbox. */
export function createGitGateway(gatewayOptions: GitGatewayOptions): CallHandler {
  const options: GitGateway = { ...gatewayOptions, presentAddresses: new Map() };
  const lfs = new LfsGateway(options);
  return async (call) => {
    if (options.gitUrl.startsWith("file:")) {
      throw new Refusal(
        501,
        "The repositories of this server are local files (ERRAND_GIT_URL), which the gateway does not serve.",
      );
    }
    if (LFS.test(call.path)) {
      return lfs.serve(call);
    }
    const gitCall = gitCallOf(options, call);
    if (gitCall.service === "git-receive-pack" && !gitCall.isAdvertisement) {
      return push(options, gitCall);
    }
    const body = hasBody(call.request) ? bodyOf(call.request, options.limits.packBytes) : undefined;
    const upstreamResponse = await callHost(options, gitCall, body);
    await forwardResponse(upstreamResponse, call.response, { drop: RESPONSE_CREDENTIALS });
  };
}

function gitCallOf({ grant }: GitGatewayOptions, call: Call): GitCall {
  const { name = "", owner = "", rest = "" } = PATH.exec(call.path)?.groups ?? {};
  const isAdvertisement = rest === "info/refs";
  const { service = "" } = isAdvertisement ? (SERVICE.exec(call.query)?.groups ?? {}) : { service: rest };
  const isMethod = call.request.method === (isAdvertisement ? "GET" : "POST");
  if (!isService(service) || !isMethod) {
    throw new Refusal(404, "Only clone, fetch and push pass the gateway.");
  }
  const granted = grantedIn(grant, { owner, name });
  requireGrant({ owner, name, granted, isPush: service === "git-receive-pack", network: grant.network });
  return { ...call, service, isAdvertisement, granted, repository: granted ?? { owner, name } };
}

async function callHost(
  options: GitGateway,
  call: GitCall,
  body: AsyncIterable<Buffer> | undefined,
): Promise<UpstreamResponse> {
  const { gitUrl, presentAddresses } = options;
  const { granted, isAdvertisement, repository } = call;
  const usual = `${gitUrl}/${repository.owner}/${repository.name}.git`;
  const response = await callAt(presentAddresses.get(usual) ?? usual, options, call, body);
  const { location } = response.headers;
  const present =
    granted !== undefined && isAdvertisement && typeof location === "string"
      ? presentAddressOf(usual, { status: response.status, location })
      : undefined;
  if (present === undefined) {
    await requireGitResponse(options, call, response);
    return response;
  }
  drop(response);
  presentAddresses.set(usual, present);
  const again = await callAt(present, options, call, body);
  await requireGitResponse(options, call, again);
  return again;
}

async function callAt(
  base: string,
  options: GitGateway,
  call: GitCall,
  body: AsyncIterable<Buffer> | undefined,
): Promise<UpstreamResponse> {
  const { egress, upstream } = options;
  const { granted, isAdvertisement, service } = call;
  const access = service === "git-receive-pack" ? "write" : "read";
  const key = granted && (await keyFor(options, { granted, url: base, access }));
  return (granted === undefined ? egress : upstream).send(
    defined({
      url: new URL(isAdvertisement ? `${base}/info/refs?service=${service}` : `${base}/${service}`),
      method: call.request.method ?? "GET",
      headers: {
        ...only(call.request.headers, REQUEST_HEADERS),
        ...defined({ authorization: key }),
      },
      signal: call.signal,
      body,
    }),
  );
}

async function requireGitResponse(
  { traffic }: GitGatewayOptions,
  { isAdvertisement, repository, service }: GitCall,
  upstreamResponse: UpstreamResponse,
): Promise<void> {
  const kind = isAdvertisement ? "advertisement" : "result";
  const isGit = contentTypeOf(upstreamResponse.headers) === `application/x-${service}-${kind}`;
  if (upstreamResponse.status === 200 && isGit) {
    return;
  }
  const said = await wordsIn(upstreamResponse);
  const reason = reasonOf(`${repository.owner}/${repository.name}`, upstreamResponse.status);
  if (service === "git-receive-pack") {
    traffic.noteRefusedPush({ ...nameOf(repository), message: said === "" ? reason : said });
  }
  throw new Refusal(upstreamResponse.status >= 500 ? 502 : 403, said === "" ? reason : `${reason}\n${said}`);
}

const WORDS_BYTES_MAX = 4_096;

/** What the host says about a refused request. Pages for browsers say nothing. */
async function wordsIn(upstreamResponse: UpstreamResponse): Promise<string> {
  const { body, headers } = upstreamResponse;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (contentTypeOf(headers) === "text/plain") {
      for await (const chunk of body) {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= WORDS_BYTES_MAX) {
          break;
        }
      }
    }
  } catch {
    // The status alone has to do.
  }
  drop(upstreamResponse);
  return hostWords(Buffer.concat(chunks).subarray(0, WORDS_BYTES_MAX).toString("utf8"));
}

/** Not 401, because git would then ask for a name and a password. */
function reasonOf(name: string, status: number): string {
  if (status === 200) {
    return `The server of ${name} does not speak git's smart protocol.`;
  }
  if (status < 400) {
    return `${name} is at another address now. Call it by the name that it has there.`;
  }
  if (status === 401 || status === 404) {
    return `${name} does not exist, or Errand may not read or change it.`;
  }
  if (status === 403) {
    return `The git server does not allow Errand to do this in ${name}.`;
  }
  return `The git server failed for ${name} (HTTP ${status}).`;
}

const BRANCHES_ONLY = "only branches can be pushed from here, and not be deleted";

async function push(options: GitGateway, call: GitCall): Promise<void> {
  const { request, response } = call;
  // A compressed push could not be checked.
  if (request.headers["content-encoding"] !== undefined) {
    throw new Refusal(415, "Send the push unpacked.");
  }
  const wanted = await readPush(bodyOf(request, options.limits.packBytes));
  const { branchPrefixes = [""] } = call.granted ?? {};
  if (!wanted.commands.every(({ commit, ref }) => commit !== undefined && ref.startsWith(BRANCH))) {
    return refusePush(call, wanted, BRANCHES_ONLY);
  }
  if (!wanted.commands.every(({ ref }) => branchPrefixes.some((prefix) => ref.startsWith(BRANCH + prefix)))) {
    const [prefix] = branchPrefixes;
    return refusePush(call, wanted, `this run may push only to branches that begin with ${prefix}`);
  }
  const refusal = await options.grant.refusalOfPush?.(call.repository);
  if (refusal !== undefined) {
    return refusePush(call, wanted, refusal);
  }
  const upstreamResponse = await callHost(options, call, wanted.body);
  const report = new PushReport(wanted.capabilities, {
    accepted: (ref) => note(options.traffic, call, wanted, ref),
    refused: (message) => options.traffic.noteRefusedPush({ ...nameOf(call.repository), message }),
  });
  await forwardResponse(upstreamResponse, response, { drop: RESPONSE_CREDENTIALS, through: [report] });
}

async function refusePush(
  { response, service }: GitCall,
  wanted: PushRequest,
  reason: string,
): Promise<void> {
  // Git reads the response only after it has sent everything.
  for await (const _ of wanted.body) {
  }
  const headers = { "content-type": `application/x-${service}-result`, "cache-control": "no-cache" };
  sendWhole(response, 200, headers, refusingReport(wanted, reason));
}

function note(traffic: Traffic, { repository }: GitCall, { commands }: PushRequest, ref: string): void {
  const commit = commands.find((command) => command.ref === ref)?.commit;
  if (commit === undefined) {
    return;
  }
  traffic.notePush({ ...nameOf(repository), branch: ref.slice(BRANCH.length), commit });
}

function isService(name: string): name is Service {
  return name === "git-upload-pack" || name === "git-receive-pack";
}
