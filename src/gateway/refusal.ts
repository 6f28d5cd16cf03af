import type { ServerResponse } from "node:http";

/** Why a request is refused, in words for the agent in the sandbox. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Git shows plain text to its user. */
export function sendRefusal(response: ServerResponse, { headers, message, status }: Refusal): void {
  sendWhole(response, status, { "content-type": "text/plain; charset=utf-8", ...headers }, `${message}\n`);
}

/** Once the response has begun, only closing the connection remains. */
export function sendWhole(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): void {
  if (response.headersSent) {
    response.destroy();
  } else {
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
  }
}
