import { createHmac } from "node:crypto";
import type { RequestShape, Signing } from "./load-order.ts";

const NUMBER = "{n}";
/** All numbers have the same length, so that the length of a body is constant. */
const DIGITS = 9;

/** Writes the requests of an order in turn. The constant parts are computed once. */
export class RequestWriter {
  readonly #writers: readonly ((number: string) => string)[];
  /** Keeps the numbers distinct from those of other processes of the benchmark. */
  readonly #prefix = `${process.pid}-${Date.now().toString(36)}-`;
  #count = 0;

  constructor(requests: readonly RequestShape[], host: string) {
    const numberLength = this.#prefix.length + DIGITS;
    this.#writers = requests.map((request) => writerOf(request, host, numberLength));
  }

  next(): string {
    const write = this.#writers[this.#count % this.#writers.length];
    this.#count += 1;
    return write?.(`${this.#prefix}${String(this.#count).padStart(DIGITS, "0")}`) ?? "";
  }
}

function writerOf(request: RequestShape, host: string, numberLength: number): (number: string) => string {
  const { body = "", signing } = request;
  const head = headOf(request, host, numberLength).split(NUMBER);
  const bodyParts = body.split(NUMBER);
  return (number) => {
    const written = bodyParts.length === 1 ? body : bodyParts.join(number);
    const signed = signing === undefined ? "" : signatureOf(signing, written);
    return `${head.length === 1 ? head[0] : head.join(number)}${signed}\r\n\r\n${written}`;
  };
}

function headOf(
  { method, path, headers, body = "" }: RequestShape,
  host: string,
  numberLength: number,
): string {
  // Requests are sent as latin1, so a character outside ASCII would not have the announced length.
  if (!/^[\x20-\x7e]*$/.test(body)) {
    throw new Error("A body of the benchmark has to be printable ASCII.");
  }
  const length = body.replaceAll(NUMBER, "#".repeat(numberLength)).length;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === "POST" ? ["content-type: application/json", `content-length: ${length}`] : []),
  ];
  return lines.join("\r\n");
}

/** The headers by which the platforms prove their requests. */
function signatureOf({ platform, secret }: Signing, body: string): string {
  const hmac = createHmac("sha256", secret);
  if (platform === "github") {
    return `\r\nx-hub-signature-256: sha256=${hmac.update(body).digest("hex")}`;
  }
  const timestamp = Math.floor(Date.now() / 1_000);
  const hash = hmac.update(`v0:${timestamp}:`).update(body).digest("hex");
  return `\r\nx-slack-request-timestamp: ${timestamp}\r\nx-slack-signature: v0=${hash}`;
}
