export interface S3Address {
  readonly bucket: string;
  /** Without slashes around it. May be empty. */
  readonly prefix: string;
  /** Undefined: Amazon's own for the region. */
  readonly endpoint: string | undefined;
  /** Undefined: the usual variables and files of AWS say it. */
  readonly region: string | undefined;
}

const FORM = "must be an address such as s3://bucket/prefix?region=eu-central-1";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PARAMETERS: readonly string[] = ["endpoint", "region"];

/** `s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1`. Throws for any other text. */
export function parseS3Address(text: string): S3Address {
  const url = URL.parse(text);
  if (url?.protocol !== "s3:" || !BUCKET.test(url.host)) {
    throw new Error(FORM);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("must not contain a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw new Error(`must have no parameters but ${PARAMETERS.join(" and ")}`);
  }
  const endpoint = url.searchParams.get("endpoint") ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw new Error("must have an endpoint such as https://s3.example.com");
  }
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, "");
  return { bucket: url.host, prefix, endpoint, region: url.searchParams.get("region") ?? undefined };
}
