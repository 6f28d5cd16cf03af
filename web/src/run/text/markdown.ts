import { withHiddenShown } from "@errand/client";
import createDomPurify, { type DOMPurify } from "dompurify";
import markdownIt from "markdown-it";

/** HTML in a text stays text. Links are those that a person can see through: http, https and mail. */
const markdown = markdownIt({ html: false, linkify: true, breaks: true, typographer: false });
markdown.validateLink = (url) => /^(?:https?:|mailto:|#|\/(?!\/))/i.test(url.trim());
// A picture would be fetched from another server, which then knows who reads this.
markdown.disable("image");

const ALLOWED = {
  ALLOWED_TAGS: [
    ...[
      "a",
      "blockquote",
      "br",
      "code",
      "del",
      "em",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "hr",
      "li",
      "ol",
      "p",
    ],
    ...["pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ],
  ALLOWED_ATTR: ["href", "class", "start", "rel", "target", "tabindex", "role", "aria-label"],
};

let purifier: DOMPurify | undefined;

/** Returns the HTML of a text of an agent or a person. */
export function htmlOf(text: string): string {
  purifier ??= createPurifier();
  return purifier.sanitize(markdown.render(withHiddenShown(text)), ALLOWED);
}

function createPurifier(): DOMPurify {
  const created = createDomPurify(window);
  created.addHook("afterSanitizeAttributes", (node) => {
    if (node.tagName === "A") {
      node.setAttribute("rel", "noopener noreferrer nofollow");
      node.setAttribute("target", "_blank");
    }
    if (node.tagName === "PRE" || node.tagName === "TABLE") {
      // What scrolls sideways must be reachable with the keyboard.
      node.setAttribute("tabindex", "0");
    }
    if (node.hasAttribute("class") && !/^language-[\w+#-]+$/.test(node.getAttribute("class") ?? "")) {
      node.removeAttribute("class");
    }
  });
  return created;
}
