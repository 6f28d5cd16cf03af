import { z } from "zod";
import { textOfCharacters } from "./text.ts";

const CLIENT_NAME_LENGTH = 60;

export const DeviceCodeRequest = z
  .object({
    client_name: textOfCharacters(CLIENT_NAME_LENGTH)
      .min(1)
      .optional()
      .describe("What the program calls itself. The person sees it, and it becomes the name of the key."),
  })
  .meta({
    id: "DeviceCodeRequest",
    description: "A program that wants a key of the person in front of it.",
    examples: [{ client_name: "errand on build-7" }],
  });
export type DeviceCodeRequest = z.output<typeof DeviceCodeRequest>;

export const DeviceCodeResponse = z
  .object({
    device_code: z.string().describe("The secret with which the program asks for the key."),
    user_code: z.string().describe("What the person enters at `verification_uri`."),
    verification_uri: z.string().describe("The page that the person opens."),
    expires_in: z.int().describe("The seconds until both codes expire."),
    interval: z.int().describe("The seconds to wait between two requests for the key."),
  })
  .meta({
    id: "DeviceCodeResponse",
    description: "The codes of one program.",
    examples: [
      {
        device_code: "SGVsbG8gZnJvbSBhIGRldmljZSBjb2RlIGV4YW1wbGU",
        user_code: "BDWP-HQPK",
        verification_uri: "https://errand.example.com/device",
        expires_in: 600,
        interval: 5,
      },
    ],
  });

export const DeviceTokenRequest = z
  .object({ device_code: z.string().min(1).max(200).describe("The secret of the program.") })
  .meta({
    id: "DeviceTokenRequest",
    description: "Asks for the key of a device code.",
    examples: [{ device_code: "SGVsbG8gZnJvbSBhIGRldmljZSBjb2RlIGV4YW1wbGU" }],
  });
