import type { RequestShape } from "./load-order.ts";

const NUMBER = "{n}";

/** Writes the requests of an order in turn. The constant parts are computed once. */
export class RequestWriter {
  readonly #deps: readonly (readonly string[])[];
  /** Keeps the numbers distinct from those of other processes of the benchmark. */
  readonly #prefix = `${process.pid}-${Date.now().toString(36)}-`;
  #count = 0;

  constructor(requests: readonly RequestShape[], host: string) {
    this.#deps = requests.map((request) => textOf(request, host).split(NUMBER));
  }

  next(): string {
    const deps = this.#deps[this.#count % this.#deps.length] ?? [];
    this.#count += 1;
    return deps.length === 1 ? (deps[0] ?? "") : deps.join(`${this.#prefix}${this.#count}`);
  }
}

function textOf({ method, path, headers, body = "" }: RequestShape, host: string): string {
  // Requests are sent as latin1, so a character outside ASCII would not have the announced length.
  if (!/^[\x20-\x7e]*$/.test(body)) {
    throw new Error("A body of the benchmark has to be printable ASCII.");
  }
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === "POST" ? ["content-type: application/json", `content-length: ${body.length}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
