import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AppError, type DeviceCodeReason } from "../../core/basics/errors.ts";
import type { AuditContext } from "../../core/model/people/audit.ts";
import type { DeviceCode } from "../../core/model/people/device-code.ts";
import { DEVICE_CODE_MS } from "../../core/team/keys/device-code-service.ts";
import type { IssuedKey } from "../../core/team/keys/key-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { deviceCodesOn, newUserCode } from "../auth/device-codes.ts";
import { StatusError } from "../http/errors.ts";
import { callerNetwork } from "../http/rate-limit.ts";
import { IssuedKeyItem, issuedKeyItem } from "../schemas/api-key.ts";
import { DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest } from "../schemas/device-code.ts";
import { problems } from "../schemas/problem.ts";

type DeviceDeps = Pick<ApiDeps, "clock" | "hashKey" | "publicUrl" | "storage">;

const config = { public: true } as const;
const tags = ["people"];

const CREATE = {
  operationId: "createDeviceCode",
  summary: "Start to sign in a program without a browser",
  description:
    "Requires no key. The program shows `user_code` and `verification_uri`, and the person allows it there. Until then " +
    "the program asks for the key every `interval` seconds.",
  tags,
  body: DeviceCodeRequest.default({}),
  response: { 200: DeviceCodeResponse, ...problems(400, 429, 503) },
};
const TOKEN = {
  operationId: "createDeviceToken",
  summary: "Get the key of a device code",
  description:
    "Requires no key. Returns a key that is valid for 90 days, once. Otherwise answers 400 with a `reason`: " +
    "`authorization_pending` (ask again after the interval), `slow_down` (the interval is 5 seconds longer from now " +
    "on), `expired_token` (the code is expired, used or unknown) or `access_denied`.",
  tags,
  body: DeviceTokenRequest,
  response: { 200: IssuedKeyItem, ...problems(400, 429, 503) },
};

export function deviceCodeRoutes(deps: DeviceDeps): FastifyPluginAsyncZod {
  const { hashKey, publicUrl, storage } = deps;
  return async (app) => {
    app.post("/agent/device-codes", { schema: CREATE, config }, async (request) => {
      const [deviceCode, userCode] = [newToken(), newUserCode()];
      const code = await storage.atomically((stores) =>
        deviceCodesOn(deps, stores).create({
          clientName: request.body.client_name ?? "A program",
          address: callerNetwork(request.ip),
          deviceCodeHash: hashKey(deviceCode),
          userCodeHash: hashKey(userCode),
        }),
      );
      if (code === undefined) {
        throw new StatusError(
          429,
          "resource_unavailable",
          "Too many programs of your network wait for a key.",
          {
            retryAfterMs: DEVICE_CODE_MS,
            remedy: "Allow or end the sign-ins that wait, or try again when they have expired.",
          },
        );
      }
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: `${publicUrl()}/device`,
        expires_in: DEVICE_CODE_MS / 1_000,
        interval: code.interval,
      };
    });
    app.post("/agent/device-codes/token", { schema: TOKEN, config }, async (request) => {
      const hash = hashKey(request.body.device_code);
      const code = await storage.deviceCodes.lock({ deviceCodeHash: hash });
      const result = await storage.atomically(
        (stores) => deviceCodesOn(deps, stores).exchange(hash),
        code && authorOf(request, code),
      );
      return "refused" in result ? refuse(result.refused) : issuedKeyItem(result satisfies IssuedKey);
    });
  };
}

/** The audit entries of the new key name the person who allowed it. */
function authorOf(
  { id: requestId, ip: address }: FastifyRequest,
  { principalId, teamId }: DeviceCode,
): AuditContext | undefined {
  return principalId === undefined || teamId === undefined
    ? undefined
    : { actor: { uid: principalId, type: "user", address }, teamId, requestId };
}

const REFUSALS: Readonly<Record<DeviceCodeReason, { readonly message: string; readonly remedy: string }>> = {
  authorization_pending: {
    message: "Nobody has allowed this program yet.",
    remedy: "Ask again after the interval.",
  },
  slow_down: {
    message: "The program asks too often.",
    remedy: "Wait 5 seconds longer between two requests.",
  },
  expired_token: {
    message: "This device code is expired, used or unknown.",
    remedy: "Request a new device code.",
  },
  access_denied: {
    message: "This program was not allowed to get a key.",
    remedy: "Request a new device code.",
  },
};

function refuse(reason: DeviceCodeReason): never {
  const { message, remedy } = REFUSALS[reason];
  throw new AppError("invalid_request", message, { remedy, deviceCodeReason: reason });
}
