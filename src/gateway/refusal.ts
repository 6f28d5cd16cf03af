import type { ServerResponse } from "node:http";

/** Why something does not pass, in words for whoever reads them in the sandbox: a person's agent. */
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

/** Git shows its user what is told as plain text. */
export function answerRefusal(response: ServerResponse, { headers, message, status }: Refusal): void {
  sendWhole(response, status, { "content-type": "text/plain; charset=utf-8", ...headers }, `${message}\n`);
}

/** Nothing more can be said once the answer has begun, so it is broken off. */
export function sendWhole(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}
