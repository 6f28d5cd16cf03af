import type { Problem } from "../http/errors.ts";
import { fill, readPage } from "./page-files.ts";

/** Read at once, because an error can come before anything else. */
const PAGE = await readPage("message");

/** The page for a person whose browser met an error. It works without scripts. */
export function errorPage({ detail, remedy, status, title }: Problem): string {
  return fill(PAGE, {
    title: status === 404 ? "There is nothing at this address" : status === 429 ? "Too many requests" : title,
    text:
      status === 404
        ? "It does not exist, or it is not yours to see."
        : [detail, remedy].filter(Boolean).join(" "),
    link: "/",
    linkText: "Recent runs",
  });
}
