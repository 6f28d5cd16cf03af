import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import type { JsonRecord } from "../json.ts";
import { GITHUB_APP, type GithubFixture } from "./github-fixture.ts";
import { GITHUB_CLIENT } from "./github-oauth.ts";

const NEW_APP = /^(?:\/organizations\/([^/]+))?\/settings\/apps\/new$/;
const CONVERSION = /^\/app-manifests\/([^/]+)\/conversions$/;

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
const manifestSchema = z.strictObject({
  name: z.string().optional(),
  url: z.url(),
  hook_attributes: z.strictObject({ url: z.url(), active: z.boolean().optional() }).optional(),
  redirect_url: z.url().optional(),
  callback_urls: z.array(z.url()).max(10).optional(),
  setup_url: z.url().optional(),
  description: z.string().optional(),
  public: z.boolean().optional(),
  default_events: z.array(z.string()).optional(),
  default_permissions: z.record(z.string(), z.enum(["read", "write", "admin"])).optional(),
});

type Manifest = z.output<typeof manifestSchema>;

/** The page that creates an App from a manifest, and the call that gives its keys. */
export class GithubManifests {
  /** Members of the next answer that differ. */
  changes: JsonRecord = {};
  /** Who the last App was created for. Undefined: the own account. */
  organization: string | undefined;
  readonly #world: GithubFixture;
  readonly #codes = new Map<string, Manifest>();

  constructor(fixture: GithubFixture) {
    this.#world = fixture;
  }

  /** Undefined: the request is for another route. */
  answer({ body, method, path, search }: FrontRequest): FrontAnswer | undefined {
    const page = method === "POST" ? NEW_APP.exec(path) : null;
    if (page !== null) {
      this.organization = page[1];
      return this.#create(new URLSearchParams(body.toString()), new URLSearchParams(search));
    }
    const code = method === "POST" ? CONVERSION.exec(path)?.[1] : undefined;
    return code === undefined ? undefined : this.#convert(code);
  }

  #create(form: URLSearchParams, search: URLSearchParams): FrontAnswer {
    const manifest = manifestSchema.parse(JSON.parse(form.get("manifest") ?? ""));
    const code = randomUUID().replaceAll("-", "");
    this.#codes.set(code, manifest);
    const back = new URL(manifest.redirect_url ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", search.get("state") ?? "");
    return { status: 302, headers: { location: back.href }, body: "" };
  }

  /** A code is good once. */
  #convert(code: string): FrontAnswer {
    const manifest = this.#codes.get(code);
    this.#codes.delete(code);
    if (!/^[\w-]+$/.test(code)) {
      return jsonAnswer(422, { message: "Validation Failed" });
    }
    if (manifest === undefined) {
      return jsonAnswer(404, { message: "Not Found", documentation_url: "https://docs.github.com/rest" });
    }
    const { id, slug } = GITHUB_APP;
    const { privateKey, webhookSecret } = this.#world;
    return jsonAnswer(201, {
      ...{ id, slug, name: "Errand", pem: privateKey, webhook_secret: webhookSecret },
      ...{ client_id: GITHUB_CLIENT.clientId, client_secret: GITHUB_CLIENT.clientSecret },
      html_url: `${this.#world.baseUrl}/apps/${slug}`,
      permissions: manifest.default_permissions,
      events: manifest.default_events,
      ...this.changes,
    });
  }
}
