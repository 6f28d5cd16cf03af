import { type FrontRequest, type FrontServer, startFrontServer } from "./front-server.ts";

export interface RecordingEndpoint extends FrontServer {
  readonly requests: readonly { readonly headers: Headers; readonly body: string }[];
}

/** Accepts every request with 200 and records it, as the receiver of webhooks. */
export async function startRecordingEndpoint(): Promise<RecordingEndpoint> {
  const requests: { headers: Headers; body: string }[] = [];
  const front = await startFrontServer(async ({ headers, body }: FrontRequest) => {
    requests.push({ headers, body: body.toString() });
    return { status: 200, headers: {}, body: "" };
  });
  return { ...front, requests };
}
