import { expect, test } from "vitest";
import { presentAddressOf } from "../../../../../src/core/model/repositories/repository-name.ts";

const URL_OF = "https://git.example/hosted/acme/widgets.git";
const QUERY = "info/refs?service=git-receive-pack";

test.each([
  [
    301,
    `https://git.example/hosted/acme/gadgets.git/${QUERY}`,
    "https://git.example/hosted/acme/gadgets.git",
  ],
  [308, `/hosted/other/gadgets.git/${QUERY}`, "https://git.example/hosted/other/gadgets.git"],
])("a redirect with %i to %s leads to the present address of a repository", (status, location, address) => {
  expect(presentAddressOf(URL_OF, { status, location })).toBe(address);
});

test.each([
  [200, `https://git.example/hosted/acme/gadgets.git/${QUERY}`],
  [301, undefined],
  [301, ""],
  [301, "https://["],
  [301, `https://evil.example/hosted/acme/gadgets.git/${QUERY}`],
  [301, `https://git.example@evil.example/hosted/acme/gadgets.git/${QUERY}`],
  [301, `http://git.example/hosted/acme/gadgets.git/${QUERY}`],
  [301, `https://git.example:444/hosted/acme/gadgets.git/${QUERY}`],
  [301, `https://git.example/hostedbyothers/acme/gadgets.git/${QUERY}`],
  [301, `https://git.example/hosted/../acme/gadgets.git/${QUERY}`],
  [301, `https://git.example/hosted/%2e%2e/acme/gadgets.git/${QUERY}`],
  [301, `https://git.example/hosted/acme/more/gadgets.git/${QUERY}`],
  [301, `https://git.example/hosted/acme/-gadgets.git.git/git-upload-pack`],
  [301, "https://git.example/hosted/login?then=/acme/gadgets.git/info/refs"],
])("an answer with %i and the location %s leads nowhere", (status, location) => {
  expect(presentAddressOf(URL_OF, { status, location })).toBeUndefined();
});
