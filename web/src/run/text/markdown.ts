import { withHiddenShown } from "@errand/client";
import createDomPurify, { type DOMPurify } from "dompurify";
import markdownIt, { type MarkdownItOptions, type Renderer, type StateCore, type Token } from "markdown-it";

/** HTML in a text stays text. Links are those that a person can see through: http, https and mail. */
const markdown = markdownIt({ html: false, linkify: true, breaks: true, typographer: false });
markdown.validateLink = (url) => /^(?:https?:|mailto:|#|\/(?!\/))/i.test(url.trim());
markdown.core.ruler.push("tasks", showTasks);
markdown.renderer.rules.table_open = () => '<div class="table-scroll"><table>';
markdown.renderer.rules.table_close = () => "</table></div>";
for (const name of ["th_open", "td_open"]) {
  markdown.renderer.rules[name] = renderCell;
}
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
    ...["div", "input", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ],
  ALLOWED_ATTR: [
    "href",
    "class",
    "start",
    "rel",
    "target",
    "tabindex",
    "role",
    "aria-label",
    "type",
    "checked",
    "disabled",
  ],
};

const ALIGNMENT = /text-align:(left|center|right)/;
const TASK = /^\[([ xX])\]\s+/;
/** The language of a block of code, and what the functions of this file set. */
const CLASSES = /^(?:language-[\w+#-]+|table-scroll|task|align-(?:left|center|right))$/;

/** The content policy of the pages refuses styles in HTML, so the alignment of a column becomes a class. */
function renderCell(
  tokens: Token[],
  index: number,
  options: Required<MarkdownItOptions>,
  _env: unknown,
  renderer: Renderer,
): string {
  const token = tokens[index];
  const [, side] = ALIGNMENT.exec(String(token?.attrGet("style"))) ?? [];
  if (token !== undefined && side !== undefined) {
    token.attrs = [["class", `align-${side}`]];
  }
  return renderer.renderToken(tokens, index, options);
}

/** Items of a list that begin with `[ ]` or `[x]` get a check box. */
function showTasks({ Token, tokens }: StateCore): void {
  for (const [index, { type, children }] of tokens.entries()) {
    const [item, paragraph, text] = [tokens[index - 2], tokens[index - 1], children?.[0]];
    const [mark, done] = TASK.exec(text?.type === "text" ? text.content : "") ?? [];
    if (
      type !== "inline" ||
      item?.type !== "list_item_open" ||
      paragraph?.type !== "paragraph_open" ||
      !text ||
      !mark
    ) {
      continue;
    }
    text.content = text.content.slice(mark.length);
    const box = new Token("task", "input", 0);
    const isDone = done !== " ";
    box.attrs = [
      ["type", "checkbox"],
      ["disabled", ""],
      ["aria-label", isDone ? "Done" : "Not done"],
    ];
    if (isDone) {
      box.attrPush(["checked", ""]);
    }
    children?.unshift(box);
    item.attrJoin("class", "task");
  }
}

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
    if (node.tagName === "PRE" || node.tagName === "DIV") {
      // What scrolls sideways must be reachable with the keyboard.
      node.setAttribute("tabindex", "0");
    }
    if (node.hasAttribute("class") && !CLASSES.test(node.getAttribute("class") ?? "")) {
      node.removeAttribute("class");
    }
  });
  return created;
}
